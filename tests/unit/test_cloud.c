#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/world/cloud.h"

#define MIN NS_PER_MIN
#define LONG_AFTER (10 * NS_PER_HOUR)

struct fixture {
    struct cloud *cloud;
    struct choices *choices;
    struct choice_stream *stream; /* all draws are 0: every call takes its shortest time */
    int64_t done_ids[16];
    enum err done_errs[16];
    int done_count;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct cloud_config config = cloud_config_default();

    memset(&fixture, 0, sizeof(fixture));
    fixture.cloud = cloud_new(&config);
    fixture.choices = choices_new(1);
    choices_replay(fixture.choices, "world", NULL, 0);
    fixture.stream = choices_stream(fixture.choices, "world");
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    cloud_free(fixture->cloud);
    choices_free(fixture->choices);
    return 0;
}

static struct rt_cloud_request request(enum rt_cloud_op op, const char *part, int64_t token)
{
    return (struct rt_cloud_request){
        .op = op,
        .name = "demo",
        .platform = "aws",
        .base_domain = "example.org",
        .part = part,
        .claim = {.cluster_id = "c1", .job_id = "j1", .run = 7, .token = token},
    };
}

static enum err begin_fault(struct fixture *fixture, int64_t now_ns,
                            const struct rt_cloud_request *what, enum cloud_fault fault,
                            struct cloud_call *call)
{
    return cloud_begin(fixture->cloud, now_ns, what, "worker-1.1", fixture->stream, fault, call);
}

static enum err begin(struct fixture *fixture, int64_t now_ns, enum rt_cloud_op op,
                      const char *part, int64_t token, struct cloud_call *call)
{
    struct rt_cloud_request what = request(op, part, token);

    return begin_fault(fixture, now_ns, &what, CLOUD_FAULT_NONE, call);
}

static enum err finish(struct fixture *fixture, const struct cloud_call *call)
{
    struct rt_cloud_reply reply;

    return cloud_finish(fixture->cloud, call->answer_ns, call->id, &reply);
}

/* Begin and wait for the answer; gives back when it came. */
static int64_t must_do(struct fixture *fixture, int64_t now_ns, enum rt_cloud_op op,
                       const char *part)
{
    struct cloud_call call;

    assert_int_equal(begin(fixture, now_ns, op, part, 0, &call), ERR_OK);
    assert_int_equal(finish(fixture, &call), ERR_OK);
    return call.answer_ns;
}

static struct rt_cloud_reply look(struct fixture *fixture, int64_t now_ns)
{
    struct cloud_call call;
    struct rt_cloud_reply reply;

    assert_int_equal(begin(fixture, now_ns, RT_CLOUD_LOOK, NULL, 0, &call), ERR_OK);
    assert_int_equal(cloud_finish(fixture->cloud, call.answer_ns, call.id, &reply), ERR_OK);
    return reply;
}

static const struct cloud_resource *demo(struct fixture *fixture)
{
    return cloud_resource_find(fixture->cloud, "demo", "aws", "example.org");
}

static void test_cloud_parts_are_in_building_order(void **state)
{
    static const char *const names[] = {"network", "dns", "control-plane", "workers", "ingress"};

    (void)state;
    assert_int_equal(CLOUD_PART_COUNT, FP_COUNT(names));
    for (int part = 0; part < CLOUD_PART_COUNT; part++) {
        assert_string_equal(cloud_part_name(part), names[part]);
        assert_int_equal(cloud_part_find(names[part]), part);
    }
    assert_int_equal(cloud_part_find("moat"), -1);
    assert_int_equal(cloud_part_find(NULL), -1);
}

static void test_cloud_create_takes_minutes_and_has_no_effect_before(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_call call;

    assert_int_equal(begin(fixture, 100, RT_CLOUD_CREATE, "network", 0, &call), ERR_OK);
    assert_int_equal(call.begin_ns, 100);
    assert_int_equal(call.end_ns, 100 + 2 * MIN);
    assert_int_equal(call.answer_ns, call.end_ns);
    assert_int_equal(cloud_next_end_ns(fixture->cloud), call.end_ns);
    cloud_advance(fixture->cloud, call.end_ns - 1);
    assert_int_equal(cloud_present_count(demo(fixture)), 0);
    assert_int_equal(cloud_running_count(fixture->cloud), 1);
    assert_int_equal(finish(fixture, &call), ERR_OK);
    assert_int_equal(cloud_present_count(demo(fixture)), 1);
    assert_int_equal(cloud_next_end_ns(fixture->cloud), -1);
}

