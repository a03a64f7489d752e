/* How long until it is known that a step is blocked: ours against PostgreSQL's isolationtester. */
#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/core/realtime.h"
#include "sim/hunt/bench_internal.h"
#include "sim/hunt/median.h"
#include "sim/pg/session.h"
#include "sim/pg/spawn.h"
#include "sim/pg/tape.h"

#define STEP_COUNT 100
#define STEP_COUNT_QUICK 25
#define ROUND_COUNT 3
#define TESTER_TIMEOUT_NS (120 * NS_PER_S)
#define TESTER_LOOK_MS 50

#define TABLE_SQL                                                                                  \
    "CREATE TABLE bench_row (id integer PRIMARY KEY, n integer NOT NULL);"                         \
    "INSERT INTO bench_row VALUES (1, 0)"
#define UPDATE_SQL "UPDATE bench_row SET n = n + 1 WHERE id = 1"

/* ---- isolationtester ---- */

static bool take_executable(const char *path, struct strbuf *tester)
{
    if (access(path, X_OK) != 0)
        return false;
    strbuf_puts(tester, path);
    return true;
}

/* `pg_config --pgxs` names a makefile; the tester is installed two folders above it. */
static bool ask_pg_config(const char *program, struct strbuf *tester)
{
    const char *const argv[] = {program, "--pgxs", NULL};
    struct spawn spawn = {
        .argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1, .cpu = -1};
    struct strbuf output = STRBUF_INIT, ignored = STRBUF_INIT;
    bool found = access(program, X_OK) == 0 && spawn_capture(&spawn, &output, &ignored) == ERR_OK &&
                 output.size > 0;
    if (found) {
        output.text[strcspn(output.text, "\n")] = '\0';
        char *path = fp_format("%s/../../src/test/isolation/isolationtester", dirname(output.text));
        found = take_executable(path, tester);
        free(path);
    }
    strbuf_release(&output);
    strbuf_release(&ignored);
    return found;
}

static bool look_in_pattern(const char *pattern, struct strbuf *tester)
{
    glob_t paths;
    bool found = false;
    if (glob(pattern, 0, NULL, &paths) != 0)
        return false;
    for (size_t i = paths.gl_pathc; i > 0 && !found; i--)
        found = take_executable(paths.gl_pathv[i - 1], tester);
    globfree(&paths);
    return found;
}

/* The one of the same version as the server, when there is a choice. */
static bool find_tester(const struct bench *bench, struct strbuf *tester)
{
    struct strbuf dir = STRBUF_INIT, ignored = STRBUF_INIT;
    bool found = false;
    if (pg_find_binaries(bench->options->server.bin_dir, &dir, &ignored) == ERR_OK) {
        char *program = fp_format("%s/pg_config", strbuf_str(&dir));
        char *path =
            fp_format("%s/../lib/pgxs/src/test/isolation/isolationtester", strbuf_str(&dir));
        found = ask_pg_config(program, tester) || take_executable(path, tester);
        free(program);
        free(path);
    }
    strbuf_release(&dir);
    strbuf_release(&ignored);
    return found || ask_pg_config("/usr/bin/pg_config", tester) ||
           look_in_pattern("/usr/lib/postgresql/*/lib/pgxs/src/test/isolation/isolationtester",
                           tester);
}

static void put_spec(struct strbuf *spec, bool blocks, int step_count)
{
    strbuf_puts(spec, "session s1\nstep s1b { BEGIN; }\nstep s1u { " UPDATE_SQL "; }\n"
                      "step s1c { COMMIT; }\nsession s2\nstep s2u { " UPDATE_SQL "; }\n");
    for (int i = 0; i < step_count; i++)
        strbuf_puts(spec,
                    blocks ? "permutation s1b s1u s2u s1c\n" : "permutation s1b s1u s1c s2u\n");
}

