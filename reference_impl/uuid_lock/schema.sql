-- Deviations: pieces that are published at their time, each with the lock of whoever publishes it.
--
-- The document's model, and two statuses more: 'publishing' is written before the call to the gallery,
-- 'unresolved' when nobody can say what became of it. Columns have limits, so that no table needs a
-- TOAST table.

CREATE TABLE deviations (
    id varchar(64) PRIMARY KEY,
    status varchar(16) NOT NULL
        CHECK (status IN ('scheduled', 'publishing', 'published', 'failed', 'unresolved')),
    scheduled_at timestamp with time zone NOT NULL,
    -- The longest that the gallery takes over it.
    upload_seconds integer NOT NULL,
    execution_lock_id varchar(64),
    execution_locked_at timestamp with time zone,
    execution_version integer NOT NULL DEFAULT 0
);
CREATE INDEX idx_deviations_due ON deviations (status, scheduled_at);
