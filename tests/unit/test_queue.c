#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/core/choice.h"
#include "sim/world/queue.h"

#define MIN NS_PER_MIN

static int set_up(void **state)
{
    struct queue_config config = queue_config_default();

    *state = queue_new(&config);
    return 0;
}

static int tear_down(void **state)
{
    queue_free(*state);
    return 0;
}

static int64_t send(struct queue *queue, int64_t now_ns, const char *group, const char *body)
{
    struct queue_sent sent;

    assert_int_equal(queue_send(queue, now_ns, group, body, &sent), ERR_OK);
    assert_false(sent.duplicate);
    return sent.id;
}

static bool send_is_duplicate(struct queue *queue, int64_t now_ns, const char *group,
                              const char *body)
{
    struct queue_sent sent;

    assert_int_equal(queue_send(queue, now_ns, group, body, &sent), ERR_OK);
    return sent.duplicate;
}

static int64_t receive(struct queue *queue, int64_t now_ns, const char *body)
{
    struct rt_message message;

    assert_int_equal(queue_receive_nth(queue, now_ns, 0, &message), ERR_OK);
    assert_string_equal(message.body, body);
    return message.receipt;
}

static void assert_empty(struct queue *queue, int64_t now_ns)
{
    struct rt_message message;

    assert_int_equal(queue_available(queue, now_ns), 0);
    assert_int_equal(queue_receive_nth(queue, now_ns, 0, &message), ERR_QUEUE_EMPTY);
    assert_int_equal(message.receipt, 0);
}

/* Receive and give back at once, `times` times. */
static void exhaust(struct queue *queue, int64_t now_ns, const char *body, int times)
{
    for (int i = 0; i < times; i++) {
        int64_t receipt = receive(queue, now_ns, body);

        assert_int_equal(queue_change_visibility(queue, now_ns, receipt, 0), ERR_OK);
    }
}

static void test_queue_default_config_is_the_documents(void **state)
{
    struct queue_config config = queue_config_default();

    (void)state;
    assert_int_equal(config.visibility_ns, 10 * NS_PER_MIN);
    assert_int_equal(config.delay_ns, 0);
    assert_int_equal(config.retention_ns, 4 * NS_PER_DAY);
    assert_int_equal(config.dead_retention_ns, 14 * NS_PER_DAY);
    assert_int_equal(config.max_receive_count, 3);
    assert_int_equal(config.dedup, QUEUE_DEDUP_QUEUE);
}

static void test_queue_received_message_carries_what_was_sent(void **state)
{
    struct rt_message message;

    send(*state, 0, "cluster-a", "job-1");
    assert_int_equal(queue_receive_nth(*state, 0, 0, &message), ERR_OK);
    assert_string_equal(message.group, "cluster-a");
    assert_string_equal(message.body, "job-1");
    assert_int_equal(message.receive_count, 1);
    assert_true(message.receipt > 0);
}

static void test_queue_empty_gives_nothing(void **state)
{
    assert_empty(*state, 0);
    assert_int_equal(queue_next_change_ns(*state, 0), -1);
}

static void test_queue_group_in_flight_blocks_its_later_messages(void **state)
{
    int64_t receipt;

    send(*state, 0, "a", "1");
    send(*state, 0, "a", "2");
    assert_int_equal(queue_available(*state, 0), 1);
    receipt = receive(*state, 0, "1");
    assert_empty(*state, 10 * MIN - 1);
    assert_int_equal(queue_delete(*state, 10 * MIN - 1, receipt), ERR_OK);
    receive(*state, 10 * MIN - 1, "2");
}

static void test_queue_message_returned_comes_before_later_ones(void **state)
{
    int64_t receipt;

    send(*state, 0, "a", "1");
    send(*state, 0, "a", "2");
    receipt = receive(*state, 0, "1");
    assert_int_equal(queue_change_visibility(*state, 1, receipt, 0), ERR_OK);
    receive(*state, 1, "1");
}

static void test_queue_other_group_is_delivered_meanwhile(void **state)
{
    send(*state, 0, "a", "1");
    send(*state, 0, "b", "2");
    receive(*state, 0, "1");
    assert_int_equal(queue_available(*state, 0), 1);
    receive(*state, 0, "2");
}

static void test_queue_nth_chooses_among_group_heads_in_order_of_sending(void **state)
{
    struct rt_message message;

    send(*state, 0, "b", "b1");
    send(*state, 0, "b", "b2");
    send(*state, 0, "a", "a1");
    send(*state, 0, "c", "c1");
    assert_int_equal(queue_available(*state, 0), 3);
    assert_int_equal(queue_receive_nth(*state, 0, 3, &message), ERR_QUEUE_EMPTY);
    assert_int_equal(queue_receive_nth(*state, 0, 1, &message), ERR_OK);
    assert_string_equal(message.body, "a1");
    assert_int_equal(queue_receive_nth(*state, 0, 1, &message), ERR_OK);
    assert_string_equal(message.body, "c1");
    assert_int_equal(queue_receive_nth(*state, 0, 0, &message), ERR_OK);
    assert_string_equal(message.body, "b1");
}

