#include "sim/hunt/campaign.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/core/realtime.h"
#include "sim/hunt/cpu.h"
#include "sim/hunt/lane_process.h"
#include "sim/hunt/record.h"

#define WATCH_INTERVAL_NS (100 * NS_PER_MS)

struct lane_child {
    pid_t pid;
    int socket; /* -1: closed */
    struct record_reader reader;
};

struct campaign {
    const struct campaign_options *options;
    struct campaign_report *report;
    struct lane_shared *shared;
    struct lane_child lanes[CAMPAIGN_LANE_COUNT_MAX];
    /* Hashes by scenario and seed, so that the report does not depend on who came first. */
    uint64_t **hashes;
    struct campaign_progress progress;
    campaign_watch *watch;
    void *watch_self;
    int64_t began_ns, watched_ns;
};

/* ---- what comes back ---- */

/* The lowest seed of the worst kind. */
static void failure_take(struct campaign_failure *failure, const struct record *record,
                         enum failure_kind kind, const struct invariant *invariant)
{
    if (failure->found &&
        (failure->kind < kind || (failure->kind == kind && failure->seed <= record->seed)))
        return;
    failure->kind = kind;
    free(failure->sentence);
    failure->found = true;
    failure->seed = record->seed;
    failure->invariant = invariant;
    failure->step = record->step;
    failure->sentence = fp_strdup(record->sentence);
}

static void take_violation(struct campaign *campaign, struct campaign_scenario *item,
                           const struct record *record)
{
    FP_ASSERT(record->invariant_index < item->scenario->invariant_count);
    const struct invariant *invariant = item->scenario->invariants[record->invariant_index];
    item->by_invariant[record->invariant_index]++;
    enum failure_kind kind = failure_kind_of(item->scenario, RUN_VIOLATION, invariant);
    failure_take(&item->first_failure, record, kind, invariant);
    if (kind == FAILURE_EXPECTED)
        campaign->progress.expected_count++;
    else
        campaign->progress.violation_count++;
}

static void take_record(struct campaign *campaign, const struct record *record)
{
    FP_ASSERT(record->scenario_index < campaign->report->scenario_count);
    struct campaign_scenario *item = &campaign->report->scenarios[record->scenario_index];
    item->seed_count++;
    item->outcomes[record->outcome]++;
    item->checked_count += record->checked;
    campaign->hashes[record->scenario_index][record->seed - campaign->options->first_seed] =
        record->hash;
    run_counts_add(&item->counts, &record->counts);
    if (record->outcome == RUN_VIOLATION)
        take_violation(campaign, item, record);
    if (record->outcome == RUN_UNKNOWN || record->outcome == RUN_INFRASTRUCTURE)
        failure_take(&item->first_unknown, record, FAILURE_UNKNOWN, NULL);
    if (record->outcome == RUN_DIVERGED) {
        item->diverged_count++;
        campaign->progress.diverged_count++;
        failure_take(&item->first_divergence, record, FAILURE_UNKNOWN, NULL);
    }
    campaign->progress.done_count++;
    campaign->progress.scenario = item->scenario->name;
}

static void take_tally(struct tally **tally, const struct record *record)
{
    if (!*tally)
        *tally = tally_new();
    for (const char *line = record->sentence; *line != '\0';) {
        char key[TALLY_KEY_SIZE_MAX];
        char *name;
        int64_t count = strtoll(line, &name, 10);
        size_t size = strcspn(name, "\n");
        FP_ASSERT(name[0] == ' ' && name[size] == '\n' && size <= sizeof key);
        snprintf(key, sizeof key, "%.*s", (int)size - 1, name + 1);
        tally_add(*tally, key, count);
        line = name + size + 1;
    }
}

static void note_trouble(struct campaign *campaign, const char *text)
{
    struct campaign_report *report = campaign->report;
    report->lane_failed = true;
    if (report->trouble.size == 0)
        strbuf_puts(&report->trouble, text);
}

