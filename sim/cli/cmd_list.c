#include <stdio.h>
#include <string.h>

#include "faults/fault.h"
#include "sim/check/check.h"
#include "sim/cli/command.h"
#include "sim/cli/gather.h"
#include "sim/cli/output.h"
#include "sim/core/json_out.h"
#include "sim/scenario/walk.h"

#define NAME_WIDTH 26

struct list_config {
    bool json;
};

static const struct option list_options[] = {
    {.name = "json",
     .type = OPTION_FLAG,
     .offset = offsetof(struct list_config, json),
     .about = "one JSON array"},
};

extern const struct command command_list;

/* ---- faults ---- */

static void put_points(struct strbuf *out, uint64_t points)
{
    const char *comma = "";
    for (int point = 0; point < FAULT_POINT_COUNT; point++) {
        if (!(points & POINT_BIT(point)))
            continue;
        strbuf_printf(out, "%s%s", comma, fault_point_name((enum fault_point)point));
        comma = ", ";
    }
}

static void put_field(struct strbuf *out, const struct field *field)
{
    struct strbuf expected = STRBUF_INIT;
    field_expected(field, &expected);
    strbuf_printf(out, "    %-16s%s (%s)", field->key, field->about, strbuf_str(&expected));
    if (field->required)
        strbuf_puts(out, ", required");
    else if (field->fallback && field->fallback[0] != '\0')
        strbuf_printf(out, " [%s]", field->fallback);
    const char *example = field->example ? field->example : field->fallback;
    if (example)
        strbuf_printf(out, "; %s: %s", field->key, example);
    strbuf_putc(out, '\n');
    strbuf_release(&expected);
}

static void put_fault(struct strbuf *out, const struct fault_kind *kind)
{
    strbuf_printf(out, "%s: %s\n  - %s\n  strikes at: ", kind->name, kind->about, kind->example);
    put_points(out, kind->points);
    strbuf_puts(out, "\n  unless told: ");
    put_points(out, kind->points_default);
    strbuf_putc(out, '\n');
    for (size_t i = 0; i < kind->field_count; i++)
        put_field(out, &kind->fields[i]);
    strbuf_putc(out, '\n');
}

static void list_faults(struct strbuf *out)
{
    for (size_t i = 0; fault_kinds[i]; i++)
        put_fault(out, fault_kinds[i]);
    strbuf_puts(out, "every fault has:\n");
    for (size_t i = 0; i < fault_common_field_count; i++)
        put_field(out, &fault_common_fields[i]);
    strbuf_puts(out, "\npoints:\n");
    for (int point = 0; point < FAULT_POINT_COUNT; point++)
        strbuf_printf(out, "    %-18s%s\n", fault_point_name((enum fault_point)point),
                      fault_point_about((enum fault_point)point));
}

static void put_points_json(struct json_out *out, const char *key, uint64_t points)
{
    json_key(out, key);
    json_array_begin(out);
    for (int point = 0; point < FAULT_POINT_COUNT; point++)
        if (points & POINT_BIT(point))
            json_string(out, fault_point_name((enum fault_point)point));
    json_array_end(out);
}

static void put_fields_json(struct json_out *out, const struct field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct strbuf expected = STRBUF_INIT;
        field_expected(&fields[i], &expected);
        json_object_begin(out);
        json_put_string(out, "key", fields[i].key);
        json_put_string(out, "about", fields[i].about);
        json_put_string(out, "expected", strbuf_str(&expected));
        json_key(out, "required");
        json_bool(out, fields[i].required);
        json_put_string(out, "default", fields[i].fallback);
        json_put_string(out, "example", fields[i].example ? fields[i].example : fields[i].fallback);
        json_object_end(out);
        strbuf_release(&expected);
    }
}

static void json_faults(struct json_out *out)
{
    for (size_t i = 0; fault_kinds[i]; i++) {
        const struct fault_kind *kind = fault_kinds[i];
        json_object_begin(out);
        json_put_string(out, "name", kind->name);
        json_put_string(out, "about", kind->about);
        json_put_string(out, "example", kind->example);
        put_points_json(out, "points", kind->points);
        put_points_json(out, "points_default", kind->points_default);
        json_key(out, "fields");
        json_array_begin(out);
        put_fields_json(out, kind->fields, kind->field_count);
        put_fields_json(out, fault_common_fields, fault_common_field_count);
        json_array_end(out);
        json_object_end(out);
    }
}

