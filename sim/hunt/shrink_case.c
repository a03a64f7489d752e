#include "sim/hunt/shrink_case.h"

#include <stdlib.h>
#include <string.h>

#include "sim/core/realtime.h"
#include "sim/scenario/edit.h"

/* A name has 64 characters at most, and gets "-small" behind it. */
#define SMALL_NAME_SIZE_MAX 58

struct shrinker {
    struct single *single;
    struct shrink_options options;
    char *file;                        /* the scenario's */
    const struct invariant *invariant; /* that must break */
    char kind[TRACE_KIND_SIZE_MAX];
    int64_t begin_ns;
    struct shrink_progress progress;
    /* The best so far. */
    struct strbuf text;
    struct scenario *scenario;
    struct streams streams;
};

/* ---- streams ---- */

static void streams_add(struct streams *streams, const char *name, const uint32_t *values,
                        size_t count)
{
    streams->list = fp_realloc(streams->list, (streams->count + 1) * sizeof streams->list[0]);
    struct scenario_stream *added = &streams->list[streams->count++];
    added->name = fp_strdup(name);
    added->value_count = count;
    added->values = fp_alloc((count + 1) * sizeof added->values[0]);
    if (count > 0)
        memcpy(added->values, values, count * sizeof values[0]);
}

void streams_copy(struct streams *to, const struct streams *from)
{
    *to = (struct streams){0};
    for (size_t i = 0; i < from->count; i++)
        streams_add(to, from->list[i].name, from->list[i].values, from->list[i].value_count);
}

void streams_release(struct streams *streams)
{
    for (size_t i = 0; i < streams->count; i++) {
        free(streams->list[i].name);
        free(streams->list[i].values);
    }
    free(streams->list);
    *streams = (struct streams){0};
}

/* What the last run chose, without the zeros at the end of each stream. */
static void streams_of_run(struct streams *streams, const struct choices *choices)
{
    *streams = (struct streams){0};
    for (size_t i = 0; i < choices_stream_count(choices); i++) {
        size_t count;
        const uint32_t *values = choices_values(choices, i, &count);
        while (count > 0 && values[count - 1] == 0)
            count--;
        streams_add(streams, choices_stream_name(choices, i), values, count);
    }
}

/* ---- size ---- */

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

int shrink_size_compare(const struct shrink_size *a, const struct shrink_size *b)
{
    int order = compare(a->part_count, b->part_count);
    if (order == 0)
        order = compare((uint64_t)a->step_count + a->choice_count,
                        (uint64_t)b->step_count + b->choice_count);
    return order != 0 ? order : compare(a->choice_sum, b->choice_sum);
}

static size_t count_parts(const struct scenario *scenario)
{
    size_t count = scenario->fault_count + (size_t)scenario->standby_count;
    for (size_t i = 0; i < scenario->strategy->role_count; i++)
        count += (size_t)scenario->role_counts[i];
    for (size_t i = 0; i < scenario->strategy->workload_count; i++)
        count += (size_t)workload_count(scenario->workload, scenario->strategy->workload[i].name);
    return count;
}

static struct shrink_size size_of(const struct scenario *scenario, const struct streams *streams,
                                  int64_t step_count)
{
    struct shrink_size size = {.part_count = count_parts(scenario), .step_count = step_count};
    for (size_t i = 0; i < streams->count; i++) {
        for (size_t v = 0; v < streams->list[i].value_count; v++) {
            size.choice_count += streams->list[i].values[v] != 0;
            size.choice_sum += streams->list[i].values[v];
        }
    }
    return size;
}

/* ---- running ---- */

bool shrinker_is_over(const struct shrinker *shrinker)
{
    const struct shrink_options *options = &shrinker->options;
    if (options->interrupted != NULL && *options->interrupted)
        return true;
    return options->time_ns > 0 && realtime_ns() - shrinker->begin_ns > options->time_ns;
}

static struct scenario *parse(const struct shrinker *shrinker, const char *text)
{
    struct diags *diags = fp_alloc(sizeof *diags);
    diags_init(diags, shrinker->file);
    struct scenario *scenario = scenario_parse(shrinker->file, text, strlen(text), diags);
    diags_release(diags);
    free(diags);
    return scenario;
}