static void take_message(struct campaign *campaign, const struct record *record)
{
    struct campaign_scenario *item = &campaign->report->scenarios[record->scenario_index];
    switch (record->kind) {
    case RECORD_RUN:
        take_record(campaign, record);
        break;
    case RECORD_READY:
        record_take_environment(record->sentence, &campaign->report->environment);
        break;
    case RECORD_TROUBLE:
        note_trouble(campaign, record->sentence);
        break;
    case RECORD_REACHED:
        take_tally(&item->reached, record);
        break;
    case RECORD_MEASURED:
        take_tally(&item->measured, record);
        break;
    }
}

static void read_lane(struct campaign *campaign, struct lane_child *lane)
{
    struct record record;
    if (!record_fill(&lane->reader, lane->socket)) {
        if (!record_reader_is_empty(&lane->reader))
            note_trouble(campaign, "a lane died in the middle of a message");
        close(lane->socket);
        lane->socket = -1;
        return;
    }
    while (record_next(&lane->reader, &record))
        take_message(campaign, &record);
}

/* ---- watching ---- */

static void tell_watcher(struct campaign *campaign, bool always)
{
    int64_t now_ns = realtime_ns();
    if (!campaign->watch || (!always && now_ns - campaign->watched_ns < WATCH_INTERVAL_NS))
        return;
    campaign->watched_ns = now_ns;
    struct campaign_progress *progress = &campaign->progress;
    progress->elapsed_ns = now_ns - campaign->began_ns;
    double elapsed_s = (double)progress->elapsed_ns / (double)NS_PER_S;
    progress->seeds_per_s = elapsed_s > 0 ? (double)progress->done_count / elapsed_s : 0;
    progress->left_ns = -1;
    if (progress->done_count > 0) {
        int64_t per_seed_ns = progress->elapsed_ns / progress->done_count;
        progress->left_ns = per_seed_ns * (progress->total_count - progress->done_count);
    }
    int64_t budget_ns = campaign->options->time_ns - progress->elapsed_ns;
    if (campaign->options->time_ns > 0 && (progress->left_ns < 0 || budget_ns < progress->left_ns))
        progress->left_ns = budget_ns > 0 ? budget_ns : 0;
    campaign->watch(campaign->watch_self, progress);
}

static int open_lanes(struct campaign *campaign, struct pollfd *polls, int *which)
{
    int count = 0;
    for (int i = 0; i < campaign->report->lane_count; i++) {
        if (campaign->lanes[i].socket < 0)
            continue;
        polls[count] = (struct pollfd){.fd = campaign->lanes[i].socket, .events = POLLIN};
        which[count++] = i;
    }
    return count;
}

static void collect(struct campaign *campaign, const volatile bool *interrupted)
{
    struct pollfd polls[CAMPAIGN_LANE_COUNT_MAX];
    int which[CAMPAIGN_LANE_COUNT_MAX];
    for (;;) {
        int count = open_lanes(campaign, polls, which);
        if (count == 0)
            return;
        int ready = poll(polls, (nfds_t)count, 50);
        if (interrupted && *interrupted)
            campaign->shared->stop = true;
        for (int i = 0; ready > 0 && i < count; i++)
            if (polls[i].revents)
                read_lane(campaign, &campaign->lanes[which[i]]);
        tell_watcher(campaign, false);
    }
}

/* ---- lanes ---- */

static bool start_lane(struct campaign *campaign, const struct scenario *const *scenarios,
                       int index)
{
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return false;
    pid_t pid = fork();
    if (pid < 0) {
        close(sockets[0]);
        close(sockets[1]);
        return false;
    }
    if (pid == 0) {
        for (int i = 0; i < index; i++)
            close(campaign->lanes[i].socket);
        close(sockets[0]);
        lane_process(campaign->options, scenarios, campaign->report->scenario_count,
                     campaign->shared, index, sockets[1]);
        _exit(0);
    }
    close(sockets[1]);
    campaign->lanes[index] = (struct lane_child){.pid = pid, .socket = sockets[0]};
    return true;
}

static void end_lanes(struct campaign *campaign)
{
    for (int i = 0; i < campaign->report->lane_count; i++) {
        int status = 0;
        while (waitpid(campaign->lanes[i].pid, &status, 0) < 0 && errno == EINTR)
            continue;
        if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0) {
            char text[96];
            snprintf(text, sizeof text, "lane %d ended with %s %d", i + 1,
                     WIFSIGNALED(status) ? "signal" : "exit code",
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            note_trouble(campaign, text);
        }
        record_reader_release(&campaign->lanes[i].reader);
    }
}

