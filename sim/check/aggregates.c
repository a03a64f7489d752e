#include "sim/check/aggregates.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool aggregates_apply(const struct strategy *strategy)
{
    const struct aggregate_view *view = &strategy->aggregate;
    return view->counts != NULL && watched_has(strategy, view->source_table, view->parent_column) &&
           watched_has(strategy, view->source_table, view->status_column) &&
           watched_has(strategy, view->table, view->counts[0].column);
}

static bool is_counted(const struct aggregate_view *view, const struct row *source,
                       const struct row *parent, const char *status)
{
    if (strcmp(row_text(source, view->parent_column), row_key(parent)) != 0)
        return false;
    return status == NULL || strcmp(row_text(source, view->status_column), status) == 0;
}

static int64_t count_source(struct check *check, const struct row *parent, const char *status)
{
    const struct aggregate_view *view = &check_setup(check)->strategy->aggregate;
    int64_t count = 0;

    for (const struct row *row = rows_first(check_rows(check), view->source_table); row != NULL;
         row = row->next)
        count += is_counted(view, row, parent, status);
    return count;
}

static void judge_parent(struct check *check, const struct event *event, const struct row *parent)
{
    const struct aggregate_view *view = &check_setup(check)->strategy->aggregate;

    for (const struct aggregate_count *count = view->counts; count->column != NULL; count++) {
        int64_t actual = count_source(check, parent, count->status);
        const char *said = row_text(parent, count->column);
        if (strtoll(said, NULL, 10) != actual)
            check_fail(check, event, "%s of %s says %s at %s, but %" PRId64 " of its %s are %s",
                       count->column, row_key(parent), said, check_time_text(check, event->t_ns),
                       actual, view->source_table, count->status != NULL ? count->status : "there");
    }
}

void aggregates_judge(struct check *check, const struct event *event)
{
    const struct aggregate_view *view = &check_setup(check)->strategy->aggregate;

    for (const struct row *row = rows_first(check_rows(check), view->table); row != NULL;
         row = row->next)
        judge_parent(check, event, row);
}