static void test_queue_visibility_over_delivers_again_and_counts(void **state)
{
    struct rt_message message;
    int64_t old;

    send(*state, 0, "a", "1");
    old = receive(*state, 0, "1");
    assert_int_equal(queue_available(*state, 10 * MIN - 1), 0);
    assert_int_equal(queue_receive_nth(*state, 10 * MIN, 0, &message), ERR_OK);
    assert_int_equal(message.receive_count, 2);
    assert_int_not_equal(message.receipt, old);
}

static void test_queue_visibility_of_config_is_used(void **state)
{
    struct queue_config config = queue_config_default();

    config.visibility_ns = 7;
    queue_reset(*state, &config);
    send(*state, 0, "a", "1");
    receive(*state, 0, "1");
    assert_int_equal(queue_available(*state, 6), 0);
    assert_int_equal(queue_available(*state, 7), 1);
}

static void test_queue_change_visibility_counts_from_now(void **state)
{
    int64_t receipt;

    send(*state, 0, "a", "1");
    receipt = receive(*state, 0, "1");
    assert_int_equal(queue_change_visibility(*state, 9 * MIN, receipt, 30 * MIN), ERR_OK);
    assert_int_equal(queue_available(*state, 39 * MIN - 1), 0);
    assert_int_equal(queue_available(*state, 39 * MIN), 1);
}

static void test_queue_change_visibility_shortens_too(void **state)
{
    int64_t receipt;

    send(*state, 0, "a", "1");
    receipt = receive(*state, 0, "1");
    assert_int_equal(queue_change_visibility(*state, 1 * MIN, receipt, 2 * MIN), ERR_OK);
    assert_int_equal(queue_available(*state, 3 * MIN), 1);
}

static void test_queue_delete_after_new_delivery_is_stale_and_keeps_message(void **state)
{
    int64_t old, current;

    send(*state, 0, "a", "1");
    old = receive(*state, 0, "1");
    current = receive(*state, 10 * MIN, "1");
    assert_int_equal(queue_delete(*state, 10 * MIN, old), ERR_QUEUE_STALE_RECEIPT);
    assert_int_equal(queue_message_count(*state, 10 * MIN), 1);
    assert_int_equal(queue_change_visibility(*state, 10 * MIN, old, 0), ERR_QUEUE_STALE_RECEIPT);
    assert_int_equal(queue_delete(*state, 10 * MIN, current), ERR_OK);
    assert_int_equal(queue_message_count(*state, 10 * MIN), 0);
}

static void test_queue_delete_after_visibility_ran_out_is_stale(void **state)
{
    int64_t receipt;

    send(*state, 0, "a", "1");
    receipt = receive(*state, 0, "1");
    assert_int_equal(queue_delete(*state, 10 * MIN, receipt), ERR_QUEUE_STALE_RECEIPT);
    receive(*state, 10 * MIN, "1");
}

static void test_queue_receipt_given_back_is_stale(void **state)
{
    int64_t receipt;

    send(*state, 0, "a", "1");
    receipt = receive(*state, 0, "1");
    assert_int_equal(queue_change_visibility(*state, 0, receipt, 0), ERR_OK);
    assert_int_equal(queue_change_visibility(*state, 0, receipt, MIN), ERR_QUEUE_STALE_RECEIPT);
    assert_int_equal(queue_delete(*state, 0, receipt), ERR_QUEUE_STALE_RECEIPT);
}

static void test_queue_delete_twice_is_ok_but_change_visibility_is_stale(void **state)
{
    int64_t receipt;

    send(*state, 0, "a", "1");
    receipt = receive(*state, 0, "1");
    assert_int_equal(queue_delete(*state, 0, receipt), ERR_OK);
    assert_int_equal(queue_delete(*state, 0, receipt), ERR_OK);
    assert_int_equal(queue_change_visibility(*state, 0, receipt, 0), ERR_QUEUE_STALE_RECEIPT);
}

static void test_queue_same_body_within_window_is_taken_once(void **state)
{
    struct queue_sent sent;
    int64_t id = send(*state, 0, "a", "1");

    assert_int_equal(queue_send(*state, 5 * MIN - 1, "a", "1", &sent), ERR_OK);
    assert_true(sent.duplicate);
    assert_int_equal(sent.id, id);
    assert_int_equal(queue_message_count(*state, 5 * MIN - 1), 1);
}

static void test_queue_same_body_after_window_is_taken_again(void **state)
{
    send(*state, 0, "a", "1");
    assert_false(send_is_duplicate(*state, 5 * MIN, "a", "1"));
    assert_int_equal(queue_message_count(*state, 5 * MIN), 2);
}

static void test_queue_duplicate_send_does_not_prolong_window(void **state)
{
    send(*state, 0, "a", "1");
    assert_true(send_is_duplicate(*state, 4 * MIN, "a", "1"));
    assert_false(send_is_duplicate(*state, 6 * MIN, "a", "1"));
}

static void test_queue_deleted_message_still_deduplicates(void **state)
{
    send(*state, 0, "a", "1");
    assert_int_equal(queue_delete(*state, 0, receive(*state, 0, "1")), ERR_OK);
    assert_true(send_is_duplicate(*state, 1, "a", "1"));
    assert_empty(*state, 1);
}