static struct lane_shared *share(const struct campaign_options *options)
{
    struct lane_shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FP_ASSERT(shared != MAP_FAILED);
    for (size_t i = 0; i < FP_COUNT(shared->lowest_failure); i++)
        for (size_t kind = 0; kind < FAILURE_KIND_COUNT; kind++)
            shared->lowest_failure[i][kind] = UINT64_MAX;
    shared->lanes_to_start = options->lane_count;
    return shared;
}

static void run_lanes(struct campaign *campaign, const struct scenario *const *scenarios,
                      const volatile bool *interrupted)
{
    int lane_count = campaign->report->lane_count;
    campaign->report->lane_count = 0;
    for (int i = 0; i < lane_count; i++) {
        if (!start_lane(campaign, scenarios, i)) {
            note_trouble(campaign, "a lane could not be started");
            campaign->shared->stop = true;
            break;
        }
        campaign->report->lane_count++;
    }
    collect(campaign, interrupted);
    end_lanes(campaign);
}

int campaign_lane_count_default(void)
{
    int count = cpu_count();
    return count < CAMPAIGN_LANE_COUNT_MAX ? count : CAMPAIGN_LANE_COUNT_MAX;
}

/* ---- the report ---- */

void campaign_judge(struct campaign_scenario *item)
{
    int64_t found_count = 0, expected_count = 0;
    for (size_t i = 0; i < item->scenario->invariant_count; i++) {
        const struct invariant *invariant = item->scenario->invariants[i];
        if (invariant == item->scenario->expect_invariant)
            found_count = item->by_invariant[i];
        if (scenario_expects(item->scenario, invariant))
            expected_count += item->by_invariant[i];
    }
    bool clean = item->outcomes[RUN_DIVERGED] == 0 && item->outcomes[RUN_INFRASTRUCTURE] == 0 &&
                 item->seed_count > 0;
    if (item->scenario->expect == EXPECT_PASS)
        item->met = clean && item->outcomes[RUN_PASS] == item->seed_count;
    else
        item->met = clean && found_count > 0 && expected_count == item->outcomes[RUN_VIOLATION];
}

static uint64_t combine(const uint64_t *hashes, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum = (sum ^ hashes[i]) * UINT64_C(0x9e3779b97f4a7c15) + (sum >> 31);
    return sum;
}

static void find_file(const struct campaign *campaign, const struct scenario *scenario,
                      struct campaign_failure *failure)
{
    if (!campaign->options->out_dir || !failure->found)
        return;
    char *file =
        lane_failure_file(campaign->options->out_dir, scenario, failure->kind, failure->seed);
    if (access(file, R_OK) == 0)
        failure->file = file;
    else
        free(file);
}

static void finish_report(struct campaign *campaign)
{
    struct campaign_report *report = campaign->report;
    for (size_t i = 0; i < report->scenario_count; i++) {
        struct campaign_scenario *item = &report->scenarios[i];
        campaign_judge(item);
        item->hash = combine(campaign->hashes[i], campaign->options->seed_count);
        find_file(campaign, item->scenario, &item->first_failure);
        find_file(campaign, item->scenario, &item->first_unknown);
    }
    report->out_of_time = campaign->shared->out_of_time;
}

void campaign_report_init(struct campaign_report *report, const struct scenario *const *scenarios,
                          size_t scenario_count, int lane_count)
{
    memset(report, 0, sizeof *report);
    report->scenarios = fp_alloc(scenario_count * sizeof report->scenarios[0]);
    report->scenario_count = scenario_count;
    report->lane_count = lane_count;
    for (size_t i = 0; i < scenario_count; i++)
        report->scenarios[i].scenario = scenarios[i];
}

