#include "reports/progress.h"

#include <inttypes.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMN_COUNT_DEFAULT 80

void progress_init(struct progress *progress, FILE *file, bool is_terminal)
{
    *progress = (struct progress){.file = file, .is_terminal = is_terminal};
}

static void put_left(struct strbuf *out, int64_t left_ns)
{
    int64_t left_s = (left_ns + NS_PER_S - 1) / NS_PER_S;
    if (left_s >= 3600)
        strbuf_printf(out, "  %" PRId64 ":%02" PRId64 ":%02" PRId64 " left", left_s / 3600,
                      left_s / 60 % 60, left_s % 60);
    else
        strbuf_printf(out, "  %" PRId64 ":%02" PRId64 " left", left_s / 60, left_s % 60);
}

void progress_line(const struct campaign_progress *now, struct strbuf *out)
{
    strbuf_printf(out, "  %" PRId64 "/%" PRId64 " seeds  %.0f/s  %" PRId64 " violation%s",
                  now->done_count, now->total_count, now->seeds_per_s, now->violation_count,
                  now->violation_count == 1 ? "" : "s");
    if (now->expected_count > 0)
        strbuf_printf(out, "  %" PRId64 " expected", now->expected_count);
    if (now->diverged_count > 0)
        strbuf_printf(out, "  %" PRId64 " diverged", now->diverged_count);
    if (now->left_ns >= 0)
        put_left(out, now->left_ns);
    if (now->scenario)
        strbuf_printf(out, "  %s", now->scenario);
}

/* A line that wraps could not be rewritten. */
static int column_count(FILE *file)
{
    struct winsize size;
    if (ioctl(fileno(file), TIOCGWINSZ, &size) != 0 || size.ws_col < 2)
        return COLUMN_COUNT_DEFAULT - 1;
    return size.ws_col - 1;
}

void progress_watch(void *self, const struct campaign_progress *now)
{
    struct progress *progress = self;
    int64_t interval_ns = progress->is_terminal ? PROGRESS_INTERVAL_NS : PROGRESS_PLAIN_INTERVAL_NS;
    int64_t since_ns = now->elapsed_ns - progress->shown_ns;
    if (since_ns < interval_ns)
        return;
    struct strbuf line = STRBUF_INIT;
    progress_line(now, &line);
    if (progress->is_terminal)
        fprintf(progress->file, "\r\033[K%.*s", column_count(progress->file), strbuf_str(&line));
    else
        fprintf(progress->file, "%s\n", strbuf_str(&line));
    fflush(progress->file);
    strbuf_release(&line);
    progress->is_drawn = true;
    progress->shown_ns = now->elapsed_ns;
}

void progress_end(struct progress *progress)
{
    if (!progress->is_terminal || !progress->is_drawn)
        return;
    fputs("\r\033[K", progress->file);
    fflush(progress->file);
    progress->is_drawn = false;
}
