#include "reports/shrink.h"

#include <inttypes.h>

#include "reports/progress.h"
#include "sim/core/json_out.h"

static void put_size(struct strbuf *out, const struct shrink_size *size)
{
    strbuf_printf(out, "%zu parts, %" PRId64 " steps, %zu choices", size->part_count,
                  size->step_count, size->choice_count);
}

static int actor_count(const struct scenario *scenario)
{
    int count = 0;
    for (size_t i = 0; i < scenario->strategy->role_count; i++)
        count += scenario->role_counts[i];
    return count;
}

void report_shrink(const struct shrink_report *report, struct strbuf *out)
{
    const struct shrunk *shrunk = &report->shrunk;
    const struct shrink_progress *progress = &shrunk->progress;
    strbuf_puts(out, "from ");
    put_size(out, &progress->first);
    strbuf_puts(out, "\nto   ");
    put_size(out, &progress->best);
    strbuf_printf(out, ": %d actors, %zu faults\n", actor_count(shrunk->scenario),
                  shrunk->scenario->fault_count);
    strbuf_printf(out, "%" PRId64 " runs in %.1f s%s\n", progress->run_count,
                  (double)progress->elapsed_ns / (double)NS_PER_S,
                  shrunk->complete ? "" : ", then the time was over: it may become smaller yet");
    strbuf_printf(out, "%s, step %" PRId64 ": %s\n", shrunk->result.invariant->name,
                  shrunk->result.step, strbuf_str(&shrunk->result.sentence));
    strbuf_printf(out, "without any seed: ./fencepost run %s\n", report->scenario_file);
    strbuf_printf(out, "step by step:     ./fencepost replay %s\n", report->failure_file);
}

static void put_size_json(struct json_out *out, const char *key, const struct shrink_size *size)
{
    json_key(out, key);
    json_object_begin(out);
    json_put_int(out, "parts", (int64_t)size->part_count);
    json_put_int(out, "steps", size->step_count);
    json_put_int(out, "choices", (int64_t)size->choice_count);
    json_object_end(out);
}

void report_shrink_json(const struct shrink_report *report, struct strbuf *text)
{
    const struct shrunk *shrunk = &report->shrunk;
    struct json_out out;
    json_out_init(&out, text);
    json_object_begin(&out);
    put_size_json(&out, "from", &shrunk->progress.first);
    put_size_json(&out, "to", &shrunk->progress.best);
    json_put_int(&out, "actors", actor_count(shrunk->scenario));
    json_put_int(&out, "faults", (int64_t)shrunk->scenario->fault_count);
    json_put_int(&out, "runs", shrunk->progress.run_count);
    json_key(&out, "wall_s");
    json_double(&out, (double)shrunk->progress.elapsed_ns / (double)NS_PER_S, 3);
    json_key(&out, "complete");
    json_bool(&out, shrunk->complete);
    json_put_string(&out, "invariant", shrunk->result.invariant->name);
    json_put_int(&out, "step", shrunk->result.step);
    json_put_string(&out, "sentence", strbuf_str(&shrunk->result.sentence));
    json_put_string(&out, "failure", report->failure_file);
    json_put_string(&out, "scenario", report->scenario_file);
    json_object_end(&out);
    json_out_finish(&out);
    strbuf_putc(text, '\n');
}

void shrink_watcher_init(struct shrink_watcher *watcher, FILE *file, bool is_terminal)
{
    *watcher = (struct shrink_watcher){.file = file, .is_terminal = is_terminal};
}

void shrink_watcher_tell(void *self, const struct shrink_progress *progress)
{
    struct shrink_watcher *watcher = self;
    int64_t interval_ns = watcher->is_terminal ? PROGRESS_INTERVAL_NS : PROGRESS_PLAIN_INTERVAL_NS;
    if (progress->elapsed_ns - watcher->shown_ns < interval_ns)
        return;
    struct strbuf line = STRBUF_INIT;
    strbuf_printf(&line, "  shrinking: %" PRId64 " runs, ", progress->run_count);
    put_size(&line, &progress->best);
    fprintf(watcher->file, watcher->is_terminal ? "\r\033[K%s" : "%s\n", strbuf_str(&line));
    fflush(watcher->file);
    watcher->shown_ns = progress->elapsed_ns;
    watcher->is_drawn = watcher->is_terminal;
    strbuf_release(&line);
}

void shrink_watcher_end(struct shrink_watcher *watcher)
{
    if (watcher->is_drawn)
        fputs("\r\033[K", watcher->file);
    watcher->is_drawn = false;
}