static void test_queue_scope_queue_deduplicates_across_groups(void **state)
{
    send(*state, 0, "a", "1");
    assert_true(send_is_duplicate(*state, 0, "b", "1"));
    assert_false(send_is_duplicate(*state, 0, "b", "2"));
}

static void test_queue_scope_group_keeps_other_groups(void **state)
{
    struct queue_config config = queue_config_default();

    config.dedup = QUEUE_DEDUP_GROUP;
    queue_reset(*state, &config);
    send(*state, 0, "a", "1");
    assert_false(send_is_duplicate(*state, 0, "b", "1"));
    assert_true(send_is_duplicate(*state, 0, "a", "1"));
}

static void test_queue_scope_off_takes_everything(void **state)
{
    struct queue_config config = queue_config_default();

    config.dedup = QUEUE_DEDUP_OFF;
    queue_reset(*state, &config);
    send(*state, 0, "a", "1");
    assert_false(send_is_duplicate(*state, 0, "a", "1"));
}

static void test_queue_delay_holds_new_messages_back(void **state)
{
    struct queue_config config = queue_config_default();
    struct queue_counts counts;

    config.delay_ns = 15 * NS_PER_S;
    queue_reset(*state, &config);
    send(*state, NS_PER_S, "a", "1");
    assert_empty(*state, 16 * NS_PER_S - 1);
    queue_count(*state, 16 * NS_PER_S - 1, &counts);
    assert_int_equal(counts.delayed_count, 1);
    assert_int_equal(queue_next_change_ns(*state, 16 * NS_PER_S - 1), 16 * NS_PER_S);
    receive(*state, 16 * NS_PER_S, "1");
}

static void test_queue_third_return_moves_to_dead_letters_at_next_receive(void **state)
{
    struct queue_counts counts;

    send(*state, 0, "a", "1");
    exhaust(*state, 0, "1", 3);
    queue_count(*state, 0, &counts);
    assert_int_equal(counts.visible_count, 1);
    assert_int_equal(counts.dead_count, 0);

    assert_empty(*state, 0);
    queue_count(*state, 0, &counts);
    assert_int_equal(counts.visible_count, 0);
    assert_int_equal(counts.dead_count, 1);
    assert_int_equal(counts.dead_lettered_count, 1);
}

static void test_queue_third_delivery_can_still_be_deleted(void **state)
{
    struct queue_counts counts;
    int64_t receipt;

    send(*state, 0, "a", "1");
    exhaust(*state, 0, "1", 2);
    receipt = receive(*state, 0, "1");
    assert_int_equal(queue_available(*state, 1), 0);
    assert_int_equal(queue_delete(*state, 1, receipt), ERR_OK);
    queue_count(*state, 1, &counts);
    assert_int_equal(counts.dead_count, 0);
}

static void test_queue_move_to_dead_letters_frees_the_group(void **state)
{
    send(*state, 0, "a", "1");
    send(*state, 0, "a", "2");
    send(*state, 0, "b", "3");
    exhaust(*state, 0, "1", 3);
    assert_int_equal(queue_available(*state, 0), 2);
    receive(*state, 0, "2");
}

static void test_queue_receipt_of_dead_letter_is_stale(void **state)
{
    int64_t receipt;

    send(*state, 0, "a", "1");
    exhaust(*state, 0, "1", 2);
    receipt = receive(*state, 0, "1");
    assert_empty(*state, 10 * MIN);
    assert_int_equal(queue_delete(*state, 10 * MIN, receipt), ERR_QUEUE_STALE_RECEIPT);
    assert_int_equal(queue_delete(queue_dead(*state), 10 * MIN, receipt), ERR_QUEUE_STALE_RECEIPT);
    assert_int_equal(queue_message_count(queue_dead(*state), 10 * MIN), 1);
}

static void test_queue_without_max_receive_count_never_moves(void **state)
{
    struct queue_config config = queue_config_default();

    config.max_receive_count = 0;
    queue_reset(*state, &config);
    send(*state, 0, "a", "1");
    exhaust(*state, 0, "1", 50);
    receive(*state, 0, "1");
}

static void test_queue_dead_letter_can_be_received_and_deleted(void **state)
{
    struct queue *dead = queue_dead(*state);
    struct rt_message message;

    send(*state, 0, "a", "1");
    exhaust(*state, 0, "1", 3);
    assert_empty(*state, 0);
    /* It is never moved from there, however often it is received. */
    exhaust(dead, 0, "1", 10);
    assert_int_equal(queue_receive_nth(dead, 0, 0, &message), ERR_OK);
    assert_string_equal(message.group, "a");
    assert_int_equal(message.receive_count, 14);
    assert_int_equal(queue_delete(dead, 0, message.receipt), ERR_OK);
    assert_int_equal(queue_message_count(dead, 0), 0);
    assert_null(queue_dead(dead));
}

