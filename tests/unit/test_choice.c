#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/core/choice.h"
#include "tests/lib/death.h"

#define DRAW_COUNT 200

static void draw(struct choices *choices, const char *stream, uint32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = choice_below(choices_stream(choices, stream), 1000);
}

static void test_choice_same_seed_draws_the_same(void **state)
{
    (void)state;
    struct choices *first = choices_new(7), *second = choices_new(7);
    uint32_t a[DRAW_COUNT], b[DRAW_COUNT];
    draw(first, "schedule", a, DRAW_COUNT);
    draw(second, "schedule", b, DRAW_COUNT);
    assert_memory_equal(a, b, sizeof(a));
    choices_free(first);
    choices_free(second);
}

/* Pinned: failure files are worth nothing when a seed comes to mean another run. When this changes
 * on purpose, FP_ENGINE_VERSION goes up. */
static void test_choice_seed_1_draws_the_pinned_values(void **state)
{
    (void)state;
    static const uint32_t pinned[] = {220, 803, 15, 472, 842, 460, 852, 544};
    uint32_t values[FP_COUNT(pinned)];
    struct choices *choices = choices_new(1);
    draw(choices, "schedule", values, FP_COUNT(pinned));
    for (size_t i = 0; i < FP_COUNT(pinned); i++)
        assert_int_equal(values[i], pinned[i]);
    choices_free(choices);
}

static void test_choice_another_seed_draws_something_else(void **state)
{
    (void)state;
    struct choices *first = choices_new(7), *second = choices_new(8);
    uint32_t a[DRAW_COUNT], b[DRAW_COUNT];
    draw(first, "schedule", a, DRAW_COUNT);
    draw(second, "schedule", b, DRAW_COUNT);
    assert_memory_not_equal(a, b, sizeof(a));
    choices_free(first);
    choices_free(second);
}

static void test_choice_another_stream_draws_something_else(void **state)
{
    (void)state;
    struct choices *choices = choices_new(7);
    uint32_t a[DRAW_COUNT], b[DRAW_COUNT];
    draw(choices, "fault.0.crash", a, DRAW_COUNT);
    draw(choices, "fault.1.crash", b, DRAW_COUNT);
    assert_memory_not_equal(a, b, sizeof(a));
    choices_free(choices);
}

static void test_choice_stream_removed_leaves_the_others_alone(void **state)
{
    (void)state;
    struct choices *with = choices_new(7), *without = choices_new(7);
    uint32_t a[DRAW_COUNT], b[DRAW_COUNT];
    for (size_t i = 0; i < DRAW_COUNT; i++) {
        choice_below(choices_stream(with, "fault.0.pause"), 1 + (uint32_t)i);
        draw(with, "schedule", &a[i], 1);
    }
    draw(without, "schedule", b, DRAW_COUNT);
    assert_memory_equal(a, b, sizeof(a));
    choices_free(with);
    choices_free(without);
}

static void test_choice_streams_are_listed_in_order_of_first_use(void **state)
{
    (void)state;
    struct choices *choices = choices_new(7);
    choices_stream(choices, "world");
    choices_stream(choices, "schedule");
    choices_stream(choices, "world");
    assert_int_equal(choices_stream_count(choices), 2);
    assert_string_equal(choices_stream_name(choices, 0), "world");
    assert_string_equal(choices_stream_name(choices, 1), "schedule");

    choices_reset(choices, 7);
    assert_int_equal(choices_stream_count(choices), 0);
    choices_replay(choices, "never used", NULL, 0);
    choices_stream(choices, "schedule");
    choices_stream(choices, "world");
    assert_int_equal(choices_stream_count(choices), 2);
    assert_string_equal(choices_stream_name(choices, 0), "schedule");
    assert_string_equal(choices_stream_name(choices, 1), "world");
    choices_free(choices);
}

static void test_choice_draws_are_recorded_except_below_1(void **state)
{
    (void)state;
    struct choices *choices = choices_new(7);
    struct choice_stream *stream = choices_stream(choices, "schedule");
    uint32_t first = choice_below(stream, 10);
    assert_int_equal(choice_below(stream, 1), 0);
    assert_int_equal(choice_rare(stream, 1, 1000000), 0);
    assert_int_equal(choice_range(stream, 5, 5, 100), 5);
    uint32_t second = choice_rare(stream, 10, 500000);

    size_t count;
    const uint32_t *values = choices_values(choices, 0, &count);
    assert_int_equal(count, 2);
    assert_int_equal(values[0], first);
    assert_int_equal(values[1], second);
    choices_free(choices);
}