static void run_with(struct shrinker *shrinker, const struct scenario *scenario,
                     const struct streams *streams, uint64_t seed, struct run_result *result)
{
    struct replay_stream *list = NULL;
    struct run_replay replay = {.zero_others = true};
    if (streams != NULL) {
        list = fp_alloc((streams->count + 1) * sizeof list[0]);
        for (size_t i = 0; i < streams->count; i++)
            list[i] = (struct replay_stream){streams->list[i].name, streams->list[i].values,
                                             streams->list[i].value_count};
        replay.streams = list;
        replay.stream_count = streams->count;
    }
    single_run(shrinker->single, scenario, streams != NULL ? 0 : seed,
               streams != NULL ? &replay : NULL, result);
    shrinker->progress.run_count++;
    free(list);
}

static bool fails_alike(const struct shrinker *shrinker, const struct run_result *result)
{
    return result->outcome == RUN_VIOLATION && result->invariant == shrinker->invariant &&
           strcmp(result->kind, shrinker->kind) == 0;
}

static void tell(struct shrinker *shrinker)
{
    shrinker->progress.elapsed_ns = realtime_ns() - shrinker->begin_ns;
    if (shrinker->options.watch != NULL)
        shrinker->options.watch(shrinker->options.watch_self, &shrinker->progress);
}

/* Takes over `scenario` and what the last run chose. */
static void make_best(struct shrinker *shrinker, const char *text, struct scenario *scenario,
                      struct streams *streams, const struct shrink_size *size)
{
    struct strbuf copy = STRBUF_INIT;
    strbuf_puts(&copy, text); /* may be the text of the former best */
    strbuf_release(&shrinker->text);
    scenario_free(shrinker->scenario);
    streams_release(&shrinker->streams);
    shrinker->text = copy;
    shrinker->scenario = scenario;
    shrinker->streams = *streams;
    shrinker->progress.best = *size;
}

bool shrinker_try(struct shrinker *shrinker, const char *text, const struct streams *streams,
                  uint64_t seed)
{
    struct scenario *scenario = shrinker_is_over(shrinker) ? NULL : parse(shrinker, text);
    if (scenario == NULL)
        return false;
    struct run_result result;
    struct streams chosen = {0};
    bool better = false;
    run_result_init(&result);
    run_with(shrinker, scenario, streams, seed, &result);
    if (fails_alike(shrinker, &result)) {
        streams_of_run(&chosen, run_lane_choices(shrinker->single->runs));
        struct shrink_size size = size_of(scenario, &chosen, result.step);
        better = shrink_size_compare(&size, &shrinker->progress.best) < 0;
        if (better)
            make_best(shrinker, text, scenario, &chosen, &size);
    }
    if (!better) {
        scenario_free(scenario);
        streams_release(&chosen);
    }
    run_result_release(&result);
    tell(shrinker);
    return better;
}

/* ---- begin and end ---- */

/* The text with what --set had put into it. */
static bool put_overrides(const struct failure *failure, struct strbuf *text, struct strbuf *why)
{
    strbuf_puts(text, failure->scenario_source);
    for (size_t i = 0; i < failure->override_count; i++) {
        struct strbuf changed = STRBUF_INIT;
        if (!edit_set(strbuf_str(text), failure->overrides[i], &changed)) {
            strbuf_printf(why, "%s: --set %s cannot be applied any more", failure->file,
                          failure->overrides[i]);
            strbuf_release(&changed);
            return false;
        }
        strbuf_release(text);
        *text = changed;
    }
    return true;
}

/* What priorities have decided is among the choices. */
static bool put_drawn(struct strbuf *text)
{
    struct strbuf changed = STRBUF_INIT;
    if (strstr(strbuf_str(text), "pct") == NULL)
        return true;
    bool good = edit_set(strbuf_str(text), "scheduling.pct=0", &changed);
    strbuf_release(text);
    *text = changed;
    return good;
}