static void test_queue_redrive_puts_back_at_end_with_fresh_count(void **state)
{
    struct rt_message message;
    int64_t id = send(*state, 0, "a", "1");

    exhaust(*state, 0, "1", 3);
    assert_empty(*state, 0);
    send(*state, 0, "a", "2");
    assert_true(queue_redrive(*state, 1, id));
    assert_false(queue_redrive(*state, 1, id));
    assert_int_equal(queue_message_count(queue_dead(*state), 1), 0);
    assert_int_equal(queue_delete(*state, 1, receive(*state, 1, "2")), ERR_OK);
    assert_int_equal(queue_receive_nth(*state, 1, 0, &message), ERR_OK);
    assert_string_equal(message.body, "1");
    assert_int_equal(message.receive_count, 1);
}

static void test_queue_redrive_of_dead_letter_in_flight_is_refused(void **state)
{
    int64_t id = send(*state, 0, "a", "1");

    exhaust(*state, 0, "1", 3);
    assert_empty(*state, 0);
    receive(queue_dead(*state), 0, "1");
    assert_false(queue_redrive(*state, 1, id));
    assert_true(queue_redrive(*state, 10 * MIN, id));
}

static void test_queue_redrive_by_receipt_puts_back_as_new(void **state)
{
    struct rt_message message;

    send(*state, 0, "a", "1");
    exhaust(*state, 0, "1", 3);
    assert_empty(*state, 0);
    int64_t receipt = receive(queue_dead(*state), 5, "1");
    assert_int_equal(queue_redrive_delivery(*state, 7, receipt), ERR_OK);
    assert_int_equal(queue_redrive_delivery(*state, 7, receipt), ERR_QUEUE_STALE_RECEIPT);
    assert_int_equal(queue_message_count(queue_dead(*state), 7), 0);
    assert_int_equal(queue_receive_nth(*state, 10, 0, &message), ERR_OK);
    assert_int_equal(message.receive_count, 1);
    assert_int_equal(message.age_ns, 3);
}

static void test_queue_redrive_by_receipt_that_ran_out_is_refused(void **state)
{
    send(*state, 0, "a", "1");
    exhaust(*state, 0, "1", 3);
    assert_empty(*state, 0);
    int64_t receipt = receive(queue_dead(*state), 0, "1");
    assert_int_equal(queue_redrive_delivery(*state, 10 * MIN, receipt), ERR_QUEUE_STALE_RECEIPT);
    receive(queue_dead(*state), 10 * MIN, "1");
    assert_int_equal(queue_redrive_delivery(*state, 10 * MIN, receipt), ERR_QUEUE_STALE_RECEIPT);
    assert_int_equal(queue_message_count(queue_dead(*state), 10 * MIN), 1);
}

static void test_queue_age_is_since_it_was_sent_or_died(void **state)
{
    struct rt_message message;

    send(*state, 3, "a", "1");
    assert_int_equal(queue_receive_nth(*state, 10, 0, &message), ERR_OK);
    assert_int_equal(message.age_ns, 7);
    assert_int_equal(queue_change_visibility(*state, 10, message.receipt, 0), ERR_OK);
    exhaust(*state, 20, "1", 2);
    assert_empty(*state, 30);
    assert_int_equal(queue_receive_nth(queue_dead(*state), 32, 0, &message), ERR_OK);
    assert_int_equal(message.age_ns, 2);
}

static void test_queue_receipts_are_never_used_twice(void **state)
{
    int64_t id = send(*state, 0, "a", "1");
    int64_t first = receive(*state, 0, "1");

    assert_true(queue_expire_visibility(*state, 0, first));
    exhaust(*state, 0, "1", 2);
    assert_empty(*state, 0);
    receive(queue_dead(*state), 0, "1");
    assert_int_equal(queue_delete(queue_dead(*state), 0, first), ERR_QUEUE_STALE_RECEIPT);
    assert_true(queue_redrive(*state, 10 * MIN, id));
    receive(*state, 10 * MIN, "1");
    assert_int_equal(queue_delete(*state, 10 * MIN, first), ERR_QUEUE_STALE_RECEIPT);
}

static void test_queue_retention_over_drops_message_even_in_flight(void **state)
{
    struct queue_counts counts;
    int64_t receipt;

    send(*state, 0, "a", "1");
    send(*state, 1, "a", "2");
    receipt = receive(*state, 4 * NS_PER_DAY - 1, "1");
    assert_int_equal(queue_next_change_ns(*state, 4 * NS_PER_DAY - 1), 4 * NS_PER_DAY);
    receive(*state, 4 * NS_PER_DAY, "2");
    assert_int_equal(queue_delete(*state, 4 * NS_PER_DAY, receipt), ERR_OK);
    queue_count(*state, 4 * NS_PER_DAY, &counts);
    assert_int_equal(counts.expired_count, 1);
    assert_int_equal(counts.deleted_count, 0);
}

static void test_queue_dead_letter_retention_begins_at_the_move(void **state)
{
    int64_t moved_ns = 2 * NS_PER_DAY;
    struct queue *dead = queue_dead(*state);

    send(*state, 0, "a", "1");
    exhaust(*state, moved_ns, "1", 3);
    assert_empty(*state, moved_ns);
    assert_int_equal(queue_message_count(dead, moved_ns + 14 * NS_PER_DAY - 1), 1);
    assert_int_equal(queue_message_count(dead, moved_ns + 14 * NS_PER_DAY), 0);
}

