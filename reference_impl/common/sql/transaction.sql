-- name: begin_serializable
BEGIN ISOLATION LEVEL SERIALIZABLE;

-- name: begin
BEGIN ISOLATION LEVEL READ COMMITTED;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;
