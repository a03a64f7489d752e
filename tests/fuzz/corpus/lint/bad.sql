CREATE TABLE resources (
    id varchar(64) PRIMARY KEY,
    idempotency_key varchar(64)
);
CREATE UNIQUE INDEX idx_resources ON resources (idempotency_key) WHERE id <> 'x';

CREATE TABLE "Orders" ("idempotency_key" text NOT NULL UNIQUE, total_count integer);

CREATE TABLE queue_items (
    id bigint PRIMARY KEY,
    status text CHECK (status IN ('PENDING', 'PROCESSING', 'COMPLETED')),
    created_at timestamptz,
    updated_at timestamptz
);
CREATE INDEX idx_status ON queue_items (status);
CREATE INDEX idx_old ON queue_items (status, updated_at);
DROP INDEX idx_old;

UPDATE queue_items SET status = 'PROCESSING' WHERE id = $1;
UPDATE queue_items SET status = 'FAILED'
WHERE status = 'PROCESSING' AND updated_at < now() - interval '5 minutes';

CREATE TABLE tasks (id bigint, status text, created_at timestamptz, PRIMARY KEY (id));
ALTER TABLE tasks ADD CONSTRAINT known CHECK (status IN ('READY', 'EXECUTING')),
    ADD COLUMN request_key text;

UPDATE "Orders" SET total_count = total_count + 1 WHERE id = $1;
INSERT INTO stats (day, hits) VALUES (current_date, 1)
ON CONFLICT (day) DO UPDATE SET hits = stats.hits + EXCLUDED.hits;
CREATE FUNCTION bump() RETURNS void LANGUAGE sql AS $$
    UPDATE parents SET (name, sum) = ('x', coalesce(parents.sum, 0) - 1);
$$;
