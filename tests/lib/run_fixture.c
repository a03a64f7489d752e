#include "tests/lib/run_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/pg_fixture.h"

struct run_lane *runs;
struct run_result result;

int open_runs(void **state)
{
    if (pg_fixture_open(state) != 0)
        return -1;
    runs = run_lane_new(pg_fixture_lane());
    run_result_init(&result);
    return 0;
}

int close_runs(void **state)
{
    run_result_release(&result);
    run_lane_free(runs);
    return pg_fixture_close(state);
}

struct scenario *install(struct scenario *scenario, struct diags *diags)
{
    struct strbuf text = STRBUF_INIT;
    if (!scenario) {
        diags_print(diags, &text);
        fail_msg("%s", strbuf_str(&text));
    }
    if (run_lane_install(runs, scenario, &text) != ERR_OK)
        fail_msg("%s", strbuf_str(&text));
    diags_release(diags);
    return scenario;
}

struct scenario *load(const char *name, const char *override)
{
    struct diags diags;
    char path[128];
    snprintf(path, sizeof path, "scenarios/job_locks/%s.yaml", name);
    diags_init(&diags, path);
    return install(scenario_load_with(path, &override, override ? 1 : 0, &diags), &diags);
}

struct scenario *load_fault(const char *fault)
{
    struct diags diags;
    char text[1024];
    snprintf(text, sizeof text,
             "scenario: one-fault\nabout: one fault\nstrategy: job_locks\n"
             "topology: {workers: 1, janitors: 1}\n"
             "workload:\n  clusters: [{name: demo}]\n"
             "  jobs: [{type: CREATE, cluster: demo}]\n"
             "faults:\n  - %s\n"
             "scheduling: {slowness: 0}\nexpect: pass\n",
             fault);
    diags_init(&diags, "one-fault");
    return install(scenario_parse("one-fault", text, strlen(text), &diags), &diags);
}

void run_seed(const struct scenario *scenario, uint64_t seed)
{
    run_one(runs, scenario, seed, NULL, &result);
    if (result.outcome == RUN_INFRASTRUCTURE)
        fail_msg("seed %d: %s", (int)seed, strbuf_str(&result.sentence));
}

const char *lines(void)
{
    return strbuf_str(trace_lines(run_lane_trace(runs)));
}

int count(const char *needle)
{
    int found_count = 0;
    for (const char *at = lines(); (at = strstr(at, needle)); at += strlen(needle))
        found_count++;
    return found_count;
}

const char *find(const char *first, const char *second)
{
    static char line[2048];
    for (const char *at = lines(); *at; at = strchr(at, '\n') + 1) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        if (strstr(line, first) && strstr(line, second))
            return line;
    }
    return NULL;
}

int64_t time_of(const char *first, const char *second)
{
    const char *line = find(first, second);
    if (!line)
        fail_msg("no line with %s and %s", first, second);
    return strtoll(strstr(line, "\"t\":") + strlen("\"t\":"), NULL, 10);
}
