-- name: pick_item
-- As written. Sent by itself it is a transaction of its own, so its row lock is gone with its answer.
SELECT * FROM queue_items
WHERE status = 'PENDING'
ORDER BY created_at ASC
LIMIT 1
FOR UPDATE SKIP LOCKED;

-- name: start_item
-- As written.
UPDATE queue_items SET status = 'PROCESSING' WHERE id = $1;

-- name: claim_item
-- The document's two statements as one: what the lock was on is taken before the lock ends. The count
-- of claims is the token.
UPDATE queue_items SET status = 'PROCESSING', attempt = attempt + 1
WHERE id = (
    SELECT id FROM queue_items
    WHERE status = 'PENDING'
    ORDER BY created_at ASC, id ASC
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
RETURNING *;

-- name: complete_item_by_id
-- As written.
UPDATE queue_items SET status = 'COMPLETED', result = $1 WHERE id = $2;

-- name: fail_item_by_id
-- As written.
UPDATE queue_items SET status = 'FAILED', error = $1 WHERE id = $2;

-- name: complete_item
UPDATE queue_items SET status = 'COMPLETED', result = $1
WHERE id = $2 AND status = 'PROCESSING' AND attempt = $3;

-- name: fail_item
UPDATE queue_items SET status = 'FAILED', error = $1
WHERE id = $2 AND status = 'PROCESSING' AND attempt = $3;

-- name: beat_item
-- Whoever is at work says so. The trigger moves updated_at.
UPDATE queue_items SET status = status
WHERE id = $1 AND status = 'PROCESSING' AND attempt = $2;

-- name: return_item
UPDATE queue_items SET status = 'PENDING', error = $1
WHERE id = $2 AND status = 'PROCESSING' AND attempt = $3;