struct losses {
    int count;
    enum queue_loss last;
    char body[RT_MESSAGE_SIZE_MAX];
};

static void note_loss(void *self, enum queue_loss loss, const struct queue_view *message)
{
    struct losses *losses = self;

    losses->count++;
    losses->last = loss;
    strcpy(losses->body, message->body);
}

static void test_queue_loss_hook_hears_of_moves_and_drops(void **state)
{
    struct losses losses = {0};

    queue_on_loss(*state, note_loss, &losses);
    send(*state, 0, "a", "1");
    send(*state, 0, "b", "2");
    exhaust(*state, 0, "1", 3);
    assert_int_equal(losses.count, 0);
    queue_available(*state, 0);
    assert_int_equal(losses.count, 1);
    assert_int_equal(losses.last, QUEUE_DEAD_LETTERED);
    assert_string_equal(losses.body, "1");
    queue_available(*state, 4 * NS_PER_DAY);
    assert_int_equal(losses.count, 2);
    assert_int_equal(losses.last, QUEUE_EXPIRED);
    assert_string_equal(losses.body, "2");
    queue_available(queue_dead(*state), 14 * NS_PER_DAY);
    assert_int_equal(losses.count, 3);
    assert_int_equal(losses.last, QUEUE_DEAD_EXPIRED);
}

static void test_queue_next_change_is_earliest_end_of_visibility(void **state)
{
    int64_t receipt;

    send(*state, 0, "a", "1");
    send(*state, 0, "b", "2");
    receipt = receive(*state, 0, "1");
    receive(*state, MIN, "2");
    assert_int_equal(queue_next_change_ns(*state, MIN), 10 * MIN);
    assert_int_equal(queue_change_visibility(*state, MIN, receipt, 20 * MIN), ERR_OK);
    assert_int_equal(queue_next_change_ns(*state, MIN), 11 * MIN);
}

static void test_queue_next_change_ignores_what_is_available(void **state)
{
    send(*state, 0, "a", "1");
    assert_int_equal(queue_next_change_ns(*state, 0), -1);
}

static void test_queue_expired_early_message_is_delivered_again(void **state)
{
    int64_t old;

    send(*state, 0, "a", "1");
    old = receive(*state, 0, "1");
    assert_true(queue_expire_visibility(*state, 1, old));
    assert_false(queue_expire_visibility(*state, 1, old));
    receive(*state, 1, "1");
    assert_int_equal(queue_delete(*state, 1, old), ERR_QUEUE_STALE_RECEIPT);
}

static void test_queue_duplicated_message_is_delivered_once_more_in_flight(void **state)
{
    int64_t first, second;

    send(*state, 0, "a", "1");
    send(*state, 0, "a", "2");
    first = receive(*state, 0, "1");
    assert_true(queue_duplicate(*state, 1, first));
    assert_false(queue_duplicate(*state, 1, first));
    assert_int_equal(queue_available(*state, 1), 1);
    second = receive(*state, 1, "1");
    assert_empty(*state, 1);
    assert_int_equal(queue_delete(*state, 1, first), ERR_QUEUE_STALE_RECEIPT);
    assert_int_equal(queue_delete(*state, 1, second), ERR_OK);
    receive(*state, 1, "2");
}

static void test_queue_duplicate_of_last_delivery_is_not_moved_while_in_flight(void **state)
{
    int64_t third;

    send(*state, 0, "a", "1");
    exhaust(*state, 0, "1", 2);
    third = receive(*state, 0, "1");
    assert_true(queue_duplicate(*state, 0, third));
    receive(*state, 0, "1");
    assert_empty(*state, 10 * MIN);
    assert_int_equal(queue_message_count(queue_dead(*state), 10 * MIN), 1);
}

static void test_queue_duplicate_of_unknown_delivery_is_refused(void **state)
{
    int64_t receipt;

    send(*state, 0, "a", "1");
    receipt = receive(*state, 0, "1");
    assert_false(queue_duplicate(*state, 10 * MIN, receipt));
}

static void test_queue_delayed_message_holds_its_group_back(void **state)
{
    int64_t id = send(*state, 0, "a", "1");

    send(*state, 0, "a", "2");
    send(*state, 0, "b", "3");
    assert_true(queue_delay_message(*state, 0, id, 3 * MIN));
    receive(*state, 0, "3");
    assert_empty(*state, 3 * MIN - 1);
    assert_int_equal(queue_next_change_ns(*state, 3 * MIN - 1), 3 * MIN);
    receive(*state, 3 * MIN, "1");
}

static void test_queue_delay_of_message_in_flight_is_refused(void **state)
{
    int64_t id = send(*state, 0, "a", "1");

    receive(*state, 0, "1");
    assert_false(queue_delay_message(*state, 0, id, MIN));
    assert_false(queue_delay_message(*state, 0, 77, MIN));
    /* Once visible again it can be, and does not count as in flight then. */
    assert_true(queue_delay_message(*state, 10 * MIN, id, MIN));
    assert_int_equal(queue_available(*state, 11 * MIN - 1), 0);
    receive(*state, 11 * MIN, "1");
}

