-- name: lose_job
UPDATE jobs SET status = 'FAILED', error_code = 'LOCK_STATE_LOST'
WHERE id = $1
  AND status = 'RUNNING'
  AND NOT EXISTS (SELECT 1 FROM job_locks WHERE job_id = $1);

-- name: fail_cluster
-- Of whatever was being done to it nobody knows how far it came.
UPDATE clusters SET status = 'FAILED'
WHERE id = $1 AND status IN ('CREATING', 'SCALING', 'DESTROYING');

-- name: audit_double
-- Nothing when another janitor was quicker.
INSERT INTO lock_audit (cluster_id, job_id, worker, token, event)
SELECT later.cluster_id, later.job_id, later.worker, later.token, 'double_handled'
FROM lock_audit later
WHERE later.cluster_id = $1
  AND later.job_id = $2
  AND later.worker = $3
  AND later.event = 'lock_acquired'
  AND NOT EXISTS (SELECT 1
                  FROM lock_audit handled
                  WHERE handled.cluster_id = later.cluster_id
                    AND handled.event = 'double_handled'
                    AND handled.id > later.id)
ORDER BY later.id DESC
LIMIT 1;

-- name: request_stop
INSERT INTO stop_requests (worker, job_id) VALUES ($1, $2)
ON CONFLICT DO NOTHING;

-- name: fail_double_jobs
UPDATE jobs SET status = 'FAILED', error_code = 'LOCK_HELD_TWICE'
WHERE id IN ($1, $2) AND status = 'RUNNING';
