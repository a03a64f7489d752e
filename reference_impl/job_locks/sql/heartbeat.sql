-- name: renew_lock
UPDATE job_locks
SET expires_at = now() + interval '60 minutes'
WHERE cluster_id = $1 AND job_id = $2 AND locked_by = $3 AND token = $4;
