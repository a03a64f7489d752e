-- name: enter_section
-- Within a transaction that lasts as long as the section: the lock is held exactly as long as the
-- transaction is good, and a pooler cannot give the session to somebody else meanwhile.
SELECT pg_advisory_xact_lock(hashtext($1));

-- name: enter_section_of_session
-- Of the document: the lock belongs to the session, and to each time that it was asked for.
SELECT pg_advisory_lock(hashtext($1));

-- name: leave_section_of_session
SELECT pg_advisory_unlock(hashtext($1));

-- name: check_section
-- That there is an answer says that the transaction is good and with it the lock. The answer says
-- whether the run is to end.
SELECT EXISTS (SELECT 1 FROM stop_requests WHERE worker = $1 AND job_id = $2);

-- name: obey_stop
DELETE FROM stop_requests WHERE worker = $1 AND job_id = $2;

-- name: list_lockless_jobs
-- What a worker looks at when it starts.
SELECT id, cluster_id
FROM jobs
WHERE status = 'RUNNING' AND NOT EXISTS (SELECT 1 FROM job_locks WHERE job_id = jobs.id)
ORDER BY id;
