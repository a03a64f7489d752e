-- name: tenant_lock
-- Somebody else's, in the same database, with an integer of their own.
SELECT pg_try_advisory_lock($1::bigint);

-- name: tenant_unlock
SELECT pg_advisory_unlock($1::bigint);