static void test_queue_delayed_again_keeps_no_valid_receipt(void **state)
{
    int64_t id = send(*state, 0, "a", "1");
    int64_t receipt = receive(*state, 0, "1");

    assert_true(queue_expire_visibility(*state, 0, receipt));
    assert_true(queue_delay_message(*state, 0, id, MIN));
    assert_int_equal(queue_delete(*state, 0, receipt), ERR_QUEUE_STALE_RECEIPT);
}

static void test_queue_counts_and_views_tell_states_in_order(void **state)
{
    struct queue_counts counts;
    struct queue_view view;
    int64_t receipt;

    send(*state, 0, "a", "1");
    send(*state, 1, "a", "2");
    send(*state, 2, "b", "3");
    receipt = receive(*state, 2, "1");
    queue_count(*state, 2, &counts);
    assert_int_equal(counts.in_flight_count, 1);
    assert_int_equal(counts.visible_count, 2);
    assert_int_equal(counts.sent_count, 3);
    assert_int_equal(counts.received_count, 1);
    assert_int_equal(queue_message_count(*state, 2), 3);
    queue_message(*state, 2, 0, &view);
    assert_string_equal(view.body, "1");
    assert_string_equal(queue_state_name(view.state), "in flight");
    assert_int_equal(view.receipt, receipt);
    assert_int_equal(view.visible_at_ns, 10 * MIN + 2);
    queue_message(*state, 2, 1, &view);
    assert_string_equal(view.group, "a");
    assert_string_equal(view.body, "2");
    assert_int_equal(view.state, QUEUE_VISIBLE);
    assert_int_equal(view.receipt, 0);
    assert_int_equal(view.sent_ns, 1);
    assert_int_equal(view.expires_ns, 4 * NS_PER_DAY + 1);
}

static void test_queue_full_refuses_to_send(void **state)
{
    struct queue_config config = queue_config_default();
    struct queue_sent sent;
    enum err err = ERR_OK;
    int count = 0;

    config.dedup = QUEUE_DEDUP_OFF;
    queue_reset(*state, &config);
    while (err == ERR_OK && count <= QUEUE_MESSAGE_COUNT_MAX) {
        err = queue_send(*state, 0, "a", "1", &sent);
        count++;
    }
    assert_int_equal(err, ERR_INFRASTRUCTURE);
    assert_int_equal(count, QUEUE_MESSAGE_COUNT_MAX + 1);
    assert_int_equal(queue_message_count(*state, 0), QUEUE_MESSAGE_COUNT_MAX);
}

static void test_queue_reset_forgets_everything(void **state)
{
    struct queue_config config = queue_config_default();
    struct queue_counts counts;

    send(*state, 0, "a", "1");
    send(*state, 0, "b", "2");
    exhaust(*state, MIN, "1", 3);
    queue_available(*state, MIN);
    queue_reset(*state, &config);
    queue_count(*state, 0, &counts);
    assert_int_equal(counts.visible_count + counts.dead_count, 0);
    assert_int_equal(counts.sent_count, 0);
    assert_int_equal(counts.dead_lettered_count, 0);
    assert_int_equal(send(*state, 0, "a", "1"), 1);
}

/* ---- random sequences against a plain model of what is promised ---- */

#define SEQUENCE_COUNT 10000
#define OPERATION_COUNT 40
#define SENT_COUNT_MAX OPERATION_COUNT
#define GROUP_COUNT 3
#define BODY_COUNT 6

/* What the test knows of one accepted message. */
struct known {
    int group, body;
    int64_t sent_ns;
    int64_t receipt;  /* of its last delivery; 0: never delivered */
    int64_t until_ns; /* the end of that delivery */
    int receive_count;
    bool deleted, dead, duplicated;
};

struct model {
    struct queue *queue;
    struct choice_stream *stream;
    int64_t now_ns;
    struct known known[SENT_COUNT_MAX]; /* index = id - 1 */
    int known_count;
};

static bool known_in_flight(const struct model *model, const struct known *known)
{
    return known->receipt != 0 && model->now_ns < known->until_ns;
}

static bool known_is_gone(const struct known *known)
{
    return known->deleted || known->dead;
}

/* Was this body accepted within the window? */
static bool known_duplicate(const struct model *model, int body)
{
    for (int i = 0; i < model->known_count; i++) {
        const struct known *known = &model->known[i];

        if (known->body == body && model->now_ns - known->sent_ns < QUEUE_DEDUP_WINDOW_NS)
            return true;
    }
    return false;
}

static const struct known *known_head(const struct model *model, int group)
{
    for (int i = 0; i < model->known_count; i++)
        if (model->known[i].group == group && !known_is_gone(&model->known[i]))
            return &model->known[i];
    return NULL;
}

static void model_note_dead(void *self, enum queue_loss loss, const struct queue_view *message)
{
    struct model *model = self;
    struct known *known = &model->known[message->id - 1];

    assert_int_equal(loss, QUEUE_DEAD_LETTERED);
    assert_true(known->receive_count >= 3);
    assert_false(known_in_flight(model, known));
    assert_ptr_equal(known_head(model, known->group), known);
    known->dead = true;
}