/* ---- invariants ---- */

static void list_invariants(struct strbuf *out)
{
    for (size_t i = 0; invariants[i]; i++)
        strbuf_printf(out, "%s%s\n  verifies:        %s\n  does not verify: %s\n",
                      i > 0 ? "\n" : "", invariants[i]->name, invariants[i]->verifies,
                      invariants[i]->does_not_verify);
}

static void json_invariants(struct json_out *out)
{
    for (size_t i = 0; invariants[i]; i++) {
        json_object_begin(out);
        json_put_string(out, "name", invariants[i]->name);
        json_put_string(out, "verifies", invariants[i]->verifies);
        json_put_string(out, "does_not_verify", invariants[i]->does_not_verify);
        json_object_end(out);
    }
}

/* ---- strategies ---- */

static void put_strategy(struct strbuf *out, const struct strategy *strategy)
{
    const char *comma = "";
    strbuf_printf(out, "%s: %s\n  document:  %s\n  actors:    ", strategy->name, strategy->about,
                  strategy->document);
    for (size_t i = 0; i < strategy->role_count; i++, comma = ", ")
        strbuf_printf(out, "%s%s", comma, strategy->roles[i].name);
    strbuf_printf(out, "\n  workload:  ");
    comma = "";
    for (size_t i = 0; i < strategy->workload_count; i++, comma = ", ")
        strbuf_printf(out, "%s%s", comma, strategy->workload[i].name);
    strbuf_printf(out, "\n  variants:  hardened, as_written, or any of %zu weaknesses\n",
                  strategy->weakness_count);
}

static void list_strategies(struct strbuf *out)
{
    for (size_t i = 0; strategies[i]; i++)
        put_strategy(out, strategies[i]);
}

static void json_strategies(struct json_out *out)
{
    for (size_t i = 0; strategies[i]; i++) {
        const struct strategy *strategy = strategies[i];
        json_object_begin(out);
        json_put_string(out, "name", strategy->name);
        json_put_string(out, "about", strategy->about);
        json_put_string(out, "document", strategy->document);
        json_key(out, "roles");
        json_array_begin(out);
        for (size_t r = 0; r < strategy->role_count; r++)
            json_string(out, strategy->roles[r].name);
        json_array_end(out);
        json_key(out, "workload");
        json_array_begin(out);
        for (size_t w = 0; w < strategy->workload_count; w++)
            json_string(out, strategy->workload[w].name);
        json_array_end(out);
        json_object_end(out);
    }
}

/* ---- weaknesses ---- */

static void list_weaknesses(struct strbuf *out)
{
    for (size_t i = 0; strategies[i]; i++) {
        const struct strategy *strategy = strategies[i];
        strbuf_printf(out, "%s%s\n", i > 0 ? "\n" : "", strategy->name);
        for (size_t w = 0; w < strategy->weakness_count; w++) {
            const struct weakness *weakness = &strategy->weaknesses[w];
            strbuf_printf(out, "  %-*s%s\n  %-*sbreaks %s; %s\n", NAME_WIDTH, weakness->name,
                          weakness->about, NAME_WIDTH, "", weakness->breaks,
                          weakness->as_written ? "as written" : weakness->source);
        }
    }
}

static void put_weakness_json(struct json_out *out, const struct strategy *strategy,
                              const struct weakness *weakness)
{
    json_object_begin(out);
    json_put_string(out, "strategy", strategy->name);
    json_put_string(out, "name", weakness->name);
    json_put_string(out, "about", weakness->about);
    json_put_string(out, "source", weakness->source);
    json_put_string(out, "breaks", weakness->breaks);
    json_key(out, "as_written");
    json_bool(out, weakness->as_written);
    json_object_end(out);
}

static void json_weaknesses(struct json_out *out)
{
    for (size_t i = 0; strategies[i]; i++)
        for (size_t w = 0; w < strategies[i]->weakness_count; w++)
            put_weakness_json(out, strategies[i], &strategies[i]->weaknesses[w]);
}

/* ---- scenarios ---- */

static struct gathered list_gathered;

