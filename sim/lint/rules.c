/* The rules, one function each, in the order of the document's checklist. */
#include <string.h>
#include <strings.h>

#include "sim/lint/lint.h"
#include "sim/lint/words.h"

struct judging {
    const struct lint_schema *schema;
    struct lint_report report;
    struct lint_finding **end;
    const char *rule;
};

static void find(struct judging *judging, struct lint_place place, const char *what,
                 const char *fix)
{
    struct lint_finding *finding = arena_alloc(judging->schema->arena, sizeof *finding);

    *finding =
        (struct lint_finding){.rule = judging->rule, .place = place, .what = what, .fix = fix};
    *judging->end = finding;
    judging->end = &finding->next;
    judging->report.finding_count++;
}

#define SAY(...) arena_printf(judging->schema->arena, __VA_ARGS__)

/* ---- what a table's status may be ---- */

static const struct lint_column *status_column(const struct lint_table *table)
{
    const struct lint_column *best = NULL;

    for (const struct lint_column *column = table->columns; column; column = column->next) {
        bool is_exact =
            strcasecmp(column->name, "status") == 0 || strcasecmp(column->name, "state") == 0;
        if (is_exact || (best == NULL && lint_is_status_name(column->name)))
            best = column;
    }
    return best;
}

static void add_words(struct judging *judging, struct lint_word **to, const struct lint_word *from)
{
    for (; from != NULL; from = from->next)
        if (!lint_has_word(*to, from->text))
            lint_add_word(judging->schema->arena, to, from->text);
}

/* Every status that is named: by the column's type, a CHECK, a default, a statement. The conditions
 * of indexes do not count: they may name more than a table has. */
static struct lint_word *statuses_of(struct judging *judging, const struct lint_table *table)
{
    const struct lint_schema *schema = judging->schema;
    const struct lint_column *column = status_column(table);
    struct lint_word *words = NULL;

    if (column == NULL)
        return NULL;
    add_words(judging, &words, table->words);
    for (const struct lint_enum *type = schema->enums; type != NULL; type = type->next)
        if (lint_same_table(type->name, column->type))
            add_words(judging, &words, type->words);
    for (const struct lint_update *update = schema->updates; update; update = update->next) {
        if (!lint_same_table(update->table, table->name))
            continue;
        add_words(judging, &words, update->statuses);
        for (const struct lint_set *set = update->sets; set != NULL; set = set->next) {
            struct lint_word word = {.text = set->literal};
            if (set->literal != NULL && strcmp(set->column, column->name) == 0)
                add_words(judging, &words, &word);
        }
    }
    return words;
}

/* ---- idempotency-key ---- */

/* A key may be unique for each of something: (account_id, idempotency_key). */
static bool makes_unique(const struct lint_index *index, const char *column)
{
    if (!index->unique || !lint_has_word(index->columns, column))
        return false;
    if (index->is_partial && (!index->needs_not_null || index->words != NULL))
        return false;
    for (const struct lint_word *word = index->columns; word != NULL; word = word->next) {
        size_t size = strlen(word->text);
        bool is_owner = size > 3 && strcmp(word->text + size - 3, "_id") == 0;
        if (strcasecmp(word->text, column) != 0 && !is_owner)
            return false;
    }
    return true;
}

static void judge_key_column(struct judging *judging, const struct lint_table *table,
                             const struct lint_column *column)
{
    bool is_unique = false;

    for (const struct lint_index *index = judging->schema->indexes; index; index = index->next)
        is_unique |=
            lint_same_table(index->table, table->name) && makes_unique(index, column->name);
    if (!is_unique)
        find(judging, column->place,
             SAY("%s.%s is not unique, so two requests at once make two rows", table->name,
                 column->name),
             SAY("CREATE UNIQUE INDEX ON %s (%s)", table->name, column->name));
    if (!column->not_null)
        find(judging, column->place,
             SAY("%s.%s may be null, and nulls are never the same", table->name, column->name),
             SAY("ALTER TABLE %s ALTER COLUMN %s SET NOT NULL", table->name, column->name));
}

static void judge_keys(struct judging *judging)
{
    for (const struct lint_table *table = judging->schema->tables; table; table = table->next)
        for (const struct lint_column *column = table->columns; column; column = column->next)
            if (word_is_idempotency_key(column->name))
                judge_key_column(judging, table, column);
}

/* ---- queue-index, monitor-index ---- */

