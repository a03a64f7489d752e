-- A schema and its statements, as the standards want them. Nothing may be found here, whatever the
-- comments say: UPDATE queue SET total = total + 1;
/* status = 'PROCESSING' /* nested: UPDATE queue SET status = 'FAILED'; */ still a comment */
CREATE TYPE task_state AS ENUM ('READY', 'EXECUTING', 'COMPLETED');

CREATE TABLE resources (
    id varchar(64) PRIMARY KEY,
    account_id bigint NOT NULL,
    idempotency_key varchar(64) NOT NULL,
    -- another_idempotency_key text
    note text DEFAULT 'it''s UPDATE t SET count = count + 1'
);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS idx_resources_key
ON public.resources USING btree (account_id, idempotency_key);

CREATE TABLE queue_items (
    id bigint PRIMARY KEY,
    status text NOT NULL DEFAULT 'PENDING'
        CONSTRAINT known CHECK (status IN ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED')),
    attempt integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON queue_items (status, created_at) WHERE status IN ('PENDING', 'READY');
CREATE INDEX ON queue_items (updated_at) WHERE status = 'PROCESSING';

CREATE TABLE tasks (id bigint, state task_state, run_at timestamptz, heartbeat_at timestamptz);
CREATE INDEX idx_tasks ON tasks (state, run_at);
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $touch$
BEGIN
    NEW.heartbeat_at := now(); -- $$ does not end it
    RETURN NEW;
END
$touch$;
CREATE TRIGGER tasks_touch BEFORE INSERT OR UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION touch();

CREATE TABLE parents (id bigint PRIMARY KEY, done_count integer, version integer);

-- Claims, by one statement each.
UPDATE queue_items SET status = 'PROCESSING', attempt = attempt + 1, updated_at = now()
WHERE id = (SELECT id FROM queue_items WHERE status = 'PENDING' ORDER BY created_at LIMIT 1
            FOR UPDATE SKIP LOCKED)
RETURNING *;
WITH mine AS (UPDATE tasks SET state = 'EXECUTING' WHERE id = $1 AND state = 'READY' RETURNING id)
SELECT * FROM mine;

-- Last words.
UPDATE queue_items SET status = 'COMPLETED' WHERE id = $1 AND status = 'PROCESSING' AND attempt = $2;
UPDATE ONLY tasks AS t SET state = 'COMPLETED' WHERE t.id = %(id)s AND t.state = 'EXECUTING';

-- Monitors.
UPDATE queue_items SET status = 'PENDING'
WHERE status = 'PROCESSING' AND updated_at < now() - interval '5 minutes';
UPDATE tasks SET state = 'READY' WHERE state IN ('EXECUTING') AND :cutoff > heartbeat_at;

-- Numbers.
UPDATE parents SET version = version + 1,
    done_count = (SELECT count(*) + 0 FROM queue_items WHERE status = 'COMPLETED')
WHERE id = $1;
