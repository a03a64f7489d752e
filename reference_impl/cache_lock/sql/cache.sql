-- name: check_cache
-- The document has no SQL for it. An entry whose time is over is shown too, and said to be no longer live.
SELECT raw_data, expires_at IS NULL OR expires_at > clock_timestamp() AS live
FROM daily_usage_cache
WHERE date = $1;

-- name: save_entry
-- Never over an entry that was built from something newer.
INSERT INTO daily_usage_cache
       (date, raw_data, aggregated_by_user, aggregated_by_model, source_version, built_by, expires_at)
VALUES ($1, $2, $3, $4, $5, $6,
        CASE WHEN $7 = 'current' THEN clock_timestamp() + interval '5 minutes' END)
ON CONFLICT (date)
DO UPDATE SET
  raw_data = EXCLUDED.raw_data,
  aggregated_by_user = EXCLUDED.aggregated_by_user,
  aggregated_by_model = EXCLUDED.aggregated_by_model,
  source_version = EXCLUDED.source_version,
  built_by = EXCLUDED.built_by,
  expires_at = EXCLUDED.expires_at
WHERE daily_usage_cache.source_version <= EXCLUDED.source_version;

-- name: save_entry_last_wins
-- Of the document.
INSERT INTO daily_usage_cache
       (date, raw_data, aggregated_by_user, aggregated_by_model, source_version, built_by, expires_at)
VALUES ($1, $2, $3, $4, $5, $6,
        CASE WHEN $7 = 'current' THEN clock_timestamp() + interval '5 minutes' END)
ON CONFLICT (date)
DO UPDATE SET
  raw_data = EXCLUDED.raw_data,
  aggregated_by_user = EXCLUDED.aggregated_by_user,
  aggregated_by_model = EXCLUDED.aggregated_by_model,
  source_version = EXCLUDED.source_version,
  built_by = EXCLUDED.built_by,
  expires_at = EXCLUDED.expires_at;

-- name: save_raw_data
-- The first of two statements, where the document has one.
INSERT INTO daily_usage_cache
       (date, raw_data, aggregated_by_user, aggregated_by_model, source_version, built_by, expires_at)
VALUES ($1, $2, '', '', $3, $4, CASE WHEN $5 = 'current' THEN clock_timestamp() + interval '5 minutes' END)
ON CONFLICT (date)
DO UPDATE SET
  raw_data = EXCLUDED.raw_data,
  source_version = EXCLUDED.source_version,
  built_by = EXCLUDED.built_by,
  expires_at = EXCLUDED.expires_at;

-- name: save_aggregates
UPDATE daily_usage_cache SET aggregated_by_user = $2, aggregated_by_model = $3 WHERE date = $1;

-- name: save_entry_insert_only
-- "Bad: INSERT only (fails on duplicate)".
INSERT INTO daily_usage_cache
       (date, raw_data, aggregated_by_user, aggregated_by_model, source_version, built_by, expires_at)
VALUES ($1, $2, $3, $4, $5, $6,
        CASE WHEN $7 = 'current' THEN clock_timestamp() + interval '5 minutes' END);