static bool is_time_column(const struct lint_table *table, const char *name)
{
    for (const struct lint_column *column = table->columns; column; column = column->next)
        if (strcmp(column->name, name) == 0 && strncasecmp(column->type, "timestamp", 9) == 0)
            return true;
    return lint_is_time_name(name);
}

/* Does the index find the rows of this status by a time? (status, time), or (time) for those alone.
 */
static bool index_serves(const struct lint_index *index, const struct lint_table *table,
                         const char *status_name, const char *status)
{
    const struct lint_word *first = index->columns;

    if (first == NULL || !lint_same_table(index->table, table->name))
        return false;
    if (index->is_partial && !lint_has_word(index->words, status))
        return false;
    if (strcasecmp(first->text, status_name) == 0)
        return first->next != NULL && is_time_column(table, first->next->text);
    return index->is_partial && is_time_column(table, first->text);
}

static bool has_index_for(struct judging *judging, const struct lint_table *table,
                          const char *status_name, const char *status)
{
    for (const struct lint_index *index = judging->schema->indexes; index; index = index->next)
        if (index_serves(index, table, status_name, status))
            return true;
    return false;
}

/* The first of these names that the table has; the first of all when it has none. */
static const char *time_column(const struct lint_table *table, const char *const *names)
{
    for (const char *const *name = names; *name != NULL; name++)
        for (const struct lint_column *column = table->columns; column; column = column->next)
            if (strcmp(column->name, *name) == 0)
                return *name;
    return names[0];
}

static void judge_index(struct judging *judging, const struct lint_table *table,
                        bool (*is_wanted)(const char *status), const char *who,
                        const char *const *times)
{
    const struct lint_column *column = status_column(table);
    struct lint_word *statuses = statuses_of(judging, table);

    for (const struct lint_word *word = statuses; word != NULL; word = word->next) {
        if (!is_wanted(word->text) || has_index_for(judging, table, column->name, word->text))
            continue;
        find(judging, table->place,
             SAY("%s looks for rows of %s that are %s, and no index has them", who, table->name,
                 word->text),
             SAY("CREATE INDEX ON %s (%s, %s) WHERE %s IN ('%s')", table->name, column->name,
                 time_column(table, times), column->name, word->text));
    }
}

static bool has_status_that(struct judging *judging, const struct lint_table *table,
                            bool (*is_wanted)(const char *status))
{
    struct lint_word *statuses = statuses_of(judging, table);

    for (const struct lint_word *word = statuses; word != NULL; word = word->next)
        if (is_wanted(word->text))
            return true;
    return false;
}

/* A table is a queue when its rows wait and are then worked on. */
static void judge_queue_indexes(struct judging *judging)
{
    static const char *const times[] = {"created_at",  "scheduled_at", "run_at",
                                        "enqueued_at", "due_at",       NULL};

    for (const struct lint_table *table = judging->schema->tables; table; table = table->next)
        if (has_status_that(judging, table, word_is_intermediate))
            judge_index(judging, table, word_is_waiting, "a worker", times);
}

static void judge_monitor_indexes(struct judging *judging)
{
    static const char *const times[] = {"updated_at", "heartbeat_at", "started_at",
                                        "locked_at",  "claimed_at",   NULL};

    for (const struct lint_table *table = judging->schema->tables; table; table = table->next)
        judge_index(judging, table, word_is_intermediate, "a monitor", times);
}

/* ---- increment ---- */

static void judge_increments(struct judging *judging)
{
    for (const struct lint_update *update = judging->schema->updates; update; update = update->next)
        for (const struct lint_set *set = update->sets; set != NULL; set = set->next)
            if (set->is_increment && word_is_aggregate(set->column))
                find(
                    judging, set->place,
                    SAY("%s.%s is moved on from what it was, so a retry counts twice",
                        update->table, set->column),
                    SAY("lock the row of %s, then set %s to a count of its source rows in the same "
                        "transaction",
                        update->table, set->column));
}

/* ---- no-monitor ---- */

/* Takes rows out of this status when they are old. */
static bool is_monitor(const struct lint_update *update, const char *status)
{
    return update->asks_time != NULL && lint_has_word(update->statuses, status);
}

static bool has_monitor(struct judging *judging, const struct lint_table *table, const char *status)
{
    for (const struct lint_update *update = judging->schema->updates; update; update = update->next)
        if (lint_same_table(update->table, table->name) && is_monitor(update, status))
            return true;
    return false;
}

