-- name: select_cluster
-- Step 2 of the document, by the weaker lock that conflicts with itself as well, and not with the foreign
-- keys of new jobs: a client does not wait for a worker. The last column is false while a worker is within
-- its critical section for this cluster, which may be one that has lost its lock.
SELECT status, name, platform, base_domain, greatest(token, (SELECT token FROM token_floor)),
       pg_try_advisory_xact_lock(hashtext(id))
FROM clusters
WHERE id = $1
FOR NO KEY UPDATE;

-- name: select_cluster_counted
-- The token is what the row says, which may be less than what was given out before a failover.
SELECT status, name, platform, base_domain, token, pg_try_advisory_xact_lock(hashtext(id))
FROM clusters
WHERE id = $1
FOR NO KEY UPDATE;

-- name: select_cluster_only
SELECT status, name, platform, base_domain, token, true
FROM clusters
WHERE id = $1
FOR NO KEY UPDATE;

-- name: select_cluster_unlocked
SELECT status, name, platform, base_domain, token, true
FROM clusters
WHERE id = $1;

-- name: select_status
SELECT status FROM clusters WHERE id = $1;

-- name: select_job
-- The last column: does an earlier job of its group still wait?
SELECT status, type, worker_count, cluster_id,
       EXISTS (SELECT 1
               FROM jobs earlier
               WHERE earlier.cluster_id = job.cluster_id
                 AND earlier.message_group = job.message_group
                 AND earlier.place < job.place
                 AND earlier.status = 'PENDING')
FROM jobs job
WHERE id = $1;

-- name: insert_lock
-- Step 4 of the document.
INSERT INTO job_locks (cluster_id, job_id, locked_by, expires_at, token)
VALUES ($1, $2, $3, now() + interval '60 minutes', $4)
ON CONFLICT (cluster_id) DO NOTHING;

-- name: insert_lock_until
-- The end of the lease is what the worker takes for it.
INSERT INTO job_locks (cluster_id, job_id, locked_by, expires_at, token)
VALUES ($1, $2, $3, $5, $4)
ON CONFLICT (cluster_id) DO NOTHING;

-- name: count_locks
SELECT count(*) FROM job_locks WHERE cluster_id = $1;

-- name: insert_lock_unkeyed
INSERT INTO job_locks (cluster_id, job_id, locked_by, expires_at, token)
VALUES ($1, $2, $3, now() + interval '60 minutes', $4)
ON CONFLICT DO NOTHING;

-- name: audit_acquired
INSERT INTO lock_audit (cluster_id, job_id, worker, token, event)
VALUES ($1, $2, $3, $4, 'lock_acquired')
RETURNING correlation_id;

-- name: start_job
UPDATE jobs SET status = 'RUNNING', started_at = now() WHERE id = $1;

-- name: start_cluster
UPDATE clusters SET status = $2, token = $3 WHERE id = $1;

-- name: end_pending_job
UPDATE jobs SET status = 'FAILED', error_code = $2 WHERE id = $1 AND status = 'PENDING';

-- name: find_lock
-- Is the lock that this worker may or may not have got there?
SELECT token
FROM job_locks
WHERE cluster_id = $1 AND job_id = $2 AND locked_by = $3 AND token = $4;
