-- Process instances, the locks on them, and the steps that they have made.
--
-- Columns have limits, so that no table needs a TOAST table. Time is the database's own. Where the document
-- has CURRENT_TIMESTAMP it is now() here, which is the same.

CREATE TABLE instances (
    id bigint PRIMARY KEY,
    -- Where the process stands.
    task varchar(16) NOT NULL CHECK (task IN ('FORM', 'SIGNING', 'PAYMENT', 'ENDED')),
    -- The fencing token of the latest lock. It only grows, and outlives every lock.
    fence bigint NOT NULL DEFAULT 0,
    -- The latest holder of the lock has not said that nothing of its own is under way any more; and whether
    -- that was so of the one before it.
    unfinished boolean NOT NULL DEFAULT false,
    overtaken boolean NOT NULL DEFAULT false
);

-- The document's table, and that there is one lock for an instance.
CREATE TABLE instance_locks (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    instance_id bigint NOT NULL,
    lock_token uuid UNIQUE NOT NULL DEFAULT gen_random_uuid(),
    locked_at timestamptz NOT NULL DEFAULT now(),
    locked_until timestamptz NOT NULL,
    locked_by varchar(255) NOT NULL,
    CONSTRAINT one_lock_per_instance UNIQUE (instance_id)
);

-- What was done for which request. A request that comes again is answered from here.
CREATE TABLE process_steps (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    request_id varchar(64) NOT NULL,
    instance_id bigint NOT NULL,
    from_task varchar(16) NOT NULL,
    to_task varchar(16) NOT NULL,
    CONSTRAINT one_step_per_request UNIQUE (request_id)
);