static void judge_monitors(struct judging *judging)
{
    for (const struct lint_table *table = judging->schema->tables; table; table = table->next) {
        const struct lint_column *column = status_column(table);
        struct lint_word *statuses = statuses_of(judging, table);
        for (const struct lint_word *word = statuses; word != NULL; word = word->next)
            if (word_is_intermediate(word->text) && !has_monitor(judging, table, word->text))
                find(judging, table->place,
                     SAY("no statement recovers rows of %s that stay %s when their worker dies",
                         table->name, word->text),
                     SAY("add a monitor: UPDATE %s SET %s = ... WHERE %s = '%s' AND updated_at < "
                         "now() - interval '...'",
                         table->name, column->name, column->name, word->text));
    }
}

/* ---- monitor-clock ---- */

static bool sets_column(const struct lint_update *update, const char *name)
{
    for (const struct lint_set *set = update->sets; set != NULL; set = set->next)
        if (strcmp(set->column, name) == 0)
            return true;
    return false;
}

/* The status that it puts into a row, when somebody is then at it; NULL otherwise. */
static const char *claimed_status(const struct lint_update *update)
{
    for (const struct lint_set *set = update->sets; set != NULL; set = set->next)
        if (set->literal != NULL && lint_is_status_name(set->column) &&
            word_is_intermediate(set->literal))
            return set->literal;
    return NULL;
}

static void judge_clock_of(struct judging *judging, const struct lint_update *claim,
                           const char *status)
{
    const struct lint_table *table = lint_table_find(judging->schema, claim->table);

    if (table != NULL && table->has_trigger)
        return;
    for (const struct lint_update *update = judging->schema->updates; update; update = update->next)
        if (lint_same_table(update->table, claim->table) && is_monitor(update, status) &&
            !sets_column(claim, update->asks_time)) {
            find(judging, claim->place,
                 SAY("a row of %s becomes %s and its %s stays as it was, by which the monitor goes",
                     claim->table, status, update->asks_time),
                 SAY("set %s = now() as well, here or by a trigger", update->asks_time));
            return;
        }
}

static void judge_clocks(struct judging *judging)
{
    for (const struct lint_update *update = judging->schema->updates; update; update = update->next)
        if (claimed_status(update) != NULL)
            judge_clock_of(judging, update, claimed_status(update));
}

/* ---- unconditional-status ---- */

static void judge_conditions(struct judging *judging)
{
    for (const struct lint_update *update = judging->schema->updates; update; update = update->next)
        for (const struct lint_set *set = update->sets; set != NULL; set = set->next)
            if (set->literal != NULL && lint_is_status_name(set->column) && !update->asks_status)
                find(judging, update->place,
                     SAY("%s becomes %s whatever it was, so a late worker overwrites what came "
                         "after it",
                         update->table, set->literal),
                     SAY("name the status that it leaves: ... AND %s = '...', and look at the row "
                         "count",
                         set->column));
}

/* ---- unreadable ---- */

static void judge_troubles(struct judging *judging)
{
    for (const struct lint_trouble *trouble = judging->schema->troubles; trouble;
         trouble = trouble->next)
        find(judging, trouble->place, trouble->what, "end it");
}

static const struct {
    const char *name;
    void (*judge)(struct judging *judging);
    bool needs_statements;
} rules[] = {
    {"unreadable", judge_troubles, false},
    {"idempotency-key", judge_keys, false},
    {"unconditional-status", judge_conditions, true},
    {"increment", judge_increments, true},
    {"no-monitor", judge_monitors, true},
    {"monitor-clock", judge_clocks, true},
    {"queue-index", judge_queue_indexes, false},
    {"monitor-index", judge_monitor_indexes, false},
};

const char *const lint_statement_rules[] = {"unconditional-status", "increment", "no-monitor",
                                            "monitor-clock", NULL};

struct lint_report lint_judge(struct lint_schema *schema)
{
    struct judging judging = {.schema = schema};

    judging.end = &judging.report.findings;
    judging.report.has_statements = schema->updates != NULL;
    for (size_t i = 0; i < FP_COUNT(rules); i++) {
        judging.rule = rules[i].name;
        if (judging.report.has_statements || !rules[i].needs_statements)
            rules[i].judge(&judging);
    }
    return judging.report;
}

void lint_put_finding(struct strbuf *out, const struct lint_finding *finding)
{
    const struct lint_place *place = &finding->place;

    if (place->file != NULL)
        strbuf_printf(out, "%s:%d:%d: ", place->file, place->line, place->column);
    else
        strbuf_printf(out, "%s: ", place->object);
    strbuf_printf(out, "%s: %s.\n    fix: %s.\n", finding->rule, finding->what, finding->fix);
}
