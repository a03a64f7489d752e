-- name: release_stale_locks
-- The document's cleanup, of those who have not begun to publish. $1 is the application's "one hour
-- ago" where the document has it, else null.
UPDATE deviations
SET execution_lock_id = NULL, execution_locked_at = NULL
WHERE execution_lock_id IS NOT NULL
  AND execution_locked_at < coalesce($1::timestamptz, now() - interval '1 hour')
  AND status = 'scheduled';

-- name: release_all_stale_locks
-- The document's cleanup, of everybody. With it a deviation whose lock is gone is to be published
-- again: in the document it is 'scheduled' all the while.
UPDATE deviations
SET execution_lock_id = NULL, execution_locked_at = NULL,
    status = CASE status WHEN 'publishing' THEN 'scheduled' ELSE status END
WHERE execution_lock_id IS NOT NULL
  AND execution_locked_at < coalesce($1::timestamptz, now() - interval '1 hour');

-- name: list_stale_publishes
SELECT id, execution_lock_id, execution_version, status
FROM deviations
WHERE status IN ('publishing', 'unresolved')
  AND execution_locked_at < coalesce($1::timestamptz, now() - interval '1 hour')
ORDER BY id
LIMIT 128;

-- name: schedule_again
-- For those who take what the gallery does not show for what will not happen.
UPDATE deviations
SET execution_lock_id = NULL, execution_locked_at = NULL, status = 'scheduled'
WHERE id = $1 AND execution_lock_id = $2 AND execution_version = $3
RETURNING id;

-- name: list_settled
SELECT id, execution_version
FROM deviations
WHERE status IN ('published', 'failed')
ORDER BY id;
