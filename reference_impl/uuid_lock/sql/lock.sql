-- name: acquire_lock
-- The document's updateMany. $3 is the application's date where the document has it, else null. That it
-- is due is asked again: between the list and the lock its user may have put it off.
UPDATE deviations
SET execution_lock_id = $2,
    execution_locked_at = coalesce($3::timestamptz, now()),
    execution_version = execution_version + 1
WHERE id = $1 AND status = 'scheduled' AND execution_lock_id IS NULL AND scheduled_at <= now()
RETURNING execution_version, upload_seconds;

-- name: acquire_lock_any_time
-- The document's updateMany as it is.
UPDATE deviations
SET execution_lock_id = $2,
    execution_locked_at = coalesce($3::timestamptz, now()),
    execution_version = execution_version + 1
WHERE id = $1 AND status = 'scheduled' AND execution_lock_id IS NULL
RETURNING execution_version, upload_seconds;

-- name: acquire_lock_anyway
UPDATE deviations
SET execution_lock_id = $2,
    execution_locked_at = coalesce($3::timestamptz, now()),
    execution_version = execution_version + 1
WHERE id = $1 AND status = 'scheduled'
RETURNING execution_version, upload_seconds;

-- name: find_unlocked
-- The first of the two statements that an updateMany was with older clients.
SELECT id FROM deviations WHERE id = $1 AND status = 'scheduled' AND execution_lock_id IS NULL;

-- name: acquire_found
-- The second.
UPDATE deviations
SET execution_lock_id = $2,
    execution_locked_at = coalesce($3::timestamptz, now()),
    execution_version = execution_version + 1
WHERE id IN ($1)
RETURNING execution_version, upload_seconds;

-- name: mark_publishing
-- What is about to be done is written down before it is done, by the one who has the lock. May be sent
-- twice.
UPDATE deviations
SET status = 'publishing'
WHERE id = $1 AND execution_lock_id = $2 AND status IN ('scheduled', 'publishing')
RETURNING execution_version, upload_seconds;

-- name: release_lock
-- The document's update, guarded by the version as well, and by the statuses that a holder may find.
UPDATE deviations
SET execution_lock_id = NULL, execution_locked_at = NULL, status = $4
WHERE id = $1 AND execution_lock_id = $2 AND execution_version = $3
  AND status IN ('scheduled', 'publishing', 'unresolved')
RETURNING id;

-- name: release_lock_unversioned
-- The document's update as it is.
UPDATE deviations
SET execution_lock_id = NULL, execution_locked_at = NULL, status = $3
WHERE id = $1 AND execution_lock_id = $2
RETURNING id;

-- name: release_version
-- Without the lock's id.
UPDATE deviations
SET execution_lock_id = NULL, execution_locked_at = NULL, status = $3
WHERE id = $1 AND execution_version = $2
RETURNING id;

-- name: release_whatever
UPDATE deviations
SET execution_lock_id = NULL, execution_locked_at = NULL, status = $2
WHERE id = $1
RETURNING id;

-- name: give_up
-- Nobody knows whether it was published. The lock's id stays: it says whose call it was.
UPDATE deviations
SET status = 'unresolved'
WHERE id = $1 AND execution_lock_id = $2 AND execution_version = $3 AND status = 'publishing'
RETURNING id;
