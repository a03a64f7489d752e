#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/world/service.h"

struct fixture {
    struct service *service;
    struct choices *choices;
    struct choice_stream *stream;
    int end_count;
    struct service_call ended[8];
};

static void on_done(void *self, const struct service_call *call)
{
    struct fixture *fixture = self;
    assert_true(fixture->end_count < 8);
    fixture->ended[fixture->end_count++] = *call;
}

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){.service = service_new(), .choices = choices_new(1)};
    fixture.stream = choices_stream(fixture.choices, "world");
    service_on_done(fixture.service, on_done, &fixture);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    service_free(fixture->service);
    choices_free(fixture->choices);
    return 0;
}

static struct rt_service_request publish(const char *subject, const char *key, int64_t token)
{
    return (struct rt_service_request){
        .service = "gallery",
        .op = "publish",
        .subject = subject,
        .key = key,
        .lasts_low_ns = 10 * NS_PER_S,
        .lasts_high_ns = 10 * NS_PER_S,
        .claim = {.cluster_id = "c", .job_id = "j", .run = 1, .token = token}};
}

static enum err begin(struct fixture *fixture, int64_t now_s, const struct rt_service_request *what,
                      enum service_fault fault, struct service_call *call)
{
    return service_begin(fixture->service, now_s * NS_PER_S, what, "worker-1.1", fixture->stream,
                         fault, call);
}

static int32_t look(struct fixture *fixture, int64_t now_s, const struct rt_service_request *what)
{
    int32_t count = -1;
    assert_int_equal(service_look(fixture->service, now_s * NS_PER_S, what, &count), ERR_OK);
    return count;
}

static void test_service_takes_effect_at_its_end(void **state)
{
    struct fixture *fixture = *state;
    struct rt_service_request what = publish("d1", NULL, 0);
    struct service_call call;
    struct rt_service_reply reply;

    assert_int_equal(begin(fixture, 5, &what, SERVICE_FAULT_NONE, &call), ERR_OK);
    assert_int_equal(call.end_ns, 15 * NS_PER_S);
    assert_int_equal(call.answer_ns, 15 * NS_PER_S);
    assert_int_equal(service_next_end_ns(fixture->service), 15 * NS_PER_S);
    assert_int_equal(service_running_count(fixture->service), 1);
    assert_int_equal(look(fixture, 14, &what), 0);
    assert_int_equal(fixture->end_count, 0);
    assert_int_equal(service_finish(fixture->service, 15 * NS_PER_S, call.id, &reply), ERR_OK);
    assert_false(reply.repeated);
    assert_int_equal(look(fixture, 15, &what), 1);
    assert_int_equal(service_next_end_ns(fixture->service), -1);
    assert_int_equal(service_running_count(fixture->service), 0);
}

static void test_service_does_again_what_has_no_key(void **state)
{
    struct fixture *fixture = *state;
    struct rt_service_request what = publish("d1", NULL, 0);
    struct rt_service_request other = publish("d2", NULL, 0);
    struct service_call call;

    assert_int_equal(begin(fixture, 0, &what, SERVICE_FAULT_NONE, &call), ERR_OK);
    assert_int_equal(begin(fixture, 1, &what, SERVICE_FAULT_NONE, &call), ERR_OK);
    assert_int_equal(look(fixture, 20, &what), 2);
    assert_int_equal(look(fixture, 20, &other), 0);
}

static void test_service_does_once_what_has_a_key(void **state)
{
    struct fixture *fixture = *state;
    struct rt_service_request what = publish("d1", "k1", 0);
    struct rt_service_request next = publish("d1", "k2", 0);
    struct service_call first, second;
    struct rt_service_reply reply;

    assert_int_equal(begin(fixture, 0, &what, SERVICE_FAULT_NONE, &first), ERR_OK);
    assert_int_equal(begin(fixture, 1, &what, SERVICE_FAULT_NONE, &second), ERR_OK);
    assert_int_equal(service_finish(fixture->service, 11 * NS_PER_S, second.id, &reply), ERR_OK);
    assert_true(reply.repeated);
    assert_int_equal(look(fixture, 12, &what), 1);
    assert_int_equal(begin(fixture, 12, &next, SERVICE_FAULT_NONE, &first), ERR_OK);
    assert_int_equal(look(fixture, 30, &what), 2);
}

/* The one that ends first is the one that counts, whichever came first. */
static void test_service_ends_in_the_order_of_time_then_number(void **state)
{
    struct fixture *fixture = *state;
    struct rt_service_request slow = publish("d1", NULL, 0);
    struct rt_service_request quick = publish("d2", NULL, 0);
    struct service_call call;

    slow.lasts_low_ns = slow.lasts_high_ns = 60 * NS_PER_S;
    assert_int_equal(begin(fixture, 0, &slow, SERVICE_FAULT_NONE, &call), ERR_OK);
    assert_int_equal(begin(fixture, 0, &quick, SERVICE_FAULT_NONE, &call), ERR_OK);
    assert_int_equal(begin(fixture, 0, &quick, SERVICE_FAULT_NONE, &call), ERR_OK);
    service_advance(fixture->service, 60 * NS_PER_S);
    assert_int_equal(fixture->end_count, 3);
    assert_int_equal(fixture->ended[0].id, 2);
    assert_int_equal(fixture->ended[1].id, 3);
    assert_int_equal(fixture->ended[2].id, 1);
}

