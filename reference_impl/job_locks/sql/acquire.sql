-- name: select_cluster
-- Step 2 of the document: SELECT FOR UPDATE on clusters.
SELECT status, name, platform, base_domain, token
FROM clusters
WHERE id = $1
FOR UPDATE;

-- name: select_cluster_unlocked
SELECT status, name, platform, base_domain, token
FROM clusters
WHERE id = $1;

-- name: select_job
SELECT status, type, worker_count, cluster_id
FROM jobs
WHERE id = $1;

-- name: insert_lock
-- Step 4 of the document.
INSERT INTO job_locks (cluster_id, job_id, locked_by, expires_at, token)
VALUES ($1, $2, $3, now() + interval '60 minutes', $4)
ON CONFLICT (cluster_id) DO NOTHING;

-- name: count_locks
SELECT count(*) FROM job_locks WHERE cluster_id = $1;

-- name: insert_lock_unkeyed
INSERT INTO job_locks (cluster_id, job_id, locked_by, expires_at, token)
VALUES ($1, $2, $3, now() + interval '60 minutes', $4)
ON CONFLICT DO NOTHING;

-- name: start_job
UPDATE jobs SET status = 'RUNNING' WHERE id = $1 AND status = 'PENDING';

-- name: start_cluster
UPDATE clusters SET status = $2, token = $3 WHERE id = $1;

-- name: refuse_job
UPDATE jobs SET status = 'FAILED', error_code = $2 WHERE id = $1 AND status = 'PENDING';

-- name: find_lock
-- Is the lock that this worker may or may not have got there?
SELECT token
FROM job_locks
WHERE cluster_id = $1 AND job_id = $2 AND locked_by = $3 AND token = $4;