static int model_available(const struct model *model)
{
    int count = 0;

    for (int group = 0; group < GROUP_COUNT; group++) {
        const struct known *head = known_head(model, group);

        if (head && (!known_in_flight(model, head) || head->duplicated))
            count++;
    }
    return count;
}

static void model_send(struct model *model)
{
    int group = (int)choice_below(model->stream, GROUP_COUNT);
    int body = (int)choice_below(model->stream, BODY_COUNT);
    char group_text[] = {(char)('a' + group), '\0'};
    char body_text[] = {(char)('0' + body), '\0'};
    bool duplicate = known_duplicate(model, body);
    struct queue_sent sent;

    assert_int_equal(queue_send(model->queue, model->now_ns, group_text, body_text, &sent), ERR_OK);
    assert_int_equal(sent.duplicate, duplicate);
    if (duplicate)
        return;
    assert_int_equal(sent.id, model->known_count + 1);
    model->known[model->known_count++] =
        (struct known){.group = group, .body = body, .sent_ns = model->now_ns};
}

static void model_deliver(struct model *model, const struct rt_message *message)
{
    struct known *known = &model->known[message->receipt / QUEUE_DELIVERY_COUNT_MAX - 1];

    /* In order, and never while in flight unless a duplicate was asked for. */
    assert_ptr_equal(known_head(model, known->group), known);
    assert_true(!known_in_flight(model, known) || known->duplicated);
    assert_int_equal(message->group[0], 'a' + known->group);
    assert_int_equal(message->body[0], '0' + known->body);
    assert_true(message->receipt > known->receipt);
    known->receive_count++;
    assert_int_equal(message->receive_count, known->receive_count);
    known->duplicated = false;
    known->receipt = message->receipt;
    known->until_ns = model->now_ns + 10 * MIN;
}

static void model_receive(struct model *model)
{
    int available = queue_available(model->queue, model->now_ns);
    struct rt_message message;
    int n;

    assert_int_equal(available, model_available(model));
    if (available == 0) {
        assert_int_equal(queue_receive_nth(model->queue, model->now_ns, 0, &message),
                         ERR_QUEUE_EMPTY);
        return;
    }
    n = (int)choice_below(model->stream, (uint32_t)available);
    assert_int_equal(queue_receive_nth(model->queue, model->now_ns, n, &message), ERR_OK);
    model_deliver(model, &message);
}

/* Some message that was delivered at least once, or NULL. */
static struct known *model_pick(struct model *model)
{
    struct known *known;

    if (model->known_count == 0)
        return NULL;
    known = &model->known[choice_below(model->stream, (uint32_t)model->known_count)];
    return known->receipt != 0 ? known : NULL;
}

static void model_delete(struct model *model)
{
    struct known *known = model_pick(model);
    enum err err;

    if (!known)
        return;
    err = queue_delete(model->queue, model->now_ns, known->receipt);
    if (known->deleted) {
        assert_int_equal(err, ERR_OK);
        return;
    }
    if (known->dead || !known_in_flight(model, known)) {
        assert_int_equal(err, ERR_QUEUE_STALE_RECEIPT);
        return;
    }
    assert_int_equal(err, ERR_OK);
    known->deleted = true;
}

static void model_change_visibility(struct model *model)
{
    struct known *known = model_pick(model);
    int64_t in_ns = choice_below(model->stream, 3) * 4 * MIN;
    bool valid;

    if (!known)
        return;
    valid = !known_is_gone(known) && known_in_flight(model, known);
    assert_int_equal(queue_change_visibility(model->queue, model->now_ns, known->receipt, in_ns),
                     valid ? ERR_OK : ERR_QUEUE_STALE_RECEIPT);
    if (valid)
        known->until_ns = model->now_ns + in_ns;
}

static void model_duplicate(struct model *model)
{
    struct known *known = model_pick(model);
    bool valid;

    if (!known)
        return;
    valid = !known_is_gone(known) && known_in_flight(model, known) && !known->duplicated;
    assert_int_equal(queue_duplicate(model->queue, model->now_ns, known->receipt), valid);
    if (valid)
        known->duplicated = true;
}

static void model_wait(struct model *model)
{
    model->now_ns += choice_below(model->stream, 4) * 2 * MIN;
}

static void model_operate(struct model *model)
{
    static void (*const operations[])(struct model *) = {
        model_receive,           model_send, model_send,      model_receive, model_delete,
        model_change_visibility, model_wait, model_duplicate, model_receive,
    };

    operations[choice_below(model->stream, FP_COUNT(operations))](model);
}

/* At least once: whatever was accepted can be had until it is deleted, or it is a dead letter. */
static void model_drain(struct model *model)
{
    struct rt_message message;

    model->now_ns += 20 * MIN;
    while (queue_available(model->queue, model->now_ns) > 0) {
        assert_int_equal(queue_receive_nth(model->queue, model->now_ns, 0, &message), ERR_OK);
        model_deliver(model, &message);
        assert_int_equal(queue_delete(model->queue, model->now_ns, message.receipt), ERR_OK);
        model->known[message.receipt / QUEUE_DELIVERY_COUNT_MAX - 1].deleted = true;
    }
    for (int i = 0; i < model->known_count; i++) {
        assert_true(known_is_gone(&model->known[i]));
        assert_true(model->known[i].receive_count > 0);
    }
    assert_int_equal(queue_message_count(model->queue, model->now_ns), 0);
}

