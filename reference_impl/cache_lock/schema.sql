-- The admin analytics cache: one entry a day of usage, and how often each day's lock was taken.
--
-- Columns have limits, so that no table needs a TOAST table. Time is the database's own.

CREATE TABLE daily_usage_cache (
    date varchar(10) PRIMARY KEY,
    -- What the source gave for the day, and what was made of it. The source's text begins with its
    -- version.
    raw_data varchar(64) NOT NULL,
    aggregated_by_user varchar(64) NOT NULL,
    aggregated_by_model varchar(64) NOT NULL,
    -- The version of the source that the entry was built from, as a number.
    source_version bigint NOT NULL,
    -- The rebuild that wrote it.
    built_by varchar(80) NOT NULL,
    -- From then on it is no entry any more. Null: it never expires.
    expires_at timestamp with time zone
);

-- The fencing token of the latest rebuild of a day. It only grows, and is committed before it is used.
CREATE TABLE rebuild_tokens (
    date varchar(10) PRIMARY KEY,
    token bigint NOT NULL
);

-- A standby that is promoted may not have received the last tokens. It begins a new timeline, so tokens
-- begin above all that an earlier timeline can have given out: its number is their upper half.
CREATE VIEW token_floor AS
SELECT (('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint - 1) << 32 AS token;