static void test_choice_reset_starts_again_in_the_same_memory(void **state)
{
    (void)state;
    struct choices *choices = choices_new(7);
    struct choice_stream *held = choices_stream(choices, "schedule");
    uint32_t a[DRAW_COUNT], b[DRAW_COUNT];
    size_t count;
    draw(choices, "schedule", a, DRAW_COUNT);
    const uint32_t *memory = choices_values(choices, 0, &count);

    choices_reset(choices, 8);
    draw(choices, "schedule", b, DRAW_COUNT);
    assert_memory_not_equal(a, b, sizeof(a));

    choices_reset(choices, 7);
    for (size_t i = 0; i < DRAW_COUNT; i++)
        b[i] = choice_below(held, 1000);
    assert_memory_equal(a, b, sizeof(a));
    assert_ptr_equal(choices_values(choices, 0, &count), memory);
    assert_int_equal(count, DRAW_COUNT);
    assert_ptr_equal(choices_stream(choices, "schedule"), held);
    choices_free(choices);
}

static void test_choice_reset_forgets_the_replay(void **state)
{
    (void)state;
    struct choices *choices = choices_new(7);
    static const uint32_t recorded[] = {5000};
    uint32_t a[DRAW_COUNT], b[DRAW_COUNT];
    draw(choices, "schedule", a, DRAW_COUNT);
    choices_reset(choices, 7);
    choices_replay(choices, "schedule", recorded, 1);
    draw(choices, "schedule", b, DRAW_COUNT);
    assert_true(choices_bent(choices));

    choices_reset(choices, 7);
    assert_false(choices_bent(choices));
    draw(choices, "schedule", b, DRAW_COUNT);
    assert_memory_equal(a, b, sizeof(a));
    choices_free(choices);
}

static void test_choice_replay_of_a_recording_gives_the_same_run(void **state)
{
    (void)state;
    struct choices *original = choices_new(7), *replayed = choices_new(99);
    int64_t drawn[60], again[60];
    for (int round = 0; round < 2; round++) {
        struct choices *choices = round == 0 ? original : replayed;
        int64_t *results = round == 0 ? drawn : again;
        struct choice_stream *stream = choices_stream(choices, "fault.0.pause");
        for (size_t i = 0; i < 60; i += 3) {
            results[i] = choice_below(stream, 1 + (uint32_t)i);
            results[i + 1] = choice_rare(stream, 5, 300000);
            results[i + 2] = choice_range(stream, -NS_PER_DAY, NS_PER_DAY, 100);
        }
        if (round == 1)
            break;
        size_t count;
        const uint32_t *values = choices_values(original, 0, &count);
        choices_replay(replayed, "fault.0.pause", values, count);
    }
    assert_memory_equal(drawn, again, sizeof(drawn));
    assert_false(choices_bent(replayed));

    size_t count, count_again;
    const uint32_t *values = choices_values(original, 0, &count);
    const uint32_t *values_again = choices_values(replayed, 0, &count_again);
    assert_int_equal(count, count_again);
    assert_memory_equal(values, values_again, count * sizeof(values[0]));
    choices_free(original);
    choices_free(replayed);
}

static void test_choice_replay_value_too_large_is_bent(void **state)
{
    (void)state;
    static const uint32_t recorded[] = {2, 13, 9};
    struct choices *choices = choices_new(7);
    choices_replay(choices, "schedule", recorded, 3);
    struct choice_stream *stream = choices_stream(choices, "schedule");
    assert_int_equal(choice_below(stream, 10), 2);
    assert_int_equal(choice_below(stream, 1), 0);
    assert_false(choices_bent(choices));
    assert_int_equal(choice_below(stream, 10), 3);
    assert_true(choices_bent(choices));
    assert_int_equal(choice_rare(stream, 4, 1000000), 1);

    /* What is recorded is what was answered. */
    size_t count;
    const uint32_t *values = choices_values(choices, 0, &count);
    assert_int_equal(count, 3);
    assert_int_equal(values[1], 3);
    assert_int_equal(values[2], 1);
    choices_free(choices);
}

static void test_choice_replay_past_the_end_answers_0_and_is_bent(void **state)
{
    (void)state;
    static const uint32_t recorded[] = {4};
    struct choices *choices = choices_new(7);
    choices_replay(choices, "schedule", recorded, 1);
    struct choice_stream *stream = choices_stream(choices, "schedule");
    assert_int_equal(choice_below(stream, 10), 4);
    assert_false(choices_bent(choices));
    for (int i = 0; i < 20; i++)
        assert_int_equal(choice_below(stream, 10), 0);
    assert_true(choices_bent(choices));
    choices_free(choices);
}