static void test_cloud_duration_follows_the_choice(void **state)
{
    struct fixture *fixture = *state;
    const uint32_t longest[] = {8};
    struct cloud_call call;

    choices_reset(fixture->choices, 1);
    choices_replay(fixture->choices, "long", longest, 1);
    fixture->stream = choices_stream(fixture->choices, "long");
    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "control-plane", 0, &call), ERR_OK);
    assert_int_equal(call.end_ns, 20 * MIN);
}

static void test_cloud_part_remembers_who_made_it(void **state)
{
    struct fixture *fixture = *state;
    int64_t end_ns = must_do(fixture, 5, RT_CLOUD_CREATE, "dns");
    const struct cloud_part *part = &demo(fixture)->parts[CLOUD_DNS];

    assert_true(part->present);
    assert_int_equal(part->since_ns, end_ns);
    assert_string_equal(part->by.cluster_id, "c1");
    assert_string_equal(part->by.job_id, "j1");
    assert_string_equal(part->by.instance, "worker-1.1");
    assert_int_equal(part->by.run, 7);
}

static void test_cloud_create_of_present_part_exists(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_call call;
    int64_t now_ns = must_do(fixture, 0, RT_CLOUD_CREATE, "network");

    assert_int_equal(begin(fixture, now_ns, RT_CLOUD_CREATE, "network", 0, &call),
                     ERR_CLOUD_EXISTS);
    assert_int_equal(call.id, 0);
    assert_int_equal(begin(fixture, now_ns, RT_CLOUD_CREATE, "dns", 0, &call), ERR_OK);
}

static void test_cloud_create_of_part_being_created_exists(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_call call, second;

    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "network", 0, &call), ERR_OK);
    assert_int_equal(begin(fixture, 1, RT_CLOUD_CREATE, "network", 0, &second), ERR_CLOUD_EXISTS);
}

static void test_cloud_same_part_of_other_key_is_another(void **state)
{
    struct fixture *fixture = *state;
    struct rt_cloud_request what = request(RT_CLOUD_CREATE, "network", 0);
    struct cloud_call call;

    must_do(fixture, 0, RT_CLOUD_CREATE, "network");
    what.base_domain = "example.net";
    assert_int_equal(begin_fault(fixture, LONG_AFTER, &what, CLOUD_FAULT_NONE, &call), ERR_OK);
    what = request(RT_CLOUD_CREATE, "network", 0);
    what.platform = "gcp";
    assert_int_equal(begin_fault(fixture, LONG_AFTER, &what, CLOUD_FAULT_NONE, &call), ERR_OK);
    what = request(RT_CLOUD_CREATE, "network", 0);
    what.name = "other";
    assert_int_equal(begin_fault(fixture, LONG_AFTER, &what, CLOUD_FAULT_NONE, &call), ERR_OK);
    assert_int_equal(cloud_resource_count(fixture->cloud), 4);
    assert_string_equal(cloud_resource(fixture->cloud, 0)->name, "demo");
    assert_string_equal(cloud_resource(fixture->cloud, 1)->base_domain, "example.net");
    assert_string_equal(cloud_resource(fixture->cloud, 3)->name, "other");
}

static void test_cloud_same_key_for_other_cluster_id_is_the_same_resource(void **state)
{
    struct fixture *fixture = *state;
    struct rt_cloud_request what = request(RT_CLOUD_CREATE, "network", 0);
    struct cloud_call call;

    must_do(fixture, 0, RT_CLOUD_CREATE, "network");
    what.claim.cluster_id = "c2";
    assert_int_equal(begin_fault(fixture, LONG_AFTER, &what, CLOUD_FAULT_NONE, &call),
                     ERR_CLOUD_EXISTS);
}

static void test_cloud_destroy_removes_part_at_its_end(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_call call;
    int64_t now_ns = must_do(fixture, 0, RT_CLOUD_CREATE, "network");

    assert_int_equal(begin(fixture, now_ns, RT_CLOUD_DESTROY, "network", 0, &call), ERR_OK);
    cloud_advance(fixture->cloud, call.end_ns - 1);
    assert_true(demo(fixture)->parts[CLOUD_NETWORK].present);
    assert_int_equal(finish(fixture, &call), ERR_OK);
    assert_false(demo(fixture)->parts[CLOUD_NETWORK].present);
    assert_int_equal(demo(fixture)->parts[CLOUD_NETWORK].since_ns, call.end_ns);
}