/* The specification in memory, ready to be read as a file. -1 with the figure's reason. */
static int spec_file(struct bench_figure *figure, bool blocks, int step_count)
{
    struct strbuf spec = STRBUF_INIT;
    put_spec(&spec, blocks, step_count);
    int fd = memfd_create("bench", MFD_CLOEXEC);
    bool good = fd >= 0 && write(fd, spec.text, spec.size) == (ssize_t)spec.size &&
                lseek(fd, 0, SEEK_SET) == 0;
    strbuf_release(&spec);
    if (good)
        return fd;
    strbuf_printf(&figure->reason, "cannot write a specification: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Ends it when it takes too long or somebody wants to stop. Its exit status; -1: none. */
static int await_tester(struct bench *bench, pid_t pid)
{
    int status = -1;
    int64_t deadline_ns = realtime_ns() + TESTER_TIMEOUT_NS;
    while (!bench_is_interrupted(bench) && realtime_ns() < deadline_ns)
        if (spawn_wait(pid, TESTER_LOOK_MS, &status))
            return status;
    kill(pid, SIGKILL);
    (void)spawn_wait(pid, 5000, &status);
    return -1;
}

static enum bench_end run_tester(struct bench *bench, struct bench_figure *figure,
                                 const char *const *argv, int cpu, int stdin_fd, double *elapsed_ns)
{
    struct spawn spawn = {.argv = argv,
                          .stdin_fd = stdin_fd,
                          .stdout_fd = -1,
                          .stderr_fd = -1,
                          .cpu = cpu,
                          .death_signal = SIGKILL};
    pid_t pid;
    int64_t began_ns = realtime_ns();
    if (spawn_start(&spawn, &pid, &figure->reason) != ERR_OK)
        return BENCH_FAILED;
    int status = await_tester(bench, pid);
    *elapsed_ns = (double)(realtime_ns() - began_ns);
    if (bench_is_interrupted(bench))
        return BENCH_INTERRUPTED;
    if (status == 0)
        return BENCH_MEASURED;
    strbuf_printf(&figure->reason, "%s ended with ", argv[0]);
    spawn_status_text(status, &figure->reason);
    return BENCH_UNMEASURED;
}

static enum bench_end time_tester(struct bench *bench, struct bench_figure *figure,
                                  const char *tester, const char *conninfo, int cpu, bool blocks,
                                  int step_count, double *elapsed_ns)
{
    const char *const argv[] = {tester, conninfo, NULL};
    int fd = spec_file(figure, blocks, step_count);
    if (fd < 0)
        return BENCH_FAILED;
    enum bench_end end = run_tester(bench, figure, argv, cpu, fd, elapsed_ns);
    close(fd);
    return end;
}

/* ---- ours ---- */

static const struct rt_sql begin_sql = {"begin", "BEGIN", 0};
static const struct rt_sql update_sql = {"update", UPDATE_SQL, 0};
static const struct rt_sql commit_sql = {"commit", "COMMIT", 0};
static const char *const no_params[1] = {NULL};

/* One blocked step; the time from sending it to knowing. False: it went otherwise. */
static bool block_once(struct pg_lane *lane, struct pg_session *holder, struct pg_session *waiter,
                       int64_t *elapsed_ns)
{
    if (pg_session_send(holder, &begin_sql, no_params, 0) != PG_DONE ||
        pg_session_send(holder, &update_sql, no_params, 0) != PG_DONE)
        return false;
    int64_t began_ns = realtime_ns();
    enum pg_answer answer = pg_session_send(waiter, &update_sql, no_params, 0);
    *elapsed_ns += realtime_ns() - began_ns;
    if (answer != PG_BLOCKED)
        return false;
    return pg_session_send(holder, &commit_sql, no_params, 0) == PG_DONE &&
           pg_lane_settle(lane) == ERR_OK && pg_session_is_granted(waiter) &&
           pg_session_continue(waiter) == PG_DONE && pg_session_result(waiter)->ok;
}

static enum bench_end time_ours(struct bench *bench, struct bench_figure *figure,
                                struct pg_lane *lane, int step_count, double *elapsed_ns)
{
    struct pg_session *holder = pg_session_open(lane), *waiter = pg_session_open(lane);
    int64_t sum_ns = 0;
    bool good = holder && waiter;
    for (int i = 0; i < step_count && good; i++) {
        if (bench_is_interrupted(bench))
            return BENCH_INTERRUPTED;
        good = block_once(lane, holder, waiter, &sum_ns);
    }
    if (!good)
        return bench_fail(figure, "a step that must block did not, or did not go on");
    pg_session_close(holder);
    pg_session_close(waiter);
    *elapsed_ns = (double)sum_ns;
    return BENCH_MEASURED;
}

/* ---- both ---- */

static enum bench_end measure_rounds(struct bench *bench, struct bench_figure *figure,
                                     struct bench_lane *lane, const char *tester,
                                     const char *conninfo)
{
    int step_count = bench->options->quick ? STEP_COUNT_QUICK : STEP_COUNT;
    double ours_ns[ROUND_COUNT], blocking_ns[ROUND_COUNT], passing_ns[ROUND_COUNT];
    enum bench_end end = BENCH_MEASURED;
    for (int round = 0; round < ROUND_COUNT && end == BENCH_MEASURED; round++) {
        end = time_ours(bench, figure, lane->single.pg, step_count, &ours_ns[round]);
        if (end == BENCH_MEASURED)
            end = time_tester(bench, figure, tester, conninfo, lane->cpu, true, step_count,
                              &blocking_ns[round]);
        if (end == BENCH_MEASURED)
            end = time_tester(bench, figure, tester, conninfo, lane->cpu, false, step_count,
                              &passing_ns[round]);
    }
    if (end != BENCH_MEASURED)
        return end;
    double ours_us = median(ours_ns, ROUND_COUNT) / step_count / (double)NS_PER_US;
    double theirs_us = (median(blocking_ns, ROUND_COUNT) - median(passing_ns, ROUND_COUNT)) /
                       step_count / (double)NS_PER_US;
    if (theirs_us <= 0) {
        strbuf_puts(&figure->reason, "isolationtester was no slower with a blocked step: the "
                                     "machine is too busy to tell");
        return BENCH_UNMEASURED;
    }
    figure->value = ours_us / theirs_us;
    bench_detail(&figure->total, "steps", step_count, 0);
    bench_detail(&figure->total, "rounds", ROUND_COUNT, 0);
    bench_detail(&figure->total, "us_per_blocked_step", ours_us, 1);
    bench_detail(&figure->total, "us_per_blocked_step_isolationtester", theirs_us, 1);
    return BENCH_MEASURED;
}

static enum bench_end measure_in_lane(struct bench *bench, struct bench_figure *figure,
                                      struct bench_lane *lane, const char *tester)
{
    struct pg_lane *pg = lane->single.pg;
    struct pg_schema schema = {.schema_sql = TABLE_SQL};
    struct bare *bare = NULL;
    enum err err = pg_lane_install(pg, &schema, &figure->reason);
    if (err == ERR_OK)
        err = bare_open(pg, TABLE_SQL, &bare, &figure->reason);
    enum bench_end end = BENCH_FAILED;
    if (err == ERR_OK)
        end = measure_rounds(bench, figure, lane, tester, bare_admin_conninfo(bare));
    bare_close(bare);
    return end;
}

enum bench_end bench_blocked_step_ratio(struct bench *bench, struct bench_figure *figure)
{
    struct strbuf tester = STRBUF_INIT;
    struct bench_lane lane;
    enum bench_end end = BENCH_FAILED;
    if (!find_tester(bench, &tester)) {
        strbuf_puts(&figure->reason, "isolationtester is not installed; in Debian it is part of "
                                     "postgresql-server-dev-NN");
        return BENCH_UNMEASURED;
    }
    if (bench_lane_open(bench, figure, &lane)) {
        end = measure_in_lane(bench, figure, &lane, strbuf_str(&tester));
        bench_lane_close(&lane);
    }
    strbuf_release(&tester);
    return end;
}
