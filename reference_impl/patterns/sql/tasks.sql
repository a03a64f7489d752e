-- name: find_tasks
-- As written.
SELECT * FROM tasks
WHERE status = 'READY'
  AND scheduled_at <= NOW()
ORDER BY scheduled_at ASC
LIMIT 10;

-- name: claim_task
-- As written, and the count of claims, which is the token. Nobody looks at it as written.
UPDATE tasks
SET status = 'EXECUTING', started_at = NOW(), attempt = attempt + 1
WHERE id = $1 AND status = 'READY'
RETURNING attempt;

-- name: claim_task_unconditionally
UPDATE tasks
SET status = 'EXECUTING', started_at = NOW(), attempt = attempt + 1
WHERE id = $1
RETURNING attempt;

-- name: complete_task_by_id
-- As written.
UPDATE tasks
SET status = 'COMPLETED', completed_at = NOW(), output = $1
WHERE id = $2;

-- name: fail_task_by_id
-- As written.
UPDATE tasks
SET status = 'FAILED', error = $1
WHERE id = $2;

-- name: complete_task
UPDATE tasks
SET status = 'COMPLETED', completed_at = NOW(), output = $1
WHERE id = $2 AND status = 'EXECUTING' AND attempt = $3;

-- name: fail_task
UPDATE tasks
SET status = 'FAILED', error = $1
WHERE id = $2 AND status = 'EXECUTING' AND attempt = $3;

-- name: beat_task
UPDATE tasks SET status = status
WHERE id = $1 AND status = 'EXECUTING' AND attempt = $2;

-- name: return_task
UPDATE tasks SET status = 'READY', error = $1
WHERE id = $2 AND status = 'EXECUTING' AND attempt = $3;
