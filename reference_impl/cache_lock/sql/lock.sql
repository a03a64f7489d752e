-- Keys of one bigint and keys of two integers do not meet. The document's are of one bigint, and so are
-- those of anybody else who uses the database: the two integers are ours, the first says of what.

-- name: try_lock
-- Within a transaction that lasts as long as the rebuild: the lock is held exactly as long as the
-- transaction is good, and there is nothing to give back.
SELECT pg_try_advisory_xact_lock($1::integer, $2::integer);

-- name: try_lock_of_session
SELECT pg_try_advisory_lock($1::integer, $2::integer);

-- name: try_lock_by_date
SELECT pg_try_advisory_xact_lock($1::bigint);

-- name: try_lock_of_session_by_date
-- Of the document.
SELECT pg_try_advisory_lock($1::bigint);

-- name: wait_for_lock
SELECT pg_advisory_xact_lock($1::integer, $2::integer);

-- name: wait_for_lock_of_session
SELECT pg_advisory_lock($1::integer, $2::integer);

-- name: wait_for_lock_by_date
SELECT pg_advisory_xact_lock($1::bigint);

-- name: wait_for_lock_of_session_by_date
-- Of the document.
SELECT pg_advisory_lock($1::bigint);

-- name: unlock_session
SELECT pg_advisory_unlock($1::integer, $2::integer);

-- name: unlock_session_by_date
-- Of the document.
SELECT pg_advisory_unlock($1::bigint);

-- name: unlock_all
-- Of the document, for the time after a test.
SELECT pg_advisory_unlock_all();

-- name: next_token
-- By one who holds the lock, and committed before the token is shown to anybody. A sequence would not do: what
-- nextval() gave to a transaction that did not commit may be given again after a crash.
INSERT INTO rebuild_tokens (date, token)
SELECT $1, token + 1 FROM token_floor
ON CONFLICT (date)
DO UPDATE SET token = greatest(rebuild_tokens.token + 1, EXCLUDED.token)
RETURNING token;

-- name: still_held
-- That there is an answer says that the transaction is good, and with it the lock.
SELECT 1;
