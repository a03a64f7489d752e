-- The schema that stands before pg_catalog in the sessions' search_path. Time comes from two settings
-- that the harness sends along with statements; randomness from a sequence that every seed restarts.

CREATE SCHEMA fencepost;
GRANT USAGE ON SCHEMA fencepost TO PUBLIC;

-- fencepost.clock is the database's clock when the statement was sent. fencepost.now is set, for one
-- transaction only, when the clock has moved on since the transaction began.
CREATE FUNCTION fencepost.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT coalesce(nullif(pg_catalog.current_setting('fencepost.now', true), ''),
                    pg_catalog.current_setting('fencepost.clock'))::pg_catalog.timestamptz
$$;

CREATE FUNCTION fencepost.transaction_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT fencepost.now()
$$;

CREATE FUNCTION fencepost.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.current_setting('fencepost.clock')::pg_catalog.timestamptz
$$;

CREATE FUNCTION fencepost.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT pg_catalog.current_setting('fencepost.clock')::pg_catalog.timestamptz
$$;

CREATE FUNCTION fencepost.timeofday() RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT pg_catalog.to_char(fencepost.clock_timestamp(), 'Dy Mon DD HH24:MI:SS.US YYYY TZ')
$$;

-- Not transactional, as real randomness is not: a rolled-back draw is not drawn again.
CREATE SEQUENCE fencepost.draw;
GRANT USAGE ON SEQUENCE fencepost.draw TO PUBLIC;

CREATE FUNCTION fencepost.random() RETURNS double precision LANGUAGE sql VOLATILE AS $$
    SELECT ('x' || pg_catalog.substr(pg_catalog.md5(pg_catalog.nextval('fencepost.draw')::text), 1, 13))
               ::bit(52)::bigint / 4503599627370496.0::double precision
$$;

CREATE FUNCTION fencepost.gen_random_uuid() RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT pg_catalog.overlay(pg_catalog.overlay(
               pg_catalog.md5('uuid' || pg_catalog.nextval('fencepost.draw')::text),
               '4', 13, 1), 'a', 17, 1)::uuid
$$;

-- A session stops here until the scheduler lets it pass: the harness holds the lock exclusively, and
-- takes it again as soon as the session has let go of it.
CREATE FUNCTION fencepost.gate() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_catalog.pg_advisory_lock_shared(1717923696, pg_catalog.pg_backend_pid());
    PERFORM pg_catalog.pg_advisory_unlock_shared(1717923696, pg_catalog.pg_backend_pid());
END
$$;

-- What the watch's triggers name and never call: their conditions do the work, and are false.
CREATE FUNCTION fencepost.never() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the condition of a watching trigger was true';
END
$$;
