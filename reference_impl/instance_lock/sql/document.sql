-- The statements of the document, with now() for CURRENT_TIMESTAMP, which is the same.

-- name: acquire_as_written
-- $1 is the instance, $2 the expiration, $3 who asks.
WITH lock_attempt AS (
  SELECT pg_try_advisory_xact_lock($1) AS acquired
)
INSERT INTO instance_locks (instance_id, locked_until, locked_by)
SELECT $1, now() + $2, $3
FROM lock_attempt
WHERE acquired = TRUE
  AND NOT EXISTS (
    SELECT 1 FROM instance_locks
    WHERE instance_id = $1
      AND locked_until > now()
  )
RETURNING lock_token;

-- name: release_as_written
UPDATE instance_locks
SET locked_until = now()
WHERE lock_token = $1;

-- name: lock_session
-- The rejected alternative A1: the lock belongs to the session, and its instance waits for it.
SELECT pg_advisory_lock($1);

-- name: try_lock_session
-- The same for a second request that is to fail.
SELECT pg_try_advisory_lock($1);

-- name: unlock_session
SELECT pg_advisory_unlock($1);