static void put_expectation(struct strbuf *out, const struct scenario *scenario)
{
    if (scenario->expect == EXPECT_PASS)
        strbuf_puts(out, "pass");
    else
        strbuf_printf(out, "violates %s", scenario->expect_invariant->name);
    for (size_t i = 0; i < scenario->expect_also_count; i++)
        strbuf_printf(out, ", or %s", scenario->expect_also[i]->name);
}

static void list_scenarios(struct strbuf *out)
{
    for (size_t i = 0; i < list_gathered.count; i++) {
        const struct scenario *scenario = list_gathered.scenarios[i];
        strbuf_printf(out, "%-*s  %s\n", NAME_WIDTH, scenario->name,
                      scenario->about ? scenario->about : "");
        strbuf_printf(out, "%-*s  %s, %s, expected: ", NAME_WIDTH, "", scenario->strategy->name,
                      scenario->variant);
        put_expectation(out, scenario);
        strbuf_printf(out, "\n%-*s  %s\n", NAME_WIDTH, "", scenario->file);
    }
}

static void json_scenarios(struct json_out *out)
{
    for (size_t i = 0; i < list_gathered.count; i++) {
        const struct scenario *scenario = list_gathered.scenarios[i];
        struct strbuf expected = STRBUF_INIT;
        put_expectation(&expected, scenario);
        json_object_begin(out);
        json_put_string(out, "name", scenario->name);
        json_put_string(out, "file", scenario->file);
        json_put_string(out, "about", scenario->about);
        json_put_string(out, "strategy", scenario->strategy->name);
        json_put_string(out, "variant", scenario->variant);
        json_put_string(out, "expected", strbuf_str(&expected));
        json_object_end(out);
        strbuf_release(&expected);
    }
}

/* ---- the command ---- */

static const struct topic {
    const char *name;
    void (*list)(struct strbuf *out);
    void (*json)(struct json_out *out);
    bool takes_folder;
} topics[] = {
    {"scenarios", list_scenarios, json_scenarios, true},
    {"faults", list_faults, json_faults, false},
    {"invariants", list_invariants, json_invariants, false},
    {"strategies", list_strategies, json_strategies, false},
    {"weaknesses", list_weaknesses, json_weaknesses, false},
};

static const struct topic *find_topic(const char *name)
{
    for (size_t i = 0; i < FP_COUNT(topics); i++)
        if (strcmp(topics[i].name, name) == 0)
            return &topics[i];
    return NULL;
}

static int refuse_topic(const char *name)
{
    const char *names[FP_COUNT(topics)];
    for (size_t i = 0; i < FP_COUNT(topics); i++)
        names[i] = topics[i].name;
    const char *nearest = suggest(name, names, FP_COUNT(topics));
    return command_usage(&command_list, "there is no list of `%s`%s%s%s", name,
                         nearest ? ", did you mean " : "", nearest ? nearest : "",
                         nearest ? "?" : "");
}

static void show(const struct topic *topic, bool json)
{
    struct strbuf text = STRBUF_INIT;
    if (json) {
        struct json_out out;
        json_out_init(&out, &text);
        json_array_begin(&out);
        topic->json(&out);
        json_array_end(&out);
        json_out_finish(&out);
        strbuf_putc(&text, '\n');
    } else {
        topic->list(&text);
    }
    output_text(&text);
    strbuf_release(&text);
}

static int list_run(const struct args *args, const void *config)
{
    const struct list_config *list = config;
    const struct topic *topic = find_topic(args->operands[0]);
    const char *folder = args->operand_count > 1 ? args->operands[1] : "scenarios";
    int code = EXIT_PASS;
    if (!topic)
        return refuse_topic(args->operands[0]);
    if (args->operand_count > 1 && !topic->takes_folder)
        return command_usage(&command_list, "`%s` is too much: only scenarios are in a folder",
                             folder);
    if (topic->takes_folder)
        code = gather(&list_gathered, &folder, 1, NULL);
    if (code == EXIT_PASS)
        show(topic, list->json);
    gather_release(&list_gathered);
    return code;
}

const struct command command_list = {
    .name = "list",
    .about = "what there is: scenarios [FOLDER], faults, invariants, strategies, weaknesses",
    .operands = {"TOPIC", 1, 2, "scenarios [FOLDER], faults, invariants, strategies or weaknesses"},
    .options = list_options,
    .option_count = FP_COUNT(list_options),
    .config_size = sizeof(struct list_config),
    .run = list_run,
};
