-- name: insert_deviation
INSERT INTO deviations (id, status, scheduled_at, upload_seconds)
VALUES ($1, 'scheduled', now() + $2::integer * interval '1 second', $3);

-- name: reschedule
-- A user who reads that it has failed and wants it published all the same.
UPDATE deviations
SET status = 'scheduled', scheduled_at = now()
WHERE id = $1 AND status = 'failed';

-- name: postpone
-- A user may put off what nobody has begun to publish.
UPDATE deviations
SET scheduled_at = now() + $2::integer * interval '1 second'
WHERE id = $1 AND status = 'scheduled' AND execution_lock_id IS NULL;
