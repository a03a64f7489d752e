-- Everything that the user's schemas have, as statements that would make it, in an order in which they
-- could be run: what it is, its name, the statement.
WITH spaces AS (
    SELECT oid, nspname FROM pg_namespace
    WHERE nspname NOT LIKE 'pg\_%' AND nspname <> 'information_schema'
),
relations AS (
    SELECT c.oid, c.relkind, n.nspname, c.relname,
        quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name,
        CASE WHEN n.nspname = 'public' THEN c.relname ELSE n.nspname || '.' || c.relname END AS shown
    FROM pg_class c JOIN spaces n ON n.oid = c.relnamespace
),
columns AS (
    SELECT a.attrelid,
        string_agg(quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
            || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
            || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), ''),
            ', ' ORDER BY a.attnum) AS list
    FROM pg_attribute a
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attnum > 0 AND NOT a.attisdropped
    GROUP BY a.attrelid
)
SELECT shown, statement
FROM (
    SELECT 1 AS place, CASE WHEN n.nspname = 'public' THEN t.typname ELSE n.nspname || '.' || t.typname END
            AS shown,
        'CREATE TYPE ' || quote_ident(n.nspname) || '.' || quote_ident(t.typname) || ' AS ENUM ('
            || string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder) || ')' AS statement
    FROM pg_type t JOIN spaces n ON n.oid = t.typnamespace JOIN pg_enum e ON e.enumtypid = t.oid
    GROUP BY n.nspname, t.typname
    UNION ALL
    SELECT 2, r.shown, 'CREATE TABLE ' || r.name || ' (' || coalesce(c.list, '') || ')'
    FROM relations r LEFT JOIN columns c ON c.attrelid = r.oid
    WHERE r.relkind IN ('r', 'p')
    UNION ALL
    SELECT 3, r.shown, 'ALTER TABLE ' || r.name || ' ADD CONSTRAINT ' || quote_ident(k.conname) || ' '
        || pg_get_constraintdef(k.oid)
    FROM pg_constraint k JOIN relations r ON r.oid = k.conrelid
    WHERE k.contype = 'c'
    UNION ALL
    SELECT 4, i.shown, pg_get_indexdef(x.indexrelid)
    FROM pg_index x JOIN relations i ON i.oid = x.indexrelid JOIN relations r ON r.oid = x.indrelid
    WHERE x.indisvalid AND r.relkind IN ('r', 'p')
    UNION ALL
    SELECT 5, r.shown, pg_get_triggerdef(t.oid)
    FROM pg_trigger t JOIN relations r ON r.oid = t.tgrelid
    WHERE NOT t.tgisinternal AND t.tgenabled <> 'D'
    UNION ALL
    SELECT 6, CASE WHEN n.nspname = 'public' THEN p.proname ELSE n.nspname || '.' || p.proname END,
        pg_get_functiondef(p.oid)
    FROM pg_proc p JOIN spaces n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
    WHERE l.lanname IN ('sql', 'plpgsql') AND p.prokind IN ('f', 'p')
        AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
) AS all_of_it
ORDER BY place, shown, statement;
