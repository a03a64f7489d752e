-- name: fail_stuck_items
-- As written.
UPDATE queue_items
SET status = 'FAILED',
    error = 'Processing timeout - worker may have crashed'
WHERE status = 'PROCESSING'
  AND updated_at < NOW() - INTERVAL '5 minutes';

-- name: fail_stuck_tasks
-- As written.
UPDATE tasks
SET status = 'FAILED',
    error = 'Execution timeout - worker may have crashed'
WHERE status = 'EXECUTING'
  AND started_at < NOW() - INTERVAL '2 minutes';

-- name: return_stuck_items
-- Back to the queue: whether the work was done is for the next one to find out. What somebody else has
-- in hand is not waited for. A date from the future is a clock that was wrong, and would keep its item
-- for as long.
UPDATE queue_items
SET status = 'PENDING',
    error = 'Processing timeout - worker may have crashed'
WHERE id IN (
    SELECT id FROM queue_items
    WHERE status = 'PROCESSING'
      AND (updated_at < NOW() - INTERVAL '5 minutes' OR updated_at > NOW() + INTERVAL '5 minutes')
    ORDER BY id
    FOR UPDATE SKIP LOCKED
)
RETURNING id, attempt;

-- name: return_stuck_tasks
UPDATE tasks
SET status = 'READY',
    error = 'Execution timeout - worker may have crashed'
WHERE id IN (
    SELECT id FROM tasks
    WHERE status = 'EXECUTING'
      AND (updated_at < NOW() - INTERVAL '2 minutes' OR updated_at > NOW() + INTERVAL '2 minutes')
    ORDER BY id
    FOR UPDATE SKIP LOCKED
)
RETURNING id, attempt;
