-- name: lock_cluster
-- Every transaction that touches a lock takes the cluster's row first: one order for all, so that
-- they cannot deadlock, and whoever waits here sees afterwards what the one before has done.
SELECT status FROM clusters WHERE id = $1 FOR NO KEY UPDATE;

-- name: try_lock_cluster
-- As lock_cluster, and no row when somebody has it: a janitor waits for nobody.
SELECT status FROM clusters WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;
