-- name: renew_lock
UPDATE job_locks
SET expires_at = now() + interval '60 minutes'
WHERE cluster_id = $1 AND job_id = $2 AND locked_by = $3 AND token = $4
RETURNING EXISTS (SELECT 1 FROM stop_requests WHERE worker = $3 AND job_id = $2);

-- name: renew_lock_until
UPDATE job_locks
SET expires_at = $5
WHERE cluster_id = $1 AND job_id = $2 AND locked_by = $3 AND token = $4
RETURNING EXISTS (SELECT 1 FROM stop_requests WHERE worker = $3 AND job_id = $2);