static void test_service_refuses_an_old_token(void **state)
{
    struct fixture *fixture = *state;
    struct rt_service_request old = publish("d1", NULL, 1);
    struct rt_service_request new = publish("d1", NULL, 2);
    struct rt_service_request other = publish("d2", NULL, 1);
    struct service_call call, late;
    struct rt_service_reply reply;

    assert_int_equal(begin(fixture, 0, &old, SERVICE_FAULT_NONE, &late), ERR_OK);
    assert_int_equal(look(fixture, 5, &new), 0); /* a look makes the token known */
    assert_int_equal(begin(fixture, 6, &old, SERVICE_FAULT_NONE, &call), ERR_FENCED);
    assert_int_equal(call.id, 0);
    assert_int_equal(begin(fixture, 6, &other, SERVICE_FAULT_NONE, &call), ERR_OK);
    /* What was under way is stopped at the moment of its effect. */
    assert_int_equal(service_finish(fixture->service, 20 * NS_PER_S, late.id, &reply), ERR_FENCED);
    assert_int_equal(look(fixture, 20, &new), 0);
    int32_t count;
    assert_int_equal(service_look(fixture->service, 20 * NS_PER_S, &old, &count), ERR_FENCED);
}

static void test_service_refusals_do_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct rt_service_request what = publish("d1", NULL, 0);
    struct service_call call;

    assert_int_equal(begin(fixture, 0, &what, SERVICE_FAULT_THROTTLED, &call),
                     ERR_SERVICE_THROTTLED);
    assert_int_equal(begin(fixture, 0, &what, SERVICE_FAULT_REJECTED, &call), ERR_SERVICE_REJECTED);
    assert_int_equal(service_running_count(fixture->service), 0);
    assert_int_equal(look(fixture, 600, &what), 0);
}

static void test_service_lost_request_is_a_timeout_without_effect(void **state)
{
    struct fixture *fixture = *state;
    struct rt_service_request what = publish("d1", "k1", 7);
    struct rt_service_request older = publish("d1", NULL, 6);
    struct service_call call, second;
    struct rt_service_reply reply;

    assert_int_equal(begin(fixture, 0, &what, SERVICE_FAULT_REQUEST_LOST, &call), ERR_OK);
    assert_int_equal(call.answer_ns, SERVICE_TIMEOUT_NS);
    assert_int_equal(service_finish(fixture->service, call.answer_ns, call.id, &reply),
                     ERR_SERVICE_TIMEOUT);
    assert_int_equal(look(fixture, 600, &older), 0); /* its token never arrived either */
    assert_int_equal(begin(fixture, 600, &what, SERVICE_FAULT_NONE, &second), ERR_OK);
    assert_int_equal(service_finish(fixture->service, second.answer_ns, second.id, &reply), ERR_OK);
    assert_false(reply.repeated);
}

static void test_service_lost_reply_is_a_timeout_with_effect(void **state)
{
    struct fixture *fixture = *state;
    struct rt_service_request what = publish("d1", NULL, 0);
    struct service_call call;
    struct rt_service_reply reply;

    assert_int_equal(begin(fixture, 0, &what, SERVICE_FAULT_REPLY_LOST, &call), ERR_OK);
    assert_int_equal(call.end_ns, 10 * NS_PER_S);
    assert_int_equal(call.answer_ns, SERVICE_TIMEOUT_NS);
    assert_int_equal(look(fixture, 10, &what), 1);
    assert_int_equal(service_finish(fixture->service, call.answer_ns, call.id, &reply),
                     ERR_SERVICE_TIMEOUT);
}

static void test_service_is_empty_after_a_reset(void **state)
{
    struct fixture *fixture = *state;
    struct rt_service_request what = publish("d1", "k1", 9);
    struct rt_service_request older = publish("d1", "k1", 1);
    struct service_call call;

    assert_int_equal(begin(fixture, 50, &what, SERVICE_FAULT_NONE, &call), ERR_OK);
    service_reset(fixture->service);
    assert_int_equal(service_running_count(fixture->service), 0);
    assert_int_equal(look(fixture, 0, &older), 0);
    assert_int_equal(begin(fixture, 0, &older, SERVICE_FAULT_NONE, &call), ERR_OK);
    assert_int_equal(call.id, 1);
}

static void test_service_counts_what_was_done_twice(void **state)
{
    struct fixture *fixture = *state;
    struct service_call call;
    struct rt_service_request plain = publish("d1", NULL, 0), other = publish("d2", NULL, 0);
    struct rt_service_request keyed = publish("d3", "k", 0);

    for (int i = 0; i < 2; i++) {
        assert_int_equal(begin(fixture, 0, &plain, SERVICE_FAULT_NONE, &call), ERR_OK);
        assert_int_equal(begin(fixture, 0, &keyed, SERVICE_FAULT_NONE, &call), ERR_OK);
    }
    assert_int_equal(begin(fixture, 0, &plain, SERVICE_FAULT_REQUEST_LOST, &call), ERR_OK);
    assert_int_equal(begin(fixture, 0, &other, SERVICE_FAULT_REPLY_LOST, &call), ERR_OK);
    assert_int_equal(service_duplicate_count(fixture->service), 0); /* all are under way */
    service_advance(fixture->service, NS_PER_HOUR);
    assert_int_equal(service_duplicate_count(fixture->service), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_service_takes_effect_at_its_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_service_does_again_what_has_no_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_service_does_once_what_has_a_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_service_ends_in_the_order_of_time_then_number, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_service_refuses_an_old_token, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_service_refusals_do_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_service_lost_request_is_a_timeout_without_effect,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_service_lost_reply_is_a_timeout_with_effect, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_service_is_empty_after_a_reset, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_service_counts_what_was_done_twice, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
