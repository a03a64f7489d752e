-- name: find_work
-- All that a round has to look after, in one statement: kind, cluster, job, and up to three things more.
-- stale:     a lock whose lease has ended; worker, token
-- lockless:  a RUNNING job that holds nothing
-- double:    two acquisitions of one cluster's lock without an end between them; the later worker, and
--            the earlier job and worker
-- forgotten: a job whose message was lost
-- expired:   a cluster whose time to live is over
-- ahead:     a cluster whose time to live will be over
-- slow:      a job that has been RUNNING for more than 90 minutes
SELECT 'stale' AS kind, cluster_id, job_id, locked_by AS a, token::text AS b, '' AS c
FROM job_locks
WHERE expires_at < now() - interval '5 minutes'
UNION ALL
SELECT 'lockless', cluster_id, id, '', '', ''
FROM jobs
WHERE status = 'RUNNING' AND NOT EXISTS (SELECT 1 FROM job_locks WHERE job_id = jobs.id)
UNION ALL
SELECT 'slow', cluster_id, id, '', '', ''
FROM jobs
WHERE status = 'RUNNING' AND started_at < now() - interval '90 minutes'
UNION ALL
SELECT 'forgotten', cluster_id, id, '', '', ''
FROM jobs
WHERE status = 'PENDING' AND enqueued_at < now() - interval '60 minutes'
UNION ALL
SELECT CASE WHEN expires_at <= now() AND status IN ('READY', 'FAILED') THEN 'expired' ELSE 'ahead' END,
       id, '', '', '', ''
FROM clusters
WHERE expires_at IS NOT NULL AND status <> 'DESTROYED'
UNION ALL
SELECT 'double', cluster_id, job_id, worker, job_before, worker_before
FROM (SELECT id, cluster_id, job_id, worker, event,
             lag(event) OVER history AS event_before,
             lag(job_id) OVER history AS job_before,
             lag(worker) OVER history AS worker_before
      FROM lock_audit
      WINDOW history AS (PARTITION BY cluster_id ORDER BY id)) audit
WHERE event = 'lock_acquired' AND event_before = 'lock_acquired'
  AND NOT EXISTS (SELECT 1
                  FROM lock_audit handled
                  WHERE handled.cluster_id = audit.cluster_id
                    AND handled.id > audit.id
                    AND handled.event = 'double_handled')
ORDER BY 1, 2, 3;

-- name: insert_ttl_job
-- Only when no destroy is under way, and once: the cluster's row is locked, and its end is put off, so that a
-- destroy that fails is tried again.
WITH free AS (
    SELECT id
    FROM clusters
    WHERE id = $1 AND expires_at <= now() AND status IN ('READY', 'FAILED')
    FOR NO KEY UPDATE SKIP LOCKED
), due AS (
    UPDATE clusters SET expires_at = now() + interval '1 hour'
    WHERE id IN (SELECT id FROM free)
    RETURNING id
)
INSERT INTO jobs (id, cluster_id, type, message_group, root_id)
SELECT next.id, $1, 'JANITOR_DESTROY', 'cluster-' || $1, next.id
FROM due, (SELECT 'ttl-' || $1 || '-' || count(*) + 1 AS id
           FROM jobs
           WHERE cluster_id = $1 AND type = 'JANITOR_DESTROY') next
WHERE NOT EXISTS (SELECT 1
                  FROM jobs
                  WHERE cluster_id = $1
                    AND type IN ('DESTROY', 'JANITOR_DESTROY')
                    AND status IN ('PENDING', 'RUNNING'))
RETURNING id;

-- name: touch_job
UPDATE jobs SET enqueued_at = now()
WHERE id IN (SELECT id
             FROM jobs
             WHERE id = $1 AND status = 'PENDING' AND enqueued_at < now() - interval '60 minutes'
             FOR NO KEY UPDATE SKIP LOCKED);

-- name: redrive_job
-- Nothing when the job is not PENDING any more, and null when somebody is just taking it.
WITH free AS (
    SELECT id FROM jobs WHERE id = $1 AND status = 'PENDING' FOR NO KEY UPDATE SKIP LOCKED
), counted AS (
    UPDATE jobs SET redrive_count = redrive_count + 1, enqueued_at = now()
    WHERE id IN (SELECT id FROM free)
    RETURNING redrive_count
)
SELECT (SELECT redrive_count FROM counted)
FROM jobs
WHERE id = $1 AND status = 'PENDING';