static void test_cloud_destroy_of_missing_part_is_absent(void **state)
{
    struct cloud_call call;

    assert_int_equal(begin(*state, 0, RT_CLOUD_DESTROY, "network", 0, &call), ERR_CLOUD_ABSENT);
}

static void test_cloud_destroy_while_being_created_is_absent_and_part_stays(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_call create, destroy;

    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "network", 0, &create), ERR_OK);
    assert_int_equal(begin(fixture, 1, RT_CLOUD_DESTROY, "network", 0, &destroy), ERR_CLOUD_ABSENT);
    assert_int_equal(finish(fixture, &create), ERR_OK);
    assert_int_equal(cloud_present_count(demo(fixture)), 1);
}

static void test_cloud_two_destroys_overlap_and_the_later_finds_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_call first, second;
    int64_t now_ns = must_do(fixture, 0, RT_CLOUD_CREATE, "network");

    assert_int_equal(begin(fixture, now_ns, RT_CLOUD_DESTROY, "network", 0, &first), ERR_OK);
    assert_int_equal(begin(fixture, now_ns + 1, RT_CLOUD_DESTROY, "network", 0, &second), ERR_OK);
    assert_int_equal(cloud_running_count(fixture->cloud), 2);
    assert_int_equal(finish(fixture, &first), ERR_OK);
    assert_int_equal(finish(fixture, &second), ERR_CLOUD_ABSENT);
}

static void test_cloud_scale_sets_worker_count(void **state)
{
    struct fixture *fixture = *state;
    struct rt_cloud_request what = request(RT_CLOUD_SCALE, NULL, 0);
    struct cloud_call call;
    struct rt_cloud_reply reply;
    int64_t now_ns;

    what.count = 5;
    assert_int_equal(begin_fault(fixture, 0, &what, CLOUD_FAULT_NONE, &call), ERR_CLOUD_ABSENT);
    now_ns = must_do(fixture, 0, RT_CLOUD_CREATE, "workers");
    assert_int_equal(look(fixture, now_ns).worker_count, CLOUD_WORKER_COUNT_DEFAULT);
    now_ns += MIN;
    assert_int_equal(begin_fault(fixture, now_ns, &what, CLOUD_FAULT_NONE, &call), ERR_OK);
    assert_int_equal(cloud_finish(fixture->cloud, call.answer_ns, call.id, &reply), ERR_OK);
    assert_int_equal(reply.worker_count, 5);
    assert_int_equal(reply.part_count, 1);
    must_do(fixture, call.answer_ns, RT_CLOUD_DESTROY, "workers");
    assert_int_equal(demo(fixture)->worker_count, 0);
}

static void test_cloud_scale_finds_workers_gone_at_its_end(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_call destroy, scale;
    int64_t now_ns = must_do(fixture, 0, RT_CLOUD_CREATE, "workers");

    assert_int_equal(begin(fixture, now_ns, RT_CLOUD_DESTROY, "workers", 0, &destroy), ERR_OK);
    assert_int_equal(begin(fixture, now_ns + 1, RT_CLOUD_SCALE, NULL, 0, &scale), ERR_OK);
    assert_int_equal(finish(fixture, &scale), ERR_CLOUD_ABSENT);
}

static void test_cloud_workers_are_created_with_count_asked_for(void **state)
{
    struct fixture *fixture = *state;
    struct rt_cloud_request what = request(RT_CLOUD_CREATE, "workers", 0);
    struct cloud_call call;

    what.count = 9;
    assert_int_equal(begin_fault(fixture, 0, &what, CLOUD_FAULT_NONE, &call), ERR_OK);
    assert_int_equal(finish(fixture, &call), ERR_OK);
    assert_int_equal(demo(fixture)->worker_count, 9);
}

static void test_cloud_look_tells_and_changes_nothing(void **state)
{
    struct fixture *fixture = *state;
    int64_t now_ns;

    assert_int_equal(look(fixture, 0).part_count, 0);
    assert_int_equal(cloud_resource_count(fixture->cloud), 0);
    now_ns = must_do(fixture, MIN, RT_CLOUD_CREATE, "network");
    now_ns = must_do(fixture, now_ns, RT_CLOUD_CREATE, "dns");
    assert_int_equal(look(fixture, now_ns).part_count, 2);
}

