#include "sim/scenario/reference.h"

#include "faults/fault.h"
#include "sim/check/check.h"
#include "sim/scenario/sections.h"
#include "sim/scenario/workload.h"

/* A bar would end the cell, and a line end the row. */
static void put_cell(struct strbuf *out, const char *text)
{
    for (const char *c = text != NULL ? text : ""; *c != '\0'; c++)
        if (*c == '|')
            strbuf_puts(out, "\\|");
        else
            strbuf_putc(out, *c == '\n' ? ' ' : *c);
    strbuf_puts(out, " |");
}

static void put_default(struct strbuf *out, const struct field *field)
{
    if (field->required)
        strbuf_puts(out, "required |");
    else if (field->fallback != NULL && field->fallback[0] != '\0')
        strbuf_printf(out, "`%s` |", field->fallback);
    else
        strbuf_puts(out, "|");
}

static void put_fields(struct strbuf *out, const struct field *fields, size_t field_count)
{
    strbuf_puts(out, "| key | value | default | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < field_count; i++) {
        struct strbuf expected = STRBUF_INIT;
        field_expected(&fields[i], &expected);
        strbuf_printf(out, "| `%s` | ", fields[i].key);
        put_cell(out, strbuf_str(&expected));
        strbuf_putc(out, ' ');
        put_default(out, &fields[i]);
        strbuf_putc(out, ' ');
        put_cell(out, fields[i].about);
        strbuf_putc(out, '\n');
        strbuf_release(&expected);
    }
    strbuf_putc(out, '\n');
}

static void put_top(struct strbuf *out)
{
    strbuf_puts(out,
                "# Scenario files\n\nA scenario is one YAML document: a mapping with the keys "
                "below. Aliases, anchors, tags and merge keys are refused.\n\n## The keys\n\n");
    put_fields(out, top_fields, top_field_count);
    strbuf_puts(out, "### `topology.postgres`\n\n");
    put_fields(out, postgres_fields, postgres_field_count);
    strbuf_puts(out, "### `scheduling`\n\n");
    put_fields(out, scheduling_fields, scheduling_field_count);
    strbuf_puts(out, "### `limits`\n\n");
    put_fields(out, limits_fields, limits_field_count);
}

/* ---- faults ---- */

static void put_point_list(struct strbuf *out, const char *title, uint64_t points)
{
    const char *comma = "";
    strbuf_puts(out, title);
    for (int point = 0; point < FAULT_POINT_COUNT; point++) {
        if ((points & POINT_BIT(point)) != 0) {
            strbuf_printf(out, "%s`%s`", comma, fault_point_name((enum fault_point)point));
            comma = ", ";
        }
    }
    strbuf_puts(out, ".\n\n");
}

static void put_fault(struct strbuf *out, const struct fault_kind *kind)
{
    strbuf_printf(out, "### `%s`\n\n%s\n\n    %s\n\n", kind->name, kind->about, kind->example);
    put_point_list(out, "Can strike at ", kind->points);
    if (kind->points_default != kind->points)
        put_point_list(out, "Without `points` it strikes at ", kind->points_default);
    if (kind->field_count > 0)
        put_fields(out, kind->fields, kind->field_count);
}

static void put_faults(struct strbuf *out)
{
    strbuf_puts(out, "## Faults\n\nAll of them have these keys:\n\n");
    put_fields(out, fault_common_fields, fault_common_field_count);
    for (size_t i = 0; fault_kinds[i] != NULL; i++)
        put_fault(out, fault_kinds[i]);
    strbuf_puts(out, "### Points\n\n| point | when |\n|---|---|\n");
    for (int point = 0; point < FAULT_POINT_COUNT; point++) {
        strbuf_printf(out, "| `%s` | ", fault_point_name((enum fault_point)point));
        put_cell(out, fault_point_about((enum fault_point)point));
        strbuf_putc(out, '\n');
    }
    strbuf_putc(out, '\n');
}

/* ---- invariants, strategies ---- */

static void put_invariants(struct strbuf *out)
{
    strbuf_puts(out, "## Invariants\n\n| name | verifies | does not verify |\n|---|---|---|\n");
    for (size_t i = 0; invariants[i] != NULL; i++) {
        strbuf_printf(out, "| `%s` | ", invariants[i]->name);
        put_cell(out, invariants[i]->verifies);
        strbuf_putc(out, ' ');
        put_cell(out, invariants[i]->does_not_verify);
        strbuf_putc(out, '\n');
    }
    strbuf_putc(out, '\n');
}

static void put_weaknesses(struct strbuf *out, const struct strategy *strategy)
{
    if (strategy->weakness_count == 0)
        return;
    strbuf_puts(out, "| weakness | what it is | where it is from | as written | breaks |\n"
                     "|---|---|---|---|---|\n");
    for (size_t i = 0; i < strategy->weakness_count; i++) {
        const struct weakness *weakness = &strategy->weaknesses[i];
        strbuf_printf(out, "| `%s` | ", weakness->name);
        put_cell(out, weakness->about);
        strbuf_putc(out, ' ');
        put_cell(out, weakness->source);
        strbuf_printf(out, " %s | `%s` |\n", weakness->as_written ? "yes" : "no", weakness->breaks);
    }
    strbuf_putc(out, '\n');
}

static void put_strategy(struct strbuf *out, struct arena *arena, const struct strategy *strategy)
{
    size_t field_count;
    strbuf_printf(out, "### `%s`\n\n%s\n\n`topology` has:\n\n", strategy->name, strategy->about);
    const struct field *topology = topology_table(arena, strategy, &field_count);
    put_fields(out, topology, field_count);
    for (size_t i = 0; i < strategy->workload_count; i++) {
        const struct workload_list *list = &strategy->workload[i];
        strbuf_printf(out, "`workload.%s`, at most %d entries: %s\n\n", list->name,
                      list->entry_count_max, list->about);
        put_fields(out, workload_table(arena, list), list->field_count);
    }
    put_weaknesses(out, strategy);
}

void scenario_reference(struct strbuf *out)
{
    struct arena *arena = arena_new();
    put_top(out);
    put_faults(out);
    put_invariants(out);
    strbuf_puts(out, "## Strategies\n\n");
    for (size_t i = 0; strategies[i] != NULL; i++)
        put_strategy(out, arena, strategies[i]);
    arena_free(arena);
}
