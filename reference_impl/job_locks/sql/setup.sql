-- name: insert_cluster
-- A new cluster of an old name goes on counting where the old one stopped: the cloud knows the name.
INSERT INTO clusters (id, name, platform, base_domain, status, token)
SELECT $1, $2::varchar, $3::varchar, $4::varchar, $5, coalesce(max(token), 0)
FROM clusters
WHERE name = $2 AND platform = $3 AND base_domain = $4;
