-- Resources by idempotency key, a queue of items, tasks, and parents that count their items.
--
-- The document gives the table of resources and the indexes; the other tables are what its statements
-- need. Columns have limits, so that no table needs a TOAST table. Time is the database's own, by now().

CREATE TABLE resources (
    id varchar(64) PRIMARY KEY,
    idempotency_key varchar(64) NOT NULL,
    -- What was asked for. A key that comes again with something else is another request.
    content varchar(64) NOT NULL
);

CREATE UNIQUE INDEX idx_resources_idempotency_key
ON resources(idempotency_key);

CREATE TABLE parent_records (
    id varchar(64) PRIMARY KEY,
    total_children integer NOT NULL DEFAULT 0,
    completed_count integer NOT NULL DEFAULT 0,
    failed_count integer NOT NULL DEFAULT 0
);

CREATE TABLE queue_items (
    id varchar(64) PRIMARY KEY,
    parent_id varchar(64) REFERENCES parent_records (id),
    status varchar(16) NOT NULL DEFAULT 'PENDING'
        CHECK (status IN ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED')),
    -- How often it was claimed: the fencing token of its latest claim. It only grows.
    attempt integer NOT NULL DEFAULT 0,
    takes_ms integer NOT NULL,
    result varchar(64),
    error varchar(96),
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now()
);

CREATE TABLE tasks (
    id varchar(64) PRIMARY KEY,
    status varchar(16) NOT NULL DEFAULT 'READY'
        CHECK (status IN ('READY', 'EXECUTING', 'COMPLETED', 'FAILED')),
    attempt integer NOT NULL DEFAULT 0,
    takes_ms integer NOT NULL,
    output varchar(64),
    error varchar(96),
    scheduled_at timestamp with time zone NOT NULL DEFAULT now(),
    started_at timestamp with time zone,
    completed_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now()
);

-- The children of the aggregates are the items of the queue.
CREATE VIEW child_records AS SELECT id, parent_id, status FROM queue_items;

-- Every change moves updated_at. The monitor goes by it, and no statement of the document sets it.
CREATE FUNCTION set_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.updated_at := now();
    RETURN NEW;
END
$$;
CREATE TRIGGER queue_items_updated BEFORE UPDATE ON queue_items
FOR EACH ROW EXECUTE FUNCTION set_updated_at();
CREATE TRIGGER tasks_updated BEFORE UPDATE ON tasks
FOR EACH ROW EXECUTE FUNCTION set_updated_at();

-- The required indexes. The document's form for tasks is on created_at; its statement asks by
-- scheduled_at.
CREATE INDEX idx_queue_items_status_created
ON queue_items(status, created_at)
WHERE status IN ('PENDING', 'READY');

CREATE INDEX idx_queue_items_status_updated
ON queue_items(status, updated_at)
WHERE status IN ('PROCESSING', 'EXECUTING');

CREATE INDEX idx_tasks_status_scheduled
ON tasks(status, scheduled_at)
WHERE status IN ('PENDING', 'READY');

CREATE INDEX idx_tasks_status_updated
ON tasks(status, updated_at)
WHERE status IN ('PROCESSING', 'EXECUTING');

-- The aggregates ask for the items of a parent.
CREATE INDEX idx_queue_items_parent
ON queue_items(parent_id);