static void test_choice_replay_of_one_stream_leaves_the_others_drawing(void **state)
{
    (void)state;
    struct choices *plain = choices_new(7), *mixed = choices_new(7);
    uint32_t a[DRAW_COUNT], b[DRAW_COUNT];
    choices_replay(mixed, "world", NULL, 0);
    draw(plain, "schedule", a, DRAW_COUNT);
    draw(mixed, "schedule", b, DRAW_COUNT);
    assert_memory_equal(a, b, sizeof(a));
    assert_false(choices_bent(mixed));
    choices_free(plain);
    choices_free(mixed);
}

/* The seed is fixed, so these bounds can't fail by chance: five standard deviations, and more. */
static void test_choice_below_is_uniform(void **state)
{
    (void)state;
    static const uint32_t limits[] = {2, 3, 7, 10, 64};
    struct choices *choices = choices_new(2026);
    struct choice_stream *stream = choices_stream(choices, "schedule");
    for (size_t i = 0; i < FP_COUNT(limits); i++) {
        int counts[64] = {0};
        int expected = 10000, slack = 500;
        for (uint32_t draws = 0; draws < limits[i] * 10000; draws++)
            counts[choice_below(stream, limits[i])]++;
        for (uint32_t value = 0; value < limits[i]; value++)
            assert_in_range(counts[value], expected - slack, expected + slack);
    }
    choices_free(choices);
}

/* With n at three quarters of 2^32 a plain modulo would draw the lowest third twice as often. */
static void test_choice_below_a_huge_n_is_not_biased(void **state)
{
    (void)state;
    struct choices *choices = choices_new(2026);
    struct choice_stream *stream = choices_stream(choices, "schedule");
    uint32_t third = UINT32_C(1) << 30;
    int counts[3] = {0};
    for (int i = 0; i < 30000; i++)
        counts[choice_below(stream, 3 * third) / third]++;
    for (int i = 0; i < 3; i++)
        assert_in_range(counts[i], 9500, 10500);
    choice_below(stream, UINT32_MAX);
    choices_free(choices);
}

/* Multiplying without rejecting gives every third answer twice the odds here. */
static void test_choice_below_a_huge_n_has_even_remainders(void **state)
{
    (void)state;
    struct choices *choices = choices_new(2026);
    struct choice_stream *stream = choices_stream(choices, "schedule");
    int counts[3] = {0};
    for (int i = 0; i < 30000; i++)
        counts[choice_below(stream, UINT32_C(3) << 30) % 3]++;
    for (int i = 0; i < 3; i++)
        assert_in_range(counts[i], 9500, 10500);
    choices_free(choices);
}

static void test_choice_rare_has_its_odds(void **state)
{
    (void)state;
    struct choices *choices = choices_new(2026);
    struct choice_stream *stream = choices_stream(choices, "fault.0.crash");
    int counts[4] = {0};
    for (int i = 0; i < 1000000; i++)
        counts[choice_rare(stream, 4, 30000)]++;
    assert_in_range(counts[0], 969000, 971000);
    for (int value = 1; value < 4; value++)
        assert_in_range(counts[value], 9500, 10500);
    choices_free(choices);
}

static void test_choice_rare_at_the_ends_is_never_and_always(void **state)
{
    (void)state;
    struct choices *choices = choices_new(7);
    struct choice_stream *stream = choices_stream(choices, "fault.0.crash");
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(choice_rare(stream, 2, 0), 0);
        assert_int_equal(choice_rare(stream, 2, 1000000), 1);
    }
    choices_free(choices);
}

static void expect_notch(uint32_t notch, int64_t low, int64_t high, uint32_t notch_count,
                         int64_t expected)
{
    struct choices *choices = choices_new(7);
    choices_replay(choices, "s", &notch, 1);
    assert_true(choice_range(choices_stream(choices, "s"), low, high, notch_count) == expected);
    assert_false(choices_bent(choices));
    choices_free(choices);
}

static void test_choice_range_notches_go_from_low_to_high(void **state)
{
    (void)state;
    expect_notch(0, 20, 90, 7, 20);
    expect_notch(1, 20, 90, 7, 30);
    expect_notch(7, 20, 90, 7, 90);
    expect_notch(1, 20, 90, 2, 55);
    expect_notch(2, 0, 3, 1000, 2);
    expect_notch(3, 0, 3, 1000, 3);
    expect_notch(1, -5, 5, 1, 5);
}

static void test_choice_range_of_everything_does_not_overflow(void **state)
{
    (void)state;
    expect_notch(0, INT64_MIN, INT64_MAX, UINT32_MAX - 1, INT64_MIN);
    expect_notch(UINT32_MAX - 1, INT64_MIN, INT64_MAX, UINT32_MAX - 1, INT64_MAX);
    expect_notch(1, INT64_MIN, INT64_MAX, 2, -1);
}

