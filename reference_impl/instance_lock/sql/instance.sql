-- name: insert_instance
INSERT INTO instances (id, task) VALUES ($1, 'FORM');

-- name: select_instance
SELECT task FROM instances WHERE id = $1;

-- name: select_step
-- What was done for this request, if it was.
SELECT to_task FROM process_steps WHERE request_id = $1 ORDER BY id LIMIT 1;

-- name: write_step
-- Whatever the instance has become meanwhile.
WITH step AS (
    INSERT INTO process_steps (request_id, instance_id, from_task, to_task) VALUES ($4, $1, $2, $3)
)
UPDATE instances SET task = $3, unfinished = false WHERE id = $1;

-- name: write_step_from
-- The rejected alternative A4: only from where the work was done for.
WITH moved AS (
    UPDATE instances SET task = $3, unfinished = false WHERE id = $1 AND task = $2 RETURNING id
)
INSERT INTO process_steps (request_id, instance_id, from_task, to_task)
SELECT $4, id, $2, $3
FROM moved;