static void test_cloud_look_counts_changes_in_progress(void **state)
{
    struct fixture *fixture = *state;
    struct rt_cloud_request other = request(RT_CLOUD_CREATE, "network", 0);
    struct cloud_call create, call;

    other.name = "other";
    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "network", 1, &create), ERR_OK);
    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "workers", 0, &call), ERR_OK);
    assert_int_equal(begin(fixture, 0, RT_CLOUD_LOOK, NULL, 2, &call), ERR_OK);
    assert_int_equal(begin_fault(fixture, 0, &other, CLOUD_FAULT_NONE, &call), ERR_OK);
    /* Neither looks nor other resources count; a call that was overtaken does until its end. */
    assert_int_equal(look(fixture, 0).busy_count, 2);
    assert_int_equal(look(fixture, create.end_ns).busy_count, 1);
    assert_int_equal(look(fixture, LONG_AFTER).busy_count, 0);
}

static void test_cloud_look_does_not_count_other_looks(void **state)
{
    struct fixture *fixture = *state;
    struct rt_cloud_reply reply;
    struct cloud_call first, second;

    must_do(fixture, 0, RT_CLOUD_CREATE, "network");
    assert_int_equal(begin(fixture, LONG_AFTER, RT_CLOUD_LOOK, NULL, 0, &first), ERR_OK);
    assert_int_equal(begin(fixture, LONG_AFTER + 1, RT_CLOUD_LOOK, NULL, 0, &second), ERR_OK);
    assert_int_equal(cloud_finish(fixture->cloud, first.answer_ns, first.id, &reply), ERR_OK);
    assert_int_equal(cloud_running_count(fixture->cloud), 1);
    assert_int_equal(reply.busy_count, 0);
}

static void test_cloud_lost_request_is_not_in_progress(void **state)
{
    struct fixture *fixture = *state;
    struct rt_cloud_request lost = request(RT_CLOUD_CREATE, "dns", 0);
    struct cloud_call call;

    must_do(fixture, 0, RT_CLOUD_CREATE, "network");
    assert_int_equal(begin_fault(fixture, LONG_AFTER, &lost, CLOUD_FAULT_REQUEST_LOST, &call),
                     ERR_OK);
    assert_int_equal(look(fixture, LONG_AFTER).busy_count, 0);
}

/* ---- fencing ---- */

static void test_cloud_lower_token_is_fenced_at_begin(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_call call;

    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "network", 5, &call), ERR_OK);
    assert_int_equal(begin(fixture, 1, RT_CLOUD_CREATE, "dns", 4, &call), ERR_FENCED);
    assert_int_equal(begin(fixture, 1, RT_CLOUD_LOOK, NULL, 4, &call), ERR_FENCED);
    assert_int_equal(begin(fixture, 1, RT_CLOUD_CREATE, "dns", 5, &call), ERR_OK);
    assert_int_equal(begin(fixture, 1, RT_CLOUD_CREATE, "ingress", 6, &call), ERR_OK);
    assert_int_equal(demo(fixture)->token, 6);
}

static void test_cloud_token_overtaken_while_running_has_no_effect(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_call old, call;

    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "network", 5, &old), ERR_OK);
    assert_int_equal(begin(fixture, 1, RT_CLOUD_CREATE, "dns", 6, &call), ERR_OK);
    assert_int_equal(finish(fixture, &call), ERR_OK);
    assert_int_equal(finish(fixture, &old), ERR_FENCED);
    assert_false(demo(fixture)->parts[CLOUD_NETWORK].present);
    assert_true(demo(fixture)->parts[CLOUD_DNS].present);
}

static void test_cloud_look_with_higher_token_overtakes_too(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_call old, call;

    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "network", 5, &old), ERR_OK);
    assert_int_equal(begin(fixture, 1, RT_CLOUD_LOOK, NULL, 6, &call), ERR_OK);
    assert_int_equal(finish(fixture, &call), ERR_OK);
    assert_int_equal(finish(fixture, &old), ERR_FENCED);
}

static void test_cloud_look_at_nothing_raises_token(void **state)
{
    struct cloud_call call;

    assert_int_equal(begin(*state, 0, RT_CLOUD_LOOK, NULL, 6, &call), ERR_OK);
    assert_int_equal(finish(*state, &call), ERR_OK);
    assert_int_equal(begin(*state, MIN, RT_CLOUD_CREATE, "network", 5, &call), ERR_FENCED);
}

