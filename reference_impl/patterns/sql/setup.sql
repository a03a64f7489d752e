-- name: insert_parent
INSERT INTO parent_records (id) VALUES ($1);

-- name: insert_item
-- Items are as old as their place in the workload says, so that the queue has an order.
INSERT INTO queue_items (id, parent_id, takes_ms, created_at)
VALUES ($1, nullif($2::text, ''), $3, now() + $4::integer * interval '1 millisecond');

-- name: insert_task
INSERT INTO tasks (id, takes_ms, scheduled_at)
VALUES ($1, $2, now() + $3::bigint * interval '1 millisecond');
