-- name: insert_job
-- The id comes from the client, so that asking twice makes one job.
INSERT INTO jobs (id, cluster_id, type, worker_count, message_group, root_id)
VALUES ($1, $2, $3, $4, $5, $1)
ON CONFLICT (id) DO NOTHING;

-- name: insert_cluster
-- A new cluster of an old name goes on counting where the old one stopped: the cloud knows the name.
INSERT INTO clusters (id, name, platform, base_domain, status, token, expires_at)
SELECT $1, $2::varchar, $3::varchar, $4::varchar, $5, coalesce(max(token), 0),
       now() + $6::integer * interval '1 second'
FROM clusters
WHERE name = $2 AND platform = $3 AND base_domain = $4
ON CONFLICT (id) DO NOTHING;

-- name: repair_cluster
-- What an operator does with a cluster that is stuck: nobody holds it, so it counts as failed.
UPDATE clusters SET status = 'FAILED'
WHERE id = $1
  AND status IN ('CREATING', 'SCALING', 'DESTROYING')
  AND NOT EXISTS (SELECT 1 FROM job_locks WHERE cluster_id = $1);