static void test_cloud_overtaken_destroy_leaves_part(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_call old, call;
    int64_t now_ns = must_do(fixture, 0, RT_CLOUD_CREATE, "network");

    assert_int_equal(begin(fixture, now_ns, RT_CLOUD_DESTROY, "network", 1, &old), ERR_OK);
    assert_int_equal(begin(fixture, now_ns, RT_CLOUD_LOOK, NULL, 2, &call), ERR_OK);
    assert_int_equal(finish(fixture, &call), ERR_OK);
    assert_int_equal(finish(fixture, &old), ERR_FENCED);
    assert_true(demo(fixture)->parts[CLOUD_NETWORK].present);
}

static void test_cloud_successor_may_create_what_overtaken_call_was_creating(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_call old, call;

    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "network", 5, &old), ERR_OK);
    assert_int_equal(begin(fixture, 1, RT_CLOUD_CREATE, "network", 6, &call), ERR_OK);
    assert_int_equal(finish(fixture, &old), ERR_FENCED);
    assert_int_equal(finish(fixture, &call), ERR_OK);
    assert_int_equal(demo(fixture)->parts[CLOUD_NETWORK].by.token, 6);
}

static void test_cloud_token_zero_is_not_fenced(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_call unfenced, call;

    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "network", 0, &unfenced), ERR_OK);
    assert_int_equal(begin(fixture, 0, RT_CLOUD_LOOK, NULL, 9, &call), ERR_OK);
    assert_int_equal(finish(fixture, &unfenced), ERR_OK);
    assert_int_equal(begin(fixture, LONG_AFTER, RT_CLOUD_CREATE, "dns", 0, &call), ERR_OK);
    assert_int_equal(demo(fixture)->token, 9);
}

static void test_cloud_token_is_remembered_when_all_parts_are_gone(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_call call;

    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "network", 5, &call), ERR_OK);
    assert_int_equal(finish(fixture, &call), ERR_OK);
    assert_int_equal(begin(fixture, LONG_AFTER, RT_CLOUD_DESTROY, "network", 5, &call), ERR_OK);
    assert_int_equal(finish(fixture, &call), ERR_OK);
    assert_int_equal(begin(fixture, 2 * LONG_AFTER, RT_CLOUD_CREATE, "network", 4, &call),
                     ERR_FENCED);
}

static void test_cloud_tokens_of_resources_are_apart(void **state)
{
    struct fixture *fixture = *state;
    struct rt_cloud_request other = request(RT_CLOUD_CREATE, "network", 1);
    struct cloud_call call;

    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "network", 5, &call), ERR_OK);
    other.name = "other";
    assert_int_equal(begin_fault(fixture, 0, &other, CLOUD_FAULT_NONE, &call), ERR_OK);
}

/* ---- what goes wrong ---- */

static void test_cloud_refusing_faults_answer_at_once(void **state)
{
    static const struct {
        enum cloud_fault fault;
        enum err err;
    } cases[] = {
        {CLOUD_FAULT_THROTTLED, ERR_CLOUD_THROTTLED},
        {CLOUD_FAULT_QUOTA, ERR_CLOUD_QUOTA},
        {CLOUD_FAULT_CREDENTIALS, ERR_CLOUD_CREDENTIALS},
    };
    struct fixture *fixture = *state;
    struct rt_cloud_request what = request(RT_CLOUD_CREATE, "network", 5);

    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        struct cloud_call call;

        assert_int_equal(begin_fault(fixture, 0, &what, cases[i].fault, &call), cases[i].err);
        assert_int_equal(call.id, 0);
    }
    /* Nothing was begun, and the token was not seen. */
    assert_int_equal(cloud_call_count(fixture->cloud), 0);
    assert_int_equal(cloud_resource_count(fixture->cloud), 0);
}

static void test_cloud_lost_request_times_out_without_effect(void **state)
{
    struct fixture *fixture = *state;
    struct rt_cloud_request what = request(RT_CLOUD_CREATE, "network", 5);
    struct cloud_call call, second;

    assert_int_equal(begin_fault(fixture, 0, &what, CLOUD_FAULT_REQUEST_LOST, &call), ERR_OK);
    assert_int_equal(call.answer_ns, 5 * MIN);
    assert_int_equal(cloud_resource_count(fixture->cloud), 0);
    /* It does not count as being created, and its token was not seen. */
    assert_int_equal(begin(fixture, 1, RT_CLOUD_CREATE, "network", 4, &second), ERR_OK);
    assert_int_equal(finish(fixture, &second), ERR_OK);
    assert_int_equal(finish(fixture, &call), ERR_CLOUD_TIMEOUT);
    assert_int_equal(demo(fixture)->parts[CLOUD_NETWORK].by.token, 4);
}

