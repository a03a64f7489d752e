-- The statements of the concurrency standards, as they stand there, with the tables that they need.
CREATE TABLE resources (
    id VARCHAR(64) PRIMARY KEY,
    idempotency_key VARCHAR(64) NOT NULL
);
CREATE UNIQUE INDEX idx_resources_idempotency_key
ON resources(idempotency_key);

CREATE TABLE queue_items (id VARCHAR(64) PRIMARY KEY, status VARCHAR(16), result TEXT, error TEXT,
    created_at TIMESTAMPTZ DEFAULT now(), updated_at TIMESTAMPTZ DEFAULT now());
CREATE TABLE tasks (id VARCHAR(64) PRIMARY KEY, status VARCHAR(16), output TEXT, error TEXT,
    scheduled_at TIMESTAMPTZ, started_at TIMESTAMPTZ, completed_at TIMESTAMPTZ);
CREATE INDEX idx_queue_items_status_created ON queue_items(status, created_at)
WHERE status IN ('PENDING', 'READY');
CREATE INDEX idx_queue_items_status_updated ON queue_items(status, updated_at)
WHERE status IN ('PROCESSING', 'EXECUTING');

SELECT * FROM queue_items
WHERE status = 'PENDING'
ORDER BY created_at ASC
LIMIT 1
FOR UPDATE SKIP LOCKED;
UPDATE queue_items SET status = 'PROCESSING' WHERE id = $1;
UPDATE queue_items SET status = 'COMPLETED', result = $1 WHERE id = $2;
UPDATE queue_items SET status = 'FAILED', error = $1 WHERE id = $2;

UPDATE tasks
SET status = 'EXECUTING', started_at = NOW()
WHERE id = $1 AND status = 'READY';
UPDATE tasks
SET status = 'COMPLETED', completed_at = NOW(), output = $1
WHERE id = $2;
UPDATE tasks
SET status = 'FAILED', error = $1
WHERE id = $2;

UPDATE parent_records
SET processed_count = processed_count + 1
WHERE id = $1;
UPDATE parent_records
SET
    total_children = $1,
    completed_count = $2,
    failed_count = $3
WHERE id = $4;

UPDATE queue_items
SET status = 'FAILED',
    error = 'Processing timeout - worker may have crashed'
WHERE status = 'PROCESSING'
  AND updated_at < NOW() - INTERVAL '5 minutes';
UPDATE tasks
SET status = 'FAILED',
    error = 'Execution timeout - worker may have crashed'
WHERE status = 'EXECUTING'
  AND started_at < NOW() - INTERVAL '2 minutes';
