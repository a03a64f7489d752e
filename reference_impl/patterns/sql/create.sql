-- name: find_resource
SELECT * FROM resources WHERE idempotency_key = $1;

-- name: insert_resource
INSERT INTO resources (id, content, idempotency_key) VALUES (gen_random_uuid()::text, $2, $1) RETURNING *;