static void test_cloud_lost_reply_times_out_with_effect(void **state)
{
    struct fixture *fixture = *state;
    struct rt_cloud_request what = request(RT_CLOUD_CREATE, "network", 0);
    struct rt_cloud_reply reply = {.part_count = 1};
    struct cloud_call call;

    assert_int_equal(begin_fault(fixture, 0, &what, CLOUD_FAULT_REPLY_LOST, &call), ERR_OK);
    assert_int_equal(call.end_ns, 2 * MIN);
    assert_int_equal(call.answer_ns, 5 * MIN);
    assert_int_equal(cloud_finish(fixture->cloud, 5 * MIN, call.id, &reply), ERR_CLOUD_TIMEOUT);
    assert_int_equal(reply.part_count, 0);
    assert_int_equal(cloud_present_count(demo(fixture)), 1);
    assert_int_equal(demo(fixture)->parts[CLOUD_NETWORK].since_ns, 2 * MIN);
    assert_int_equal(cloud_call(fixture->cloud, 0)->result, ERR_OK);
}

static void test_cloud_lost_reply_of_slow_call_takes_effect_after_the_timeout(void **state)
{
    struct fixture *fixture = *state;
    struct rt_cloud_request what = request(RT_CLOUD_CREATE, "control-plane", 0);
    struct cloud_call call;

    assert_int_equal(begin_fault(fixture, 0, &what, CLOUD_FAULT_REPLY_LOST, &call), ERR_OK);
    assert_true(call.answer_ns < call.end_ns);
    assert_int_equal(finish(fixture, &call), ERR_CLOUD_TIMEOUT);
    assert_int_equal(cloud_present_count(demo(fixture)), 0);
    cloud_advance(fixture->cloud, call.end_ns);
    assert_int_equal(cloud_present_count(demo(fixture)), 1);
}

static void test_cloud_half_done_create_is_completed_by_another(void **state)
{
    struct fixture *fixture = *state;
    struct rt_cloud_request what = request(RT_CLOUD_CREATE, "network", 0);
    struct cloud_call call;

    assert_int_equal(begin_fault(fixture, 0, &what, CLOUD_FAULT_HALF_DONE, &call), ERR_OK);
    assert_int_equal(finish(fixture, &call), ERR_CLOUD_TIMEOUT);
    assert_true(demo(fixture)->parts[CLOUD_NETWORK].present);
    assert_true(demo(fixture)->parts[CLOUD_NETWORK].half);
    assert_int_equal(begin(fixture, call.end_ns, RT_CLOUD_CREATE, "network", 0, &call), ERR_OK);
    assert_int_equal(finish(fixture, &call), ERR_OK);
    assert_false(demo(fixture)->parts[CLOUD_NETWORK].half);
    assert_int_equal(begin(fixture, call.end_ns, RT_CLOUD_CREATE, "network", 0, &call),
                     ERR_CLOUD_EXISTS);
}

static void test_cloud_half_done_destroy_leaves_half(void **state)
{
    struct fixture *fixture = *state;
    struct rt_cloud_request what = request(RT_CLOUD_DESTROY, "network", 0);
    struct cloud_call call;

    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "network", 0, &call), ERR_OK);
    assert_int_equal(finish(fixture, &call), ERR_OK);
    assert_int_equal(begin_fault(fixture, call.end_ns, &what, CLOUD_FAULT_HALF_DONE, &call),
                     ERR_OK);
    assert_int_equal(finish(fixture, &call), ERR_CLOUD_TIMEOUT);
    assert_true(demo(fixture)->parts[CLOUD_NETWORK].half);
    assert_int_equal(begin(fixture, call.end_ns, RT_CLOUD_DESTROY, "network", 0, &call), ERR_OK);
    assert_int_equal(finish(fixture, &call), ERR_OK);
    assert_int_equal(cloud_present_count(demo(fixture)), 0);
}

static void test_cloud_call_goes_on_without_its_caller(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_call call;

    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "network", 0, &call), ERR_OK);
    /* Nobody ever finishes it: the next call of anybody sees its effect. */
    assert_int_equal(look(fixture, call.end_ns).part_count, 1);
}