static void check_dead_letters(struct model *model)
{
    struct queue *dead = queue_dead(model->queue);
    int dead_count = 0;

    for (int i = 0; i < model->known_count; i++)
        dead_count += model->known[i].dead ? 1 : 0;
    assert_int_equal(queue_message_count(dead, model->now_ns), dead_count);
    for (int i = 0; i < dead_count; i++) {
        struct queue_view view;

        queue_message(dead, model->now_ns, i, &view);
        assert_true(model->known[view.id - 1].dead);
    }
}

static void test_queue_random_sequences_keep_all_promises(void **state)
{
    struct queue_config config = queue_config_default();
    struct choices *choices = choices_new(0);
    int dead_total = 0;

    for (uint64_t seed = 0; seed < SEQUENCE_COUNT; seed++) {
        struct model model = {.queue = *state};

        choices_reset(choices, seed);
        model.stream = choices_stream(choices, "queue");
        queue_reset(*state, &config);
        queue_on_loss(*state, model_note_dead, &model);
        for (int i = 0; i < OPERATION_COUNT; i++)
            model_operate(&model);
        model_drain(&model);
        check_dead_letters(&model);
        dead_total += queue_message_count(queue_dead(*state), model.now_ns);
    }
    /* The sequences do reach the interesting part. */
    assert_true(dead_total > SEQUENCE_COUNT / 100);
    choices_free(choices);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_queue_default_config_is_the_documents),
        TEST(test_queue_received_message_carries_what_was_sent),
        TEST(test_queue_empty_gives_nothing),
        TEST(test_queue_group_in_flight_blocks_its_later_messages),
        TEST(test_queue_message_returned_comes_before_later_ones),
        TEST(test_queue_other_group_is_delivered_meanwhile),
        TEST(test_queue_nth_chooses_among_group_heads_in_order_of_sending),
        TEST(test_queue_visibility_over_delivers_again_and_counts),
        TEST(test_queue_visibility_of_config_is_used),
        TEST(test_queue_change_visibility_counts_from_now),
        TEST(test_queue_change_visibility_shortens_too),
        TEST(test_queue_delete_after_new_delivery_is_stale_and_keeps_message),
        TEST(test_queue_delete_after_visibility_ran_out_is_stale),
        TEST(test_queue_receipt_given_back_is_stale),
        TEST(test_queue_delete_twice_is_ok_but_change_visibility_is_stale),
        TEST(test_queue_same_body_within_window_is_taken_once),
        TEST(test_queue_same_body_after_window_is_taken_again),
        TEST(test_queue_duplicate_send_does_not_prolong_window),
        TEST(test_queue_deleted_message_still_deduplicates),
        TEST(test_queue_scope_queue_deduplicates_across_groups),
        TEST(test_queue_scope_group_keeps_other_groups),
        TEST(test_queue_scope_off_takes_everything),
        TEST(test_queue_delay_holds_new_messages_back),
        TEST(test_queue_third_return_moves_to_dead_letters_at_next_receive),
        TEST(test_queue_third_delivery_can_still_be_deleted),
        TEST(test_queue_move_to_dead_letters_frees_the_group),
        TEST(test_queue_receipt_of_dead_letter_is_stale),
        TEST(test_queue_without_max_receive_count_never_moves),
        TEST(test_queue_dead_letter_can_be_received_and_deleted),
        TEST(test_queue_redrive_puts_back_at_end_with_fresh_count),
        TEST(test_queue_redrive_of_dead_letter_in_flight_is_refused),
        TEST(test_queue_redrive_by_receipt_puts_back_as_new),
        TEST(test_queue_redrive_by_receipt_that_ran_out_is_refused),
        TEST(test_queue_age_is_since_it_was_sent_or_died),
        TEST(test_queue_receipts_are_never_used_twice),
        TEST(test_queue_retention_over_drops_message_even_in_flight),
        TEST(test_queue_dead_letter_retention_begins_at_the_move),
        TEST(test_queue_loss_hook_hears_of_moves_and_drops),
        TEST(test_queue_next_change_is_earliest_end_of_visibility),
        TEST(test_queue_next_change_ignores_what_is_available),
        TEST(test_queue_expired_early_message_is_delivered_again),
        TEST(test_queue_duplicated_message_is_delivered_once_more_in_flight),
        TEST(test_queue_duplicate_of_last_delivery_is_not_moved_while_in_flight),
        TEST(test_queue_duplicate_of_unknown_delivery_is_refused),
        TEST(test_queue_delayed_message_holds_its_group_back),
        TEST(test_queue_delay_of_message_in_flight_is_refused),
        TEST(test_queue_delayed_again_keeps_no_valid_receipt),
        TEST(test_queue_counts_and_views_tell_states_in_order),
        TEST(test_queue_full_refuses_to_send),
        TEST(test_queue_reset_forgets_everything),
        TEST(test_queue_random_sequences_keep_all_promises),
    };

    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
