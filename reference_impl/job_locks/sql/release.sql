-- name: delete_lock
DELETE FROM job_locks
WHERE cluster_id = $1 AND job_id = $2 AND locked_by = $3 AND token = $4;

-- name: delete_lock_of_cluster
DELETE FROM job_locks WHERE cluster_id = $1;

-- name: finish_cluster
-- $3 is what the job had made of it, $4 the token of its lock.
UPDATE clusters SET status = $2 WHERE id = $1 AND status = $3 AND token = $4;

-- name: finish_cluster_anyway
UPDATE clusters SET status = $2 WHERE id = $1;

-- name: finish_job
UPDATE jobs SET status = $2, error_code = $3 WHERE id = $1 AND status = 'RUNNING';

-- name: finish_job_anyway
UPDATE jobs SET status = $2, error_code = $3 WHERE id = $1;

-- name: audit_released
INSERT INTO lock_audit (cluster_id, job_id, worker, token, correlation_id, event)
VALUES ($1, $2, $3, $4, $5, 'lock_released');

-- name: select_job_outcome
SELECT status, coalesce(error_code, '') FROM jobs WHERE id = $1;