static void test_choice_range_draws_stay_inside_and_reach_both_ends(void **state)
{
    (void)state;
    struct choices *choices = choices_new(7);
    struct choice_stream *stream = choices_stream(choices, "s");
    bool low_seen = false, high_seen = false;
    for (int i = 0; i < 1000; i++) {
        int64_t value = choice_range(stream, -30, 30, 6);
        assert_true(value >= -30);
        assert_true(value <= 30);
        assert_int_equal(value % 10, 0);
        low_seen = low_seen || value == -30;
        high_seen = high_seen || value == 30;
    }
    assert_true(low_seen);
    assert_true(high_seen);
    choices_free(choices);
}

static void draw_below_0(void)
{
    choice_below(choices_stream(choices_new(7), "s"), 0);
}

static void use_too_many_streams(void)
{
    struct choices *choices = choices_new(7);
    char name[] = "stream-00";
    for (int i = 0; i <= CHOICE_STREAM_COUNT_MAX; i++) {
        name[7] = (char)('0' + i / 10);
        name[8] = (char)('0' + i % 10);
        choices_stream(choices, name);
    }
}

static void use_a_name_too_long(void)
{
    choices_stream(choices_new(7), "a-name-of-48-characters-has-no-room-for-its-end.");
}

static void replay_after_a_draw(void)
{
    struct choices *choices = choices_new(7);
    choice_below(choices_stream(choices, "s"), 2);
    choices_replay(choices, "s", NULL, 0);
}

static void test_choice_misuse_is_a_harness_bug(void **state)
{
    (void)state;
    assert_int_equal(death_of(draw_below_0).exit_code, EXIT_HARNESS_BUG);
    assert_int_equal(death_of(use_too_many_streams).exit_code, EXIT_HARNESS_BUG);
    assert_int_equal(death_of(use_a_name_too_long).exit_code, EXIT_HARNESS_BUG);
    assert_int_equal(death_of(replay_after_a_draw).exit_code, EXIT_HARNESS_BUG);
}

static void test_choice_zero_others_leaves_only_what_is_fed_back(void **state)
{
    (void)state;
    static const uint32_t fed[] = {5, 7};
    struct choices *choices = choices_new(3);
    uint32_t values[4];
    choices_replay(choices, "schedule", fed, 2);
    choices_zero_others(choices);
    draw(choices, "schedule", values, 4);
    assert_int_equal(values[0], 5);
    assert_int_equal(values[1], 7);
    assert_int_equal(values[2], 0);
    draw(choices, "other", values, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(values[i], 0);
    assert_int_equal(choice_rare(choices_stream(choices, "rare"), 9, 1000000), 0);
    /* Only until the next run. */
    choices_reset(choices, 3);
    assert_int_not_equal(choice_rare(choices_stream(choices, "rare"), 9, 1000000), 0);
    choices_free(choices);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice_zero_others_leaves_only_what_is_fed_back),
        cmocka_unit_test(test_choice_same_seed_draws_the_same),
        cmocka_unit_test(test_choice_seed_1_draws_the_pinned_values),
        cmocka_unit_test(test_choice_another_seed_draws_something_else),
        cmocka_unit_test(test_choice_another_stream_draws_something_else),
        cmocka_unit_test(test_choice_stream_removed_leaves_the_others_alone),
        cmocka_unit_test(test_choice_streams_are_listed_in_order_of_first_use),
        cmocka_unit_test(test_choice_draws_are_recorded_except_below_1),
        cmocka_unit_test(test_choice_reset_starts_again_in_the_same_memory),
        cmocka_unit_test(test_choice_reset_forgets_the_replay),
        cmocka_unit_test(test_choice_replay_of_a_recording_gives_the_same_run),
        cmocka_unit_test(test_choice_replay_value_too_large_is_bent),
        cmocka_unit_test(test_choice_replay_past_the_end_answers_0_and_is_bent),
        cmocka_unit_test(test_choice_replay_of_one_stream_leaves_the_others_drawing),
        cmocka_unit_test(test_choice_below_is_uniform),
        cmocka_unit_test(test_choice_below_a_huge_n_is_not_biased),
        cmocka_unit_test(test_choice_below_a_huge_n_has_even_remainders),
        cmocka_unit_test(test_choice_rare_has_its_odds),
        cmocka_unit_test(test_choice_rare_at_the_ends_is_never_and_always),
        cmocka_unit_test(test_choice_range_notches_go_from_low_to_high),
        cmocka_unit_test(test_choice_range_of_everything_does_not_overflow),
        cmocka_unit_test(test_choice_range_draws_stay_inside_and_reach_both_ends),
        cmocka_unit_test(test_choice_misuse_is_a_harness_bug),
    };
    return cmocka_run_group_tests_name("choice", tests, NULL, NULL);
}
