-- name: lock_parent
-- Whoever waits here sees afterwards, with the snapshot of its next statement, what the one before has
-- done.
SELECT id FROM parent_records WHERE id = $1 FOR NO KEY UPDATE;

-- name: read_metrics
-- As written.
SELECT
    COUNT(*) as total,
    COUNT(*) FILTER (WHERE status = 'COMPLETED') as completed,
    COUNT(*) FILTER (WHERE status = 'FAILED') as failed
FROM child_records
WHERE parent_id = $1;

-- name: write_metrics
-- As written.
UPDATE parent_records
SET
    total_children = $1,
    completed_count = $2,
    failed_count = $3
WHERE id = $4;

-- name: recalculate_metrics
-- The same in one statement. Without the parent's lock it counts with a snapshot that may be older than
-- what it overwrites.
UPDATE parent_records
SET (total_children, completed_count, failed_count) = (
    SELECT COUNT(*),
        COUNT(*) FILTER (WHERE status = 'COMPLETED'),
        COUNT(*) FILTER (WHERE status = 'FAILED')
    FROM child_records
    WHERE parent_id = $1)
WHERE id = $1;

-- name: count_completed
-- What the document warns of.
UPDATE parent_records
SET completed_count = completed_count + 1
WHERE id = $1;

-- name: count_failed
UPDATE parent_records
SET failed_count = failed_count + 1
WHERE id = $1;

-- name: list_parents
SELECT id FROM parent_records ORDER BY id;
