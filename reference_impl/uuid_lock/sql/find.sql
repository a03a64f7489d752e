-- name: list_due
SELECT id
FROM deviations
WHERE status = 'scheduled' AND scheduled_at <= now()
ORDER BY scheduled_at, id
LIMIT 128;

-- name: list_past_due
SELECT id
FROM deviations
WHERE status = 'scheduled' AND scheduled_at < now() - interval '5 minutes'
ORDER BY scheduled_at, id
LIMIT 128;