static bool run_first(struct shrinker *shrinker, const struct failure *failure, struct strbuf *why)
{
    struct run_result result;
    struct run_replay replay = {
        .streams = failure->streams, .stream_count = failure->stream_count, .zero_others = true};
    run_result_init(&result);
    single_run(shrinker->single, shrinker->scenario, failure->seed, &replay, &result);
    bool good = result.outcome == RUN_VIOLATION && failure->invariant != NULL &&
                strcmp(result.invariant->name, failure->invariant) == 0;
    if (good) {
        shrinker->invariant = result.invariant;
        memcpy(shrinker->kind, result.kind, sizeof shrinker->kind);
        streams_of_run(&shrinker->streams, run_lane_choices(shrinker->single->runs));
        shrinker->progress.first = size_of(shrinker->scenario, &shrinker->streams, result.step);
        shrinker->progress.best = shrinker->progress.first;
    } else {
        strbuf_printf(why, "%s: it does not break %s any more, but gives %s: %s", failure->file,
                      failure->invariant != NULL ? failure->invariant : "an invariant",
                      run_outcome_name(result.outcome), strbuf_str(&result.sentence));
    }
    run_result_release(&result);
    return good;
}

static void shrinker_free(struct shrinker *shrinker)
{
    strbuf_release(&shrinker->text);
    scenario_free(shrinker->scenario);
    streams_release(&shrinker->streams);
    free(shrinker->file);
    free(shrinker);
}

struct shrinker *shrinker_new(struct single *single, const struct failure *failure,
                              const struct shrink_options *options, struct strbuf *why)
{
    struct shrinker *shrinker = fp_alloc(sizeof *shrinker);
    shrinker->single = single;
    shrinker->options = *options;
    shrinker->file = fp_strdup(failure->scenario_file);
    shrinker->begin_ns = realtime_ns();
    bool good = put_overrides(failure, &shrinker->text, why) && put_drawn(&shrinker->text);
    if (good) {
        shrinker->scenario = parse(shrinker, strbuf_str(&shrinker->text));
        good = shrinker->scenario != NULL;
        if (!good)
            strbuf_printf(why, "%s: the scenario inside is not one for this fencepost",
                          failure->file);
    }
    if (good && run_first(shrinker, failure, why))
        return shrinker;
    shrinker_free(shrinker);
    return NULL;
}

const char *shrinker_text(const struct shrinker *shrinker)
{
    return strbuf_str(&shrinker->text);
}

const struct scenario *shrinker_scenario(const struct shrinker *shrinker)
{
    return shrinker->scenario;
}

const struct streams *shrinker_streams(const struct shrinker *shrinker)
{
    return &shrinker->streams;
}

bool shrinker_end(struct shrinker *shrinker, bool complete, struct shrunk *out, struct strbuf *why)
{
    struct run_result result;
    run_result_init(&result);
    run_with(shrinker, shrinker->scenario, &shrinker->streams, 0, &result);
    bool good = fails_alike(shrinker, &result);
    if (good) {
        tell(shrinker);
        *out = (struct shrunk){.text = shrinker->text,
                               .scenario = shrinker->scenario,
                               .streams = shrinker->streams.list,
                               .stream_count = shrinker->streams.count,
                               .result = result,
                               .progress = shrinker->progress,
                               .complete = complete};
        strbuf_init(&shrinker->text);
        shrinker->scenario = NULL;
        shrinker->streams = (struct streams){0};
    } else {
        strbuf_printf(why, "the smallest run does not fail a second time: %s: %s",
                      run_outcome_name(result.outcome), strbuf_str(&result.sentence));
        run_result_release(&result);
    }
    shrinker_free(shrinker);
    return good;
}

void shrunk_release(struct shrunk *shrunk)
{
    struct streams streams = {shrunk->streams, shrunk->stream_count};
    strbuf_release(&shrunk->text);
    scenario_free(shrunk->scenario);
    streams_release(&streams);
    run_result_release(&shrunk->result);
}

/* A name of its own, so that what its runs leave behind does not replace what the large one left.
 */
static void put_name(const struct shrunk *shrunk, struct strbuf *out)
{
    char *assignment =
        fp_format("scenario=%.*s-small", SMALL_NAME_SIZE_MAX, shrunk->scenario->name);
    bool good = edit_set(strbuf_str(&shrunk->text), assignment, out);
    FP_ASSERT(good);
    free(assignment);
}

void shrunk_write(const struct shrunk *shrunk, struct strbuf *out)
{
    struct strbuf named = STRBUF_INIT;
    put_name(shrunk, &named);
    bool good = edit_choices(strbuf_str(&named), shrunk->streams, shrunk->stream_count, out);
    FP_ASSERT(good);
    strbuf_release(&named);
}
