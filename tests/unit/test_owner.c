#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/core/base.h"
#include "sim/pg/docker.h"
#include "sim/pg/owner.h"
#include "sim/pg/process.h"

/* Replace the part of an id with that index, counted from 0. */
static const char *with_part(const char *id, int index, const char *value)
{
    static char changed[2 * OWNER_ID_SIZE_MAX];
    const char *part = id;
    for (int i = 0; i < index; i++)
        part = strchr(part, '/') + 1;
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(part - id), id, value,
             part + strcspn(part, "/"));
    return changed;
}

static void test_owner_of_a_living_process_lives(void **state)
{
    (void)state;
    char id[OWNER_ID_SIZE_MAX];
    owner_id(id);
    assert_int_equal(owner_judge(id), OWNER_LIVES);
    assert_true(owner_process_lives(getpid(), process_start_ticks(getpid())));
}

static void test_owner_of_a_dead_process_is_dead(void **state)
{
    (void)state;
    char id[OWNER_ID_SIZE_MAX] = "";
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        owner_id(id);
        _exit(write(ends[1], id, sizeof id) == sizeof id ? 0 : 1);
    }
    assert_int_equal(read(ends[0], id, sizeof id), sizeof id);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(owner_judge(id), OWNER_DEAD);
    close(ends[0]);
    close(ends[1]);
}

static void test_owner_number_used_again_is_dead(void **state)
{
    (void)state;
    char id[OWNER_ID_SIZE_MAX];
    owner_id(id);
    assert_int_equal(owner_judge(with_part(id, 6, "1")), OWNER_DEAD);
    assert_false(owner_process_lives(getpid(), 1));
}

static void test_owner_before_the_machine_started_is_dead(void **state)
{
    (void)state;
    char id[OWNER_ID_SIZE_MAX];
    owner_id(id);
    const char *boot = "00000000-0000-0000-0000-000000000000";
    assert_int_equal(owner_judge(with_part(id, 2, boot)), OWNER_DEAD);
}

static void test_owner_elsewhere_is_never_called_dead(void **state)
{
    (void)state;
    char id[OWNER_ID_SIZE_MAX];
    owner_id(id);
    assert_int_equal(owner_judge(with_part(id, 1, "0123456789abcdef")), OWNER_FOREIGN);
    assert_int_equal(owner_judge(with_part(id, 3, "1")), OWNER_FOREIGN);
    assert_int_equal(owner_judge(with_part(id, 4, "4294967294")), OWNER_FOREIGN);
}

static void test_owner_other_text_is_foreign(void **state)
{
    (void)state;
    char id[OWNER_ID_SIZE_MAX];
    owner_id(id);
    assert_int_equal(owner_judge(""), OWNER_FOREIGN);
    assert_int_equal(owner_judge("somebody"), OWNER_FOREIGN);
    assert_int_equal(owner_judge(with_part(id, 0, "2")), OWNER_FOREIGN);
    assert_int_equal(owner_judge(with_part(id, 5, "+1")), OWNER_FOREIGN);
    assert_int_equal(owner_judge(with_part(id, 6, "1 ")), OWNER_FOREIGN);
}

static void test_owner_random_fills_and_differs(void **state)
{
    (void)state;
    char one[33], other[33];
    owner_random_hex(one, sizeof one);
    owner_random_hex(other, sizeof other);
    assert_int_equal(strspn(one, "0123456789abcdef"), 32);
    assert_string_not_equal(one, other);
}

static void assert_image(const char *image, const char *prefix, const char *expected)
{
    char *name = docker_image_name(image, prefix);
    assert_string_equal(name, expected);
    free(name);
}

static void test_docker_image_gets_the_prefix_unless_it_names_a_registry(void **state)
{
    (void)state;
    assert_image("postgres:18", NULL, "postgres:18");
    assert_image("postgres:18", "mirror.example.com/hub", "mirror.example.com/hub/postgres:18");
    assert_image("team/postgres", "mirror.example.com/", "mirror.example.com/team/postgres");
    assert_image("ghcr.io/team/postgres", "mirror.example.com/", "ghcr.io/team/postgres");
    assert_image("localhost/postgres", "mirror.example.com/", "localhost/postgres");
    assert_image("host:5000/postgres", "mirror.example.com/", "host:5000/postgres");
}

static void test_process_inner_pid_of_an_ordinary_process_is_its_own(void **state)
{
    (void)state;
    assert_int_equal(process_inner_pid(getpid()), getpid());
    assert_int_equal(process_child_by_inner_pid(getpid(), 1), 0);
    pid_t pid = fork();
    if (pid == 0)
        pause();
    assert_int_equal(process_child_by_inner_pid(getpid(), pid), pid);
    assert_false(process_title_holds(pid, "postgres"));
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_owner_of_a_living_process_lives),
        cmocka_unit_test(test_owner_of_a_dead_process_is_dead),
        cmocka_unit_test(test_owner_number_used_again_is_dead),
        cmocka_unit_test(test_owner_before_the_machine_started_is_dead),
        cmocka_unit_test(test_owner_elsewhere_is_never_called_dead),
        cmocka_unit_test(test_owner_other_text_is_foreign),
        cmocka_unit_test(test_owner_random_fills_and_differs),
        cmocka_unit_test(test_docker_image_gets_the_prefix_unless_it_names_a_registry),
        cmocka_unit_test(test_process_inner_pid_of_an_ordinary_process_is_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
