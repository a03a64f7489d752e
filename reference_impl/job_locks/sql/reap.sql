-- name: reap_lock
-- The condition is asked again: the lock may have been renewed, released or taken anew since.
DELETE FROM job_locks
WHERE cluster_id = $1 AND job_id = $2 AND locked_by = $3 AND token = $4
  AND expires_at < now() - interval '5 minutes';

-- name: time_out_job
UPDATE jobs SET status = 'FAILED', error_code = 'WORKER_TIMEOUT'
WHERE id = $1 AND status = 'RUNNING'
RETURNING type, attempt, root_id;

-- name: reset_cluster
-- $3 is the status that the dead job had put the cluster into; another one is not the reaper's business.
UPDATE clusters SET status = $2 WHERE id = $1 AND status = $3;

-- name: insert_retry
INSERT INTO jobs (id, cluster_id, type, worker_count, message_group, place, attempt, root_id)
SELECT $2, cluster_id, type, worker_count, message_group, place, attempt + 1, root_id
FROM jobs
WHERE id = $1
ON CONFLICT (id) DO NOTHING;

-- name: audit_ended
-- The end of a lock by another hand than its holder's: under the correlation id of its acquisition.
INSERT INTO lock_audit (cluster_id, job_id, worker, token, correlation_id, event)
SELECT cluster_id, job_id, worker, token, correlation_id, $3
FROM lock_audit
WHERE cluster_id = $1 AND job_id = $2 AND event = 'lock_acquired'
ORDER BY id DESC
LIMIT 1;