static void test_cloud_quota_counts_clusters_that_exist_or_are_being_made(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_config config = cloud_config_default();
    struct rt_cloud_request other = request(RT_CLOUD_CREATE, "network", 0);
    struct cloud_call call;
    int64_t now_ns;

    config.resource_count_max = 1;
    cloud_reset(fixture->cloud, &config);
    other.name = "other";
    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "network", 0, &call), ERR_OK);
    assert_int_equal(begin_fault(fixture, 1, &other, CLOUD_FAULT_NONE, &call), ERR_CLOUD_QUOTA);
    now_ns = must_do(fixture, LONG_AFTER, RT_CLOUD_CREATE, "dns");
    assert_int_equal(begin_fault(fixture, now_ns, &other, CLOUD_FAULT_NONE, &call),
                     ERR_CLOUD_QUOTA);
    now_ns = must_do(fixture, now_ns, RT_CLOUD_DESTROY, "network");
    now_ns = must_do(fixture, now_ns, RT_CLOUD_DESTROY, "dns");
    assert_int_equal(begin_fault(fixture, now_ns, &other, CLOUD_FAULT_NONE, &call), ERR_OK);
}

static void note_done(void *self, const struct cloud_call *call, enum err err)
{
    struct fixture *fixture = self;

    assert_int_equal(call->phase, CLOUD_DONE);
    fixture->done_ids[fixture->done_count] = call->id;
    fixture->done_errs[fixture->done_count++] = err;
}

static void test_cloud_done_hook_hears_each_call_in_order_of_its_end(void **state)
{
    struct fixture *fixture = *state;
    struct rt_cloud_request lost = request(RT_CLOUD_CREATE, "ingress", 0);
    struct cloud_call call;

    cloud_on_done(fixture->cloud, note_done, fixture);
    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "control-plane", 1, &call), ERR_OK);
    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "network", 2, &call), ERR_OK);
    assert_int_equal(begin_fault(fixture, 0, &lost, CLOUD_FAULT_REPLY_LOST, &call), ERR_OK);
    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "dns", 2, &call), ERR_OK);
    cloud_advance(fixture->cloud, LONG_AFTER);
    assert_int_equal(fixture->done_count, 4);
    /* dns, then network and ingress that end together, then control-plane. */
    assert_int_equal(fixture->done_ids[0], 4);
    assert_int_equal(fixture->done_ids[1], 2);
    assert_int_equal(fixture->done_ids[2], 3);
    assert_int_equal(fixture->done_ids[3], 1);
    assert_int_equal(fixture->done_errs[0], ERR_OK);
    assert_int_equal(fixture->done_errs[2], ERR_CLOUD_TIMEOUT);
    assert_int_equal(fixture->done_errs[3], ERR_FENCED);
}

static void test_cloud_calls_are_kept_for_reports(void **state)
{
    struct fixture *fixture = *state;
    const struct cloud_call *call;

    must_do(fixture, 3, RT_CLOUD_CREATE, "network");
    assert_int_equal(cloud_call_count(fixture->cloud), 1);
    call = cloud_call(fixture->cloud, 0);
    assert_int_equal(call->id, 1);
    assert_int_equal(call->op, RT_CLOUD_CREATE);
    assert_int_equal(call->part, CLOUD_NETWORK);
    assert_int_equal(call->resource, 0);
    assert_int_equal(call->begin_ns, 3);
    assert_string_equal(call->by.job_id, "j1");
    assert_string_equal(cloud_op_name(call->op), "create");
}

static void test_cloud_reset_forgets_everything(void **state)
{
    struct fixture *fixture = *state;
    struct cloud_config config = cloud_config_default();
    struct cloud_call call;

    must_do(fixture, 0, RT_CLOUD_CREATE, "network");
    assert_int_equal(begin(fixture, LONG_AFTER, RT_CLOUD_CREATE, "dns", 5, &call), ERR_OK);
    cloud_reset(fixture->cloud, &config);
    assert_int_equal(cloud_resource_count(fixture->cloud), 0);
    assert_int_equal(cloud_call_count(fixture->cloud), 0);
    assert_int_equal(cloud_next_end_ns(fixture->cloud), -1);
    assert_int_equal(begin(fixture, 0, RT_CLOUD_CREATE, "network", 1, &call), ERR_OK);
    assert_int_equal(call.id, 1);
}

