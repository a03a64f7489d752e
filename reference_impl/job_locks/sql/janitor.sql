-- name: list_expired_locks
SELECT cluster_id, job_id, locked_by, token
FROM job_locks
WHERE expires_at < now() - interval '5 minutes'
ORDER BY cluster_id, job_id;

-- name: reap_lock
-- The condition is asked again: the lock may have been renewed, released or taken anew since.
DELETE FROM job_locks
WHERE cluster_id = $1 AND job_id = $2 AND locked_by = $3 AND token = $4
  AND expires_at < now() - interval '5 minutes';

-- name: time_out_job
UPDATE jobs SET status = 'FAILED', error_code = 'WORKER_TIMEOUT'
WHERE id = $1 AND status = 'RUNNING'
RETURNING type, attempt, root_id, message_group;

-- name: reset_cluster
-- $3 is the status that the dead job had put the cluster into; another one is not the reaper's business.
UPDATE clusters SET status = $2 WHERE id = $1 AND status = $3;

-- name: insert_retry
INSERT INTO jobs (id, cluster_id, type, worker_count, message_group, attempt, root_id)
SELECT $2, cluster_id, type, worker_count, message_group, attempt + 1, root_id
FROM jobs
WHERE id = $1
ON CONFLICT (id) DO NOTHING;

-- name: list_forgotten_jobs
-- Their message was lost, or is in the dead-letter queue.
SELECT id, cluster_id, message_group
FROM jobs
WHERE status = 'PENDING' AND enqueued_at < now() - interval '30 minutes'
ORDER BY id;

-- name: touch_job
UPDATE jobs SET enqueued_at = now()
WHERE id = $1 AND status = 'PENDING' AND enqueued_at < now() - interval '30 minutes';
