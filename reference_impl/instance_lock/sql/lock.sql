-- name: acquire
-- Whoever comes second waits for the row and then sees what the first has made of it: the condition is asked
-- of the row itself, not of a snapshot. A lock may be taken when its time is over; when it is that of this
-- very attempt, whose answer was lost; or when more time is left than anybody can have given it, because the
-- clock was put back. Then the instance's row: its fence is counted on, and what its last holder left behind
-- is told. A standby that is promoted may not have received the last fences, and begins a new timeline, so
-- fences begin above all that an earlier timeline can have given out: its number is their upper half.
WITH got AS (
    INSERT INTO instance_locks AS held (instance_id, locked_until, locked_by)
    VALUES ($1, now() + $2, $3)
    ON CONFLICT (instance_id) DO UPDATE
    SET lock_token = excluded.lock_token,
        locked_at = excluded.locked_at,
        locked_until = excluded.locked_until,
        locked_by = excluded.locked_by
    WHERE held.locked_until <= now()
       OR held.locked_until > now() + $2 + interval '1 minute'
       OR held.locked_by = excluded.locked_by
    RETURNING instance_id, lock_token
)
UPDATE instances
SET fence = greatest(instances.fence, floor.fence) + 1,
    overtaken = unfinished OR instances.fence < floor.fence,
    unfinished = true
FROM got, (SELECT (('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint - 1) << 32 AS fence) floor
WHERE id = got.instance_id
RETURNING got.lock_token, instances.fence, task, overtaken;

-- name: acquire_weakened
-- As acquire; with $4 only together with the advisory lock of that number, which anybody may have; with $5 a
-- lock is free by the clock alone, whatever the clock has come to.
WITH got AS (
    INSERT INTO instance_locks AS held (instance_id, locked_until, locked_by)
    SELECT $1, now() + $2, $3
    WHERE CASE WHEN $4 THEN pg_try_advisory_xact_lock($1) ELSE true END
    ON CONFLICT (instance_id) DO UPDATE
    SET lock_token = excluded.lock_token,
        locked_at = excluded.locked_at,
        locked_until = excluded.locked_until,
        locked_by = excluded.locked_by
    WHERE held.locked_until <= now()
       OR (NOT $5 AND held.locked_until > now() + $2 + interval '1 minute')
       OR held.locked_by = excluded.locked_by
    RETURNING instance_id, lock_token
)
UPDATE instances
SET fence = greatest(instances.fence, floor.fence) + 1,
    overtaken = unfinished OR instances.fence < floor.fence,
    unfinished = true
FROM got, (SELECT (('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint - 1) << 32 AS fence) floor
WHERE id = got.instance_id
RETURNING got.lock_token, instances.fence, task, overtaken;

-- name: count_fence
-- With the document's statement the fence is counted after the lock was taken.
UPDATE instances
SET fence = greatest(instances.fence, floor.fence) + 1,
    overtaken = unfinished OR instances.fence < floor.fence,
    unfinished = true
FROM (SELECT (('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint - 1) << 32 AS fence) floor
WHERE id = $1
RETURNING instances.fence, task, overtaken;

-- name: renew
UPDATE instance_locks
SET locked_until = now() + $3
WHERE instance_id = $1 AND lock_token = $2;

-- name: finish
-- The step and the end of the lock are one, by the lock's row first. Nothing happens without the lock.
WITH mine AS (
    DELETE FROM instance_locks
    WHERE instance_id = $1 AND lock_token = $2
    RETURNING instance_id
), moved AS (
    UPDATE instances
    SET task = $4, unfinished = false
    FROM mine
    WHERE id = mine.instance_id AND task = $3 AND fence = $5
    RETURNING id
)
INSERT INTO process_steps (request_id, instance_id, from_task, to_task)
SELECT $6, id, $3, $4
FROM moved;

-- name: finish_by_clock
-- As finish; the lock is free when its time is over.
WITH mine AS (
    UPDATE instance_locks
    SET locked_until = now()
    WHERE instance_id = $1 AND lock_token = $2
    RETURNING instance_id
), moved AS (
    UPDATE instances
    SET task = $4, unfinished = false
    FROM mine
    WHERE id = mine.instance_id AND task = $3 AND fence = $5
    RETURNING id
)
INSERT INTO process_steps (request_id, instance_id, from_task, to_task)
SELECT $6, id, $3, $4
FROM moved;

-- name: release
-- Without a step. $3 says whether something of ours may still be under way.
WITH mine AS (
    DELETE FROM instance_locks
    WHERE instance_id = $1 AND lock_token = $2
    RETURNING instance_id
)
UPDATE instances
SET unfinished = $3
FROM mine
WHERE id = mine.instance_id;

-- name: release_of_instance
-- Whosever it is.
DELETE FROM instance_locks WHERE instance_id = $1;