static void test_cloud_full_of_resources_is_infrastructure(void **state)
{
    struct fixture *fixture = *state;
    struct rt_cloud_request what = request(RT_CLOUD_CREATE, "network", 0);
    struct cloud_call call;

    for (int i = 0; i < CLOUD_RESOURCE_COUNT_MAX; i++) {
        char name[] = {(char)('a' + i % 16), (char)('a' + i / 16), '\0'};

        what.name = name;
        assert_int_equal(begin_fault(fixture, 0, &what, CLOUD_FAULT_NONE, &call), ERR_OK);
    }
    what.name = "one more";
    assert_int_equal(begin_fault(fixture, 0, &what, CLOUD_FAULT_NONE, &call), ERR_INFRASTRUCTURE);
}

static void test_cloud_owners_of_two_runs_differ(void **state)
{
    struct rt_claim claim = {.cluster_id = "c", .job_id = "j", .run = 1, .token = 3};
    struct world_owner first, second;

    (void)state;
    world_owner_set(&first, &claim, "worker-1.1");
    claim.token = 4;
    world_owner_set(&second, &claim, "worker-1.1");
    assert_true(world_owner_same_run(&first, &second));
    world_owner_set(&second, &claim, "worker-1.2");
    assert_false(world_owner_same_run(&first, &second));
    claim.run = 2;
    world_owner_set(&second, &claim, "worker-1.1");
    assert_false(world_owner_same_run(&first, &second));
    claim.run = 1;
    claim.job_id = NULL;
    world_owner_set(&second, &claim, "worker-1.1");
    assert_string_equal(second.job_id, "");
    assert_false(world_owner_same_run(&first, &second));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_cloud_parts_are_in_building_order),
        TEST(test_cloud_create_takes_minutes_and_has_no_effect_before),
        TEST(test_cloud_duration_follows_the_choice),
        TEST(test_cloud_part_remembers_who_made_it),
        TEST(test_cloud_create_of_present_part_exists),
        TEST(test_cloud_create_of_part_being_created_exists),
        TEST(test_cloud_same_part_of_other_key_is_another),
        TEST(test_cloud_same_key_for_other_cluster_id_is_the_same_resource),
        TEST(test_cloud_destroy_removes_part_at_its_end),
        TEST(test_cloud_destroy_of_missing_part_is_absent),
        TEST(test_cloud_destroy_while_being_created_is_absent_and_part_stays),
        TEST(test_cloud_two_destroys_overlap_and_the_later_finds_nothing),
        TEST(test_cloud_scale_sets_worker_count),
        TEST(test_cloud_scale_finds_workers_gone_at_its_end),
        TEST(test_cloud_workers_are_created_with_count_asked_for),
        TEST(test_cloud_look_tells_and_changes_nothing),
        TEST(test_cloud_look_counts_changes_in_progress),
        TEST(test_cloud_look_does_not_count_other_looks),
        TEST(test_cloud_lost_request_is_not_in_progress),
        TEST(test_cloud_lower_token_is_fenced_at_begin),
        TEST(test_cloud_token_overtaken_while_running_has_no_effect),
        TEST(test_cloud_look_with_higher_token_overtakes_too),
        TEST(test_cloud_look_at_nothing_raises_token),
        TEST(test_cloud_overtaken_destroy_leaves_part),
        TEST(test_cloud_successor_may_create_what_overtaken_call_was_creating),
        TEST(test_cloud_token_zero_is_not_fenced),
        TEST(test_cloud_token_is_remembered_when_all_parts_are_gone),
        TEST(test_cloud_tokens_of_resources_are_apart),
        TEST(test_cloud_refusing_faults_answer_at_once),
        TEST(test_cloud_lost_request_times_out_without_effect),
        TEST(test_cloud_lost_reply_times_out_with_effect),
        TEST(test_cloud_lost_reply_of_slow_call_takes_effect_after_the_timeout),
        TEST(test_cloud_half_done_create_is_completed_by_another),
        TEST(test_cloud_half_done_destroy_leaves_half),
        TEST(test_cloud_call_goes_on_without_its_caller),
        TEST(test_cloud_quota_counts_clusters_that_exist_or_are_being_made),
        TEST(test_cloud_done_hook_hears_each_call_in_order_of_its_end),
        TEST(test_cloud_calls_are_kept_for_reports),
        TEST(test_cloud_reset_forgets_everything),
        TEST(test_cloud_full_of_resources_is_infrastructure),
        TEST(test_cloud_owners_of_two_runs_differ),
    };

    return cmocka_run_group_tests_name("cloud", tests, NULL, NULL);
}
