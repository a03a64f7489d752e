-- Clusters, jobs and the locks on clusters.
--
-- Columns have limits, so that no table needs a TOAST table. Time is the database's own, by now().

CREATE TABLE clusters (
    id varchar(64) PRIMARY KEY,
    name varchar(64) NOT NULL,
    platform varchar(32) NOT NULL,
    base_domain varchar(96) NOT NULL,
    status varchar(16) NOT NULL
        CHECK (status IN ('PENDING', 'CREATING', 'READY', 'SCALING', 'DESTROYING', 'DESTROYED', 'FAILED')),
    -- The fencing token of the latest lock. It only grows, and outlives every lock.
    token bigint NOT NULL DEFAULT 0
);

-- A FAILED cluster still has resources under its name, so its name is not free.
CREATE UNIQUE INDEX idx_unique_active_cluster
    ON clusters (name, platform, base_domain)
    WHERE status <> 'DESTROYED';

CREATE TABLE jobs (
    id varchar(64) PRIMARY KEY,
    cluster_id varchar(64) NOT NULL REFERENCES clusters (id) ON DELETE CASCADE,
    type varchar(16) NOT NULL
        CHECK (type IN ('CREATE', 'DESTROY', 'SCALE_WORKERS', 'JANITOR_DESTROY')),
    worker_count integer NOT NULL DEFAULT 0,
    message_group varchar(64) NOT NULL,
    status varchar(16) NOT NULL DEFAULT 'PENDING'
        CHECK (status IN ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED')),
    error_code varchar(32),
    attempt integer NOT NULL DEFAULT 1,
    root_id varchar(64) NOT NULL,
    -- When its message was last sent. A job that stays PENDING long after has lost it.
    enqueued_at timestamp with time zone NOT NULL DEFAULT now()
);

CREATE TABLE job_locks (
    cluster_id varchar(64) PRIMARY KEY REFERENCES clusters (id) ON DELETE CASCADE,
    job_id varchar(64) NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    locked_at timestamp with time zone NOT NULL DEFAULT now(),
    locked_by varchar(255) NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    token bigint NOT NULL
);
