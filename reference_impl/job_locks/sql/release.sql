-- name: delete_lock
DELETE FROM job_locks
WHERE cluster_id = $1 AND job_id = $2 AND locked_by = $3 AND token = $4;

-- name: delete_lock_of_cluster
DELETE FROM job_locks WHERE cluster_id = $1;

-- name: finish_cluster
UPDATE clusters SET status = $2 WHERE id = $1;

-- name: finish_job
UPDATE jobs SET status = $2, error_code = $3 WHERE id = $1;

-- name: select_job_outcome
SELECT status, coalesce(error_code, '') FROM jobs WHERE id = $1;