static void campaign_begin(struct campaign *campaign, const struct scenario *const *scenarios,
                           size_t scenario_count)
{
    campaign_report_init(campaign->report, scenarios, scenario_count,
                         campaign->options->lane_count);
    campaign->hashes = fp_alloc(scenario_count * sizeof campaign->hashes[0]);
    for (size_t i = 0; i < scenario_count; i++) {
        campaign->hashes[i] =
            fp_alloc(campaign->options->seed_count * sizeof campaign->hashes[i][0]);
    }
    for (size_t i = 0; i < scenario_count; i++)
        campaign->progress.total_count +=
            (int64_t)campaign_seed_count(campaign->options, scenarios[i]);
}

static void campaign_end(struct campaign *campaign)
{
    for (size_t i = 0; i < campaign->report->scenario_count; i++)
        free(campaign->hashes[i]);
    free(campaign->hashes);
    munmap(campaign->shared, sizeof *campaign->shared);
}

void campaign_run(const struct scenario *const *scenarios, size_t scenario_count,
                  const struct campaign_options *options, campaign_watch *watch, void *self,
                  const volatile bool *interrupted, struct campaign_report *report)
{
    FP_ASSERT(scenario_count > 0 && scenario_count <= CAMPAIGN_SCENARIO_COUNT_MAX);
    FP_ASSERT(options->lane_count > 0 && options->lane_count <= CAMPAIGN_LANE_COUNT_MAX);
    FP_ASSERT(options->seed_count > 0);
    struct campaign campaign = {
        .options = options, .report = report, .watch = watch, .watch_self = self};
    campaign.shared = share(options);
    campaign_begin(&campaign, scenarios, scenario_count);
    int64_t start_ns = realtime_ns();
    pg_remove_leftovers(&options->server);
    if (pg_template_make(&options->server, &report->trouble) != ERR_OK) {
        report->lane_failed = true;
    } else {
        campaign.began_ns = realtime_ns();
        run_lanes(&campaign, scenarios, interrupted);
        report->wall_ns = realtime_ns() - campaign.began_ns;
        /* The lanes wait for each other before the first seed; what came before is not campaign. */
        if (campaign.shared->first_seed_ns > campaign.began_ns)
            report->wall_ns = realtime_ns() - campaign.shared->first_seed_ns;
        report->start_ns = realtime_ns() - start_ns - report->wall_ns;
    }
    pg_template_remove();
    report->interrupted = interrupted && *interrupted;
    finish_report(&campaign);
    if (campaign.began_ns)
        tell_watcher(&campaign, true);
    campaign_end(&campaign);
}

static void failure_release(struct campaign_failure *failure)
{
    free(failure->sentence);
    free(failure->file);
    free(failure->small_file);
}

void campaign_report_release(struct campaign_report *report)
{
    for (size_t i = 0; i < report->scenario_count; i++) {
        failure_release(&report->scenarios[i].first_failure);
        failure_release(&report->scenarios[i].first_unknown);
        failure_release(&report->scenarios[i].first_divergence);
        tally_free(report->scenarios[i].reached);
        tally_free(report->scenarios[i].measured);
    }
    free(report->scenarios);
    strbuf_release(&report->trouble);
    memset(report, 0, sizeof *report);
}

int campaign_exit_code(const struct campaign_report *report)
{
    int64_t seed_count = 0;
    bool violated = false, unknown = false, infrastructure = report->lane_failed;
    for (size_t i = 0; i < report->scenario_count; i++) {
        const struct campaign_scenario *item = &report->scenarios[i];
        seed_count += item->seed_count;
        if (item->diverged_count > 0)
            return EXIT_HARNESS_BUG;
        if (item->outcomes[RUN_INFRASTRUCTURE] > 0)
            infrastructure = true;
        if (item->met || item->seed_count == 0)
            continue;
        if (item->scenario->expect == EXPECT_PASS && item->outcomes[RUN_VIOLATION] == 0)
            unknown = true;
        else
            violated = true;
    }
    if (report->interrupted)
        return EXIT_INTERRUPTED;
    if (infrastructure)
        return EXIT_INFRASTRUCTURE;
    if (violated)
        return EXIT_VIOLATION;
    if (unknown)
        return EXIT_UNKNOWN;
    return seed_count == 0 ? EXIT_NOTHING_RAN : EXIT_PASS;
}
