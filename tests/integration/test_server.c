/* Servers of our own, started for real: nothing of them is left, whoever is killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/pg/process.h"
#include "sim/pg/server.h"
#include "sim/pg/tree.h"

#define GONE_TIMEOUT_MS 8000
#define GONE_PAUSE_MS 20

/* A place of this test's own: whatever is in it afterwards was left behind. */
static char work_dir[64];

static struct pg_server_options options_here(void)
{
    return (struct pg_server_options){.bin_dir = NULL, .work_dir = work_dir, .cpu = -1};
}

static int setup(void **state)
{
    (void)state;
    snprintf(work_dir, sizeof(work_dir), "%s/fp-test-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(work_dir) == NULL)
        return -1;
    return chmod(work_dir, 0755);
}

static int teardown(void **state)
{
    (void)state;
    pg_template_remove();
    return tree_remove(work_dir, NULL) ? 0 : -1;
}

static int count_entries(const char *path)
{
    int count = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL)
        count += entry->d_name[0] != '.' ? 1 : 0;
    closedir(dir);
    return count;
}

/* Written apart from the code under test: any process that mentions the place, or is in it. */
static bool process_mentions(const char *pid, const char *text)
{
    char path[64 + NAME_MAX], content[8192];

    snprintf(path, sizeof(path), "/proc/%s/cwd", pid);
    ssize_t size = readlink(path, content, sizeof(content) - 1);
    if (size > 0) {
        content[size] = '\0';
        if (strstr(content, text) != NULL)
            return true;
    }
    snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size = read(fd, content, sizeof(content));
    close(fd);
    return size > 0 && memmem(content, (size_t)size, text, strlen(text)) != NULL;
}

static int count_processes(void)
{
    int count = 0;
    DIR *proc = opendir("/proc");
    assert_non_null(proc);
    const struct dirent *entry;
    while ((entry = readdir(proc)) != NULL)
        if (isdigit((unsigned char)entry->d_name[0]) && process_mentions(entry->d_name, work_dir))
            count++;
    closedir(proc);
    return count;
}

static int count_segments_of(pid_t creator)
{
    int count = 0;
    struct shm_info info;
    int index_max = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info);
    for (int index = 0; index <= index_max; index++) {
        struct shmid_ds segment;
        if (shmctl(index, SHM_STAT_ANY, &segment) >= 0 && segment.shm_cpid == creator)
            count++;
    }
    return count;
}

static bool all_is_gone(void)
{
    return count_entries(work_dir) == 0 && count_processes() == 0;
}

static bool becomes_all_gone(void)
{
    for (int waited_ms = 0; waited_ms < GONE_TIMEOUT_MS; waited_ms += GONE_PAUSE_MS) {
        if (all_is_gone())
            return true;
        (void)poll(NULL, 0, GONE_PAUSE_MS);
    }
    return false;
}

static void make_template(void)
{
    struct pg_server_options options = options_here();
    struct strbuf why = STRBUF_INIT;
    if (pg_template_make(&options, &why) != ERR_OK)
        fail_msg("%s", strbuf_str(&why));
    strbuf_release(&why);
}

static struct pg_server *start(int lane)
{
    struct pg_server_options options = options_here();
    struct strbuf why = STRBUF_INIT;
    struct pg_server *server = NULL;
    if (pg_server_start(&options, lane, &server, &why) != ERR_OK)
        fail_msg("%s", strbuf_str(&why));
    strbuf_release(&why);
    return server;
}

static PGconn *connect_to(const char *conninfo)
{
    PGconn *conn = PQconnectdb(conninfo);
    if (PQstatus(conn) != CONNECTION_OK)
        fail_msg("%s", PQerrorMessage(conn));
    return conn;
}

static void ask(PGconn *conn, const char *sql, char *answer, size_t answer_size)
{
    PGresult *result = PQexec(conn, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(conn));
    snprintf(answer, answer_size, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
}

static pid_t postmaster_of(int lane)
{
    char data_dir[PATH_MAX] = "";
    uid_t uid;

    DIR *dir = opendir(work_dir);
    assert_non_null(dir);
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        if (strncmp(entry->d_name, "fencepost-", strlen("fencepost-")) == 0)
            snprintf(data_dir, sizeof(data_dir), "%s/%s/lane-%d/data", work_dir, entry->d_name,
                     lane);
    }
    closedir(dir);
    return postmaster_pid(data_dir, &uid);
}

static void test_server_started_and_stopped_twice_leaves_nothing(void **state)
{
    (void)state;
    make_template();
    for (int i = 0; i < 2; i++) {
        struct pg_server *server = start(0);
        pid_t postmaster = postmaster_of(0);
        assert_true(postmaster > 0);
        assert_int_equal(count_segments_of(postmaster), 1);
        assert_true(pg_server_can_signal(server));
        pg_server_stop(server);
        assert_int_equal(count_processes(), 0);
        assert_int_equal(count_segments_of(postmaster), 0);
        assert_int_equal(postmaster_of(0), 0);
    }
    pg_template_remove();
    assert_true(all_is_gone());
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void test_server_roles_and_settings_are_as_promised(void **state)
{
    static const char *const expected[][2] = {
        {"SELECT current_user", "fencepost"},
        {"SELECT current_database()", "fencepost"},
        {"SELECT rolsuper FROM pg_roles WHERE rolname = current_user", "f"},
        {"SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()",
         "fencepost"},
        {"SHOW deadlock_timeout", "50ms"},
        {"SHOW plan_cache_mode", "force_generic_plan"},
        {"SHOW synchronous_commit", "on"},
        {"SHOW autovacuum", "off"},
        {"SHOW TimeZone", "UTC"},
        {"SHOW dynamic_shared_memory_type", "mmap"},
        {"SELECT count(*) FROM pg_settings WHERE pending_restart", "0"},
    };
    char answer[128];

    (void)state;
    make_template();
    struct pg_server *server = start(0);
    PGconn *conn = connect_to(pg_server_conninfo(server));
    for (size_t i = 0; i < FP_COUNT(expected); i++) {
        ask(conn, expected[i][0], answer, sizeof(answer));
        assert_string_equal(answer, expected[i][1]);
    }
    PQclear(PQexec(conn, "CREATE TABLE mine (id int)"));
    ask(conn, "SELECT count(*) FROM mine", answer, sizeof(answer));
    ask(conn, "SHOW server_version", answer, sizeof(answer));
    assert_memory_equal(answer, pg_server_version(server), strlen(pg_server_version(server)));
    PQfinish(conn);
    conn = connect_to(pg_server_admin_conninfo(server));
    ask(conn, "SELECT current_user || rolsuper FROM pg_roles WHERE rolname = current_user", answer,
        sizeof(answer));
    assert_string_equal(answer, "fencepost_admintrue");
    PQfinish(conn);
    pg_server_stop(server);
}

static int count_descriptors_of(pid_t pid, const char *file)
{
    char path[64], link[PATH_MAX], target[PATH_MAX];
    int count = 0;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    if (dir == NULL)
        return -1;
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        snprintf(link, sizeof(link), "%s/%s", path, entry->d_name);
        ssize_t size = readlink(link, target, sizeof(target) - 1);
        if (size < 0)
            continue;
        target[size] = '\0';
        count += strcmp(target, file) == 0 ? 1 : 0;
    }
    closedir(dir);
    return count;
}

static void test_server_inherits_no_descriptor_of_the_caller(void **state)
{
    char marker[PATH_MAX];

    (void)state;
    snprintf(marker, sizeof(marker), "%s/marker", work_dir);
    int low_fd = open(marker, O_RDWR | O_CREAT, 0600); /* on purpose without O_CLOEXEC */
    assert_true(low_fd > 2);
    /* High enough not to be replaced by a descriptor that the server is given. */
    int fd = fcntl(low_fd, F_DUPFD, 40);
    assert_true(fd >= 40);
    close(low_fd);
    make_template();
    struct pg_server *server = start(0);
    assert_int_equal(count_descriptors_of(getpid(), marker), 1);
    assert_int_equal(count_descriptors_of(postmaster_of(0), marker), 0);
    pg_server_stop(server);
    pg_template_remove();
    close(fd);
    unlink(marker);
    assert_true(all_is_gone());
}

static void test_server_two_lanes_at_once_are_apart(void **state)
{
    char answer[64];

    (void)state;
    make_template();
    struct pg_server *first = start(0);
    struct pg_server *second = start(1);
    PGconn *conn = connect_to(pg_server_conninfo(first));
    PQclear(PQexec(conn, "CREATE TABLE only_here (id int)"));
    PQfinish(conn);
    conn = connect_to(pg_server_conninfo(second));
    ask(conn, "SELECT to_regclass('only_here') IS NULL", answer, sizeof(answer));
    assert_string_equal(answer, "t");
    PQfinish(conn);
    pg_server_stop(first);
    conn = connect_to(pg_server_conninfo(second));
    PQfinish(conn);
    pg_server_stop(second);
    pg_template_remove();
    assert_true(all_is_gone());
}

static void test_server_with_stopped_backends_stops_all_the_same(void **state)
{
    (void)state;
    make_template();
    struct pg_server *server = start(0);
    pid_t postmaster = postmaster_of(0);
    PGconn *conns[3];
    for (size_t i = 0; i < FP_COUNT(conns); i++) {
        conns[i] = connect_to(pg_server_conninfo(server));
        assert_int_equal(kill(PQbackendPID(conns[i]), SIGSTOP), 0);
    }
    pg_server_stop(server);
    assert_int_equal(count_processes(), 0);
    assert_int_equal(count_segments_of(postmaster), 0);
    for (size_t i = 0; i < FP_COUNT(conns); i++)
        PQfinish(conns[i]);
}

static void test_server_killed_postmaster_is_cleared_by_stop(void **state)
{
    (void)state;
    make_template();
    struct pg_server *server = start(0);
    pid_t postmaster = postmaster_of(0);
    PGconn *conn = connect_to(pg_server_conninfo(server));
    assert_int_equal(kill(PQbackendPID(conn), SIGSTOP), 0);
    assert_int_equal(kill(postmaster, SIGKILL), 0);
    pg_server_stop(server);
    assert_int_equal(count_processes(), 0);
    assert_int_equal(count_segments_of(postmaster), 0);
    PQfinish(conn);
}

/* A fencepost that can be killed: a child with a template, a server and a stopped backend. */
struct victim {
    pid_t owner;
    pid_t reaper;
    pid_t postmaster;
    pid_t backend;
};

static pid_t find_reaper_of(pid_t owner)
{
    char path[64 + NAME_MAX], text[512];
    pid_t found = 0;

    DIR *proc = opendir("/proc");
    assert_non_null(proc);
    const struct dirent *entry;
    while ((entry = readdir(proc)) != NULL) {
        int parent = 0;
        snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        if (fgets(text, sizeof(text), file) != NULL && strstr(text, "(fencepost-reap)") != NULL &&
            sscanf(strrchr(text, ')'), ") %*c %d", &parent) == 1 && parent == owner)
            found = atoi(entry->d_name);
        fclose(file);
    }
    closedir(proc);
    return found;
}

_Noreturn static void victim_run(int report_fd)
{
    struct pg_server_options options = options_here();
    struct strbuf why = STRBUF_INIT;
    struct pg_server *server;
    struct victim victim = {.owner = getpid()};

    if (pg_template_make(&options, &why) != ERR_OK ||
        pg_server_start(&options, 0, &server, &why) != ERR_OK)
        _exit(1);
    PGconn *conn = PQconnectdb(pg_server_conninfo(server));
    victim.backend = PQbackendPID(conn);
    victim.postmaster = postmaster_of(0);
    victim.reaper = find_reaper_of(getpid());
    if (kill(victim.backend, SIGSTOP) != 0)
        _exit(1);
    if (write(report_fd, &victim, sizeof(victim)) != (ssize_t)sizeof(victim))
        _exit(1);
    for (;;)
        pause();
}

static struct victim victim_start(void)
{
    struct victim victim;
    int report[2];

    assert_int_equal(pipe(report), 0);
    pid_t pid = fork();
    if (pid == 0)
        victim_run(report[1]);
    close(report[1]);
    assert_int_equal(read(report[0], &victim, sizeof(victim)), sizeof(victim));
    close(report[0]);
    assert_int_equal(victim.owner, pid);
    assert_true(victim.reaper > 0 && victim.postmaster > 0 && victim.backend > 0);
    assert_int_equal(count_segments_of(victim.postmaster), 1);
    return victim;
}

static void kill_owner(const struct victim *victim)
{
    assert_int_equal(kill(victim->owner, SIGKILL), 0);
    assert_int_equal(waitpid(victim->owner, NULL, 0), victim->owner);
}

static void test_server_owner_killed_reaper_removes_all(void **state)
{
    (void)state;
    struct victim victim = victim_start();
    kill_owner(&victim);
    assert_true(becomes_all_gone());
    assert_int_equal(count_segments_of(victim.postmaster), 0);
}

static void test_server_reaper_signalled_by_supervisor_stays(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

    (void)state;
    struct victim victim = victim_start();
    for (size_t i = 0; i < FP_COUNT(signals); i++)
        assert_int_equal(kill(victim.reaper, signals[i]), 0);
    kill_owner(&victim);
    assert_true(becomes_all_gone());
}

static void test_server_lane_outlives_owner_reaper_waits_for_it(void **state)
{
    int hold[2];

    (void)state;
    assert_int_equal(pipe(hold), 0);
    pid_t owner = fork();
    if (owner == 0) {
        struct pg_server_options options = options_here();
        struct strbuf why = STRBUF_INIT;
        if (pg_template_make(&options, &why) != ERR_OK)
            _exit(1);
        if (fork() == 0) { /* the lane lives until the test closes its end of the pipe */
            char byte;
            close(hold[1]);
            _exit(read(hold[0], &byte, 1) == 0 ? 0 : 1);
        }
        _exit(0);
    }
    close(hold[0]);
    int status;
    assert_int_equal(waitpid(owner, &status, 0), owner);
    assert_int_equal(status, 0);
    struct pg_server_options options = options_here();
    (void)poll(NULL, 0, 300);
    assert_int_equal(pg_remove_leftovers(&options), 0);
    assert_int_equal(count_entries(work_dir), 1);
    close(hold[1]);
    assert_true(becomes_all_gone());
}

/* Everything that could still clean up is stopped first, then killed. */
static void kill_owner_and_reaper(const struct victim *victim)
{
    assert_int_equal(kill(victim->reaper, SIGSTOP), 0);
    kill_owner(victim);
    assert_int_equal(kill(victim->reaper, SIGKILL), 0);
    for (int i = 0; i < GONE_TIMEOUT_MS && kill(victim->reaper, 0) == 0; i++)
        (void)poll(NULL, 0, 1);
}

static void test_server_owner_and_reaper_killed_leftovers_are_removed(void **state)
{
    (void)state;
    struct pg_server_options options = options_here();
    struct victim victim = victim_start();
    assert_int_equal(kill(victim.postmaster, SIGSTOP), 0);
    kill_owner_and_reaper(&victim);
    assert_false(all_is_gone());
    assert_int_equal(pg_remove_leftovers(&options), 1);
    assert_true(all_is_gone());
    assert_int_equal(count_segments_of(victim.postmaster), 0);
    assert_int_equal(pg_remove_leftovers(&options), 0);
}

static void test_server_everything_killed_shared_memory_is_removed(void **state)
{
    (void)state;
    struct pg_server_options options = options_here();
    struct victim victim = victim_start();
    assert_int_equal(kill(victim.postmaster, SIGKILL), 0);
    kill_owner_and_reaper(&victim);
    assert_int_equal(kill(victim.backend, SIGKILL), 0);
    for (int i = 0; i < GONE_TIMEOUT_MS && count_processes() > 0; i++)
        (void)poll(NULL, 0, 1);
    assert_int_equal(count_segments_of(victim.postmaster), 1);
    assert_int_equal(pg_remove_leftovers(&options), 1);
    assert_int_equal(count_segments_of(victim.postmaster), 0);
    assert_true(all_is_gone());
}

static void test_server_two_cleaners_at_once_remove_once(void **state)
{
    (void)state;
    struct pg_server_options options = options_here();
    struct victim victim = victim_start();
    kill_owner_and_reaper(&victim);
    pid_t other = fork();
    if (other == 0)
        _exit(pg_remove_leftovers(&options));
    int removed = pg_remove_leftovers(&options);
    int status;
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(removed + WEXITSTATUS(status), 1);
    assert_true(becomes_all_gone());
}

static void test_server_living_owner_is_left_alone(void **state)
{
    (void)state;
    struct pg_server_options options = options_here();
    make_template();
    struct pg_server *server = start(0);
    pid_t cleaner = fork();
    if (cleaner == 0)
        _exit(pg_remove_leftovers(&options));
    int status;
    assert_int_equal(waitpid(cleaner, &status, 0), cleaner);
    assert_int_equal(status, 0);
    PQfinish(connect_to(pg_server_conninfo(server)));
    pg_server_stop(server);
}

static void put_file(const char *dir, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/owner", dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* A directory with a name like ours, and an owner file of the given text (NULL: none). */
static void put_lookalike(const char *name, const char *owner_text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", work_dir, name);
    assert_int_equal(mkdir(path, 0700), 0);
    if (owner_text != NULL)
        put_file(path, owner_text);
}

#define OWNER_TEXT(pid, ticks, boot)                                                               \
    "fencepost run directory, format 1\npid " pid "\nstart_ticks " ticks "\nboot_id " boot "\n"
#define OLD_BOOT "00000000-0000-0000-0000-000000000000"

static void test_server_lookalike_directories_are_left_alone(void **state)
{
    char name[NAME_MAX], text[512], boot_id[BOOT_ID_SIZE_MAX];
    unsigned uid = (unsigned)geteuid();
    struct pg_server_options options = options_here();

    (void)state;
    snprintf(name, sizeof(name), "fencepost-%u-999999-aaaaaaaa", uid);
    put_lookalike(name, NULL);
    snprintf(name, sizeof(name), "fencepost-%u-999999-bbbbbbbb", uid);
    put_lookalike(name, "mine\n");
    snprintf(name, sizeof(name), "fencepost-%u-999999-cccccccc", uid);
    put_lookalike(name, OWNER_TEXT("999998", "1", OLD_BOOT)); /* the number is not the name's */
    snprintf(name, sizeof(name), "fencepost-%u-999999-dddddddd", uid);
    put_lookalike(name, OWNER_TEXT("999999", "1", OLD_BOOT) "and more\n");
    snprintf(name, sizeof(name), "fencepost-%u-999999-eeeeeeee", uid + 1);
    put_lookalike(name, OWNER_TEXT("999999", "1", OLD_BOOT)); /* another user's name */
    snprintf(name, sizeof(name), "fencepost-%u-999999-ffffffff.old", uid);
    put_lookalike(name, OWNER_TEXT("999999", "1", OLD_BOOT));
    /* Holds no lock, but is this very process: the second opinion counts. */
    process_boot_id(boot_id);
    snprintf(name, sizeof(name), "fencepost-%u-%d-12345678", uid, (int)getpid());
    snprintf(text, sizeof(text),
             "fencepost run directory, format 1\npid %d\nstart_ticks %llu\nboot_id %s\n",
             (int)getpid(), (unsigned long long)process_start_ticks(getpid()), boot_id);
    put_lookalike(name, text);
    assert_int_equal(pg_remove_leftovers(&options), 0);
    assert_int_equal(count_entries(work_dir), 7);
}

static void test_server_dead_owner_of_a_reused_number_is_removed(void **state)
{
    char name[NAME_MAX], text[512], boot_id[BOOT_ID_SIZE_MAX];
    struct pg_server_options options = options_here();

    (void)state;
    process_boot_id(boot_id);
    snprintf(name, sizeof(name), "fencepost-%u-%d-12345678", (unsigned)geteuid(), (int)getpid());
    snprintf(text, sizeof(text),
             "fencepost run directory, format 1\npid %d\nstart_ticks 1\nboot_id %s\n",
             (int)getpid(), boot_id);
    put_lookalike(name, text);
    snprintf(name, sizeof(name), "fencepost-%u-%d-23456789", (unsigned)geteuid(), (int)getpid());
    snprintf(text, sizeof(text),
             "fencepost run directory, format 1\npid %d\nstart_ticks %llu\nboot_id " OLD_BOOT "\n",
             (int)getpid(), (unsigned long long)process_start_ticks(getpid()));
    put_lookalike(name, text);
    assert_int_equal(pg_remove_leftovers(&options), 2);
    assert_int_equal(count_entries(work_dir), 0);
}

static void test_server_leftover_with_links_follows_none(void **state)
{
    char name[NAME_MAX], path[PATH_MAX], outside[PATH_MAX];
    struct pg_server_options options = options_here();

    (void)state;
    snprintf(outside, sizeof(outside), "%s/outside", work_dir);
    assert_int_equal(mkdir(outside, 0700), 0);
    put_file(outside, "keep");
    snprintf(name, sizeof(name), "fencepost-%u-999999-12345678", (unsigned)geteuid());
    put_lookalike(name, OWNER_TEXT("999999", "1", OLD_BOOT));
    snprintf(path, sizeof(path), "%s/%s/lane-0", work_dir, name);
    assert_int_equal(symlink(outside, path), 0);
    assert_int_equal(pg_remove_leftovers(&options), 1);
    assert_int_equal(count_entries(work_dir), 1);
    assert_int_equal(count_entries(outside), 1);
}

static void expect_refusal(const struct pg_server_options *options, const char *text)
{
    struct strbuf why = STRBUF_INIT;
    assert_int_equal(pg_template_make(options, &why), ERR_INFRASTRUCTURE);
    if (strstr(strbuf_str(&why), text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", strbuf_str(&why), text);
    strbuf_release(&why);
}

static void test_server_too_long_path_is_refused(void **state)
{
    char deep[256];

    (void)state;
    snprintf(deep, sizeof(deep), "%s/%060d", work_dir, 0);
    assert_int_equal(mkdir(deep, 0755), 0);
    struct pg_server_options options = {.work_dir = deep, .cpu = -1};
    expect_refusal(&options,
                   "bytes long, at most 107 are possible: choose a shorter FENCEPOST_TMPDIR");
    assert_int_equal(count_entries(deep), 0);
}

static void test_server_comma_in_the_path_is_refused(void **state)
{
    char comma[256];

    (void)state;
    snprintf(comma, sizeof(comma), "%s/a,b", work_dir);
    assert_int_equal(mkdir(comma, 0755), 0);
    struct pg_server_options options = {.work_dir = comma, .cpu = -1};
    expect_refusal(&options, "no comma may be in it: choose another FENCEPOST_TMPDIR");
    assert_int_equal(count_entries(comma), 0);
}

static void test_server_wrong_bin_dir_is_refused(void **state)
{
    (void)state;
    struct pg_server_options options = {.bin_dir = work_dir, .work_dir = work_dir, .cpu = -1};
    expect_refusal(&options, "does not hold the PostgreSQL programs initdb and postgres");
    assert_int_equal(count_entries(work_dir), 0);
}

static void test_server_missing_work_dir_is_refused(void **state)
{
    (void)state;
    struct pg_server_options options = {.work_dir = "/nonexistent/place", .cpu = -1};
    expect_refusal(&options, "cannot use /nonexistent/place: No such file or directory");
}

static void test_server_failing_initdb_is_told_and_leaves_nothing(void **state)
{
    char bin[PATH_MAX], path[PATH_MAX + 16];

    (void)state;
    snprintf(bin, sizeof(bin), "%s/bin", work_dir);
    assert_int_equal(mkdir(bin, 0755), 0);
    static const char *const scripts[][2] = {
        {"initdb", "#!/bin/sh\necho initdb: no luck today >&2\nexit 3\n"},
        {"postgres", "#!/bin/sh\necho 'postgres (PostgreSQL) 15.3'\n"},
    };
    for (size_t i = 0; i < FP_COUNT(scripts); i++) {
        snprintf(path, sizeof(path), "%s/%s", bin, scripts[i][0]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(scripts[i][1], file);
        fclose(file);
        assert_int_equal(chmod(path, 0755), 0);
    }
    struct pg_server_options options = {.bin_dir = bin, .work_dir = work_dir, .cpu = -1};
    expect_refusal(&options, "exit status 3:\ninitdb: no luck today");
    assert_int_equal(count_entries(work_dir), 1);
}

static void test_server_failing_start_is_told_and_leaves_nothing(void **state)
{
    char command[PATH_MAX];
    struct pg_server_options options = options_here();
    struct strbuf why = STRBUF_INIT;
    struct pg_server *server = NULL;

    (void)state;
    make_template();
    snprintf(command, sizeof(command),
             "for f in %s/fencepost-*/template/postgresql.conf; do "
             "echo 'max_connections = nonsense' >> $f; done",
             work_dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(pg_server_start(&options, 0, &server, &why), ERR_INFRASTRUCTURE);
    assert_null(server);
    assert_non_null(strstr(strbuf_str(&why), "the server ended while it started, with exit "
                                             "status 1"));
    assert_non_null(strstr(strbuf_str(&why), "FATAL:  configuration file"));
    strbuf_release(&why);
    assert_int_equal(count_processes(), 0);
    pg_template_remove();
    assert_true(all_is_gone());
}

static void test_server_unwritable_work_dir_is_refused(void **state)
{
    (void)state;
    struct pg_server_options options = options_here();
    if (geteuid() != 0) {
        assert_int_equal(chmod(work_dir, 0555), 0);
        expect_refusal(&options, "Permission denied: choose another FENCEPOST_TMPDIR");
        assert_int_equal(chmod(work_dir, 0755), 0);
        return;
    }
    if (mount("none", work_dir, "tmpfs", MS_RDONLY, "size=1m") != 0)
        skip();
    expect_refusal(&options, "Read-only file system: choose another FENCEPOST_TMPDIR");
    assert_int_equal(umount(work_dir), 0);
}

static void test_server_full_work_dir_is_refused(void **state)
{
    (void)state;
    struct pg_server_options options = options_here();
    if (geteuid() != 0 || mount("none", work_dir, "tmpfs", 0, "size=4m,mode=755") != 0)
        skip();
    expect_refusal(&options, "MiB free, a server needs 128: make room, or choose another");
    assert_int_equal(count_entries(work_dir), 0);
    assert_int_equal(umount(work_dir), 0);
}

static void test_server_path_the_server_user_cannot_enter_is_refused(void **state)
{
    (void)state;
    struct pg_server_options options = options_here();
    if (geteuid() != 0)
        skip(); /* only root runs the server as somebody else */
    assert_int_equal(chmod(work_dir, 0700), 0);
    expect_refusal(&options, "Permission denied: choose another FENCEPOST_TMPDIR");
    assert_int_equal(count_entries(work_dir), 0);
}

static void test_server_awkward_path_works(void **state)
{
    char awkward[256];

    (void)state;
    snprintf(awkward, sizeof(awkward), "%s/it's \\a \"b\" #", work_dir);
    assert_int_equal(mkdir(awkward, 0755), 0);
    struct pg_server_options options = {.work_dir = awkward, .cpu = -1};
    struct strbuf why = STRBUF_INIT;
    struct pg_server *server = NULL;
    if (pg_template_make(&options, &why) != ERR_OK ||
        pg_server_start(&options, 0, &server, &why) != ERR_OK)
        fail_msg("%s", strbuf_str(&why));
    PQfinish(connect_to(pg_server_conninfo(server)));
    pg_server_stop(server);
    pg_template_remove();
    assert_int_equal(count_entries(awkward), 0);
    strbuf_release(&why);
}

#define SERVER_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(test_server_started_and_stopped_twice_leaves_nothing),
        SERVER_TEST(test_server_roles_and_settings_are_as_promised),
        SERVER_TEST(test_server_inherits_no_descriptor_of_the_caller),
        SERVER_TEST(test_server_two_lanes_at_once_are_apart),
        SERVER_TEST(test_server_with_stopped_backends_stops_all_the_same),
        SERVER_TEST(test_server_killed_postmaster_is_cleared_by_stop),
        SERVER_TEST(test_server_owner_killed_reaper_removes_all),
        SERVER_TEST(test_server_reaper_signalled_by_supervisor_stays),
        SERVER_TEST(test_server_lane_outlives_owner_reaper_waits_for_it),
        SERVER_TEST(test_server_owner_and_reaper_killed_leftovers_are_removed),
        SERVER_TEST(test_server_everything_killed_shared_memory_is_removed),
        SERVER_TEST(test_server_two_cleaners_at_once_remove_once),
        SERVER_TEST(test_server_living_owner_is_left_alone),
        SERVER_TEST(test_server_lookalike_directories_are_left_alone),
        SERVER_TEST(test_server_dead_owner_of_a_reused_number_is_removed),
        SERVER_TEST(test_server_leftover_with_links_follows_none),
        SERVER_TEST(test_server_too_long_path_is_refused),
        SERVER_TEST(test_server_comma_in_the_path_is_refused),
        SERVER_TEST(test_server_wrong_bin_dir_is_refused),
        SERVER_TEST(test_server_missing_work_dir_is_refused),
        SERVER_TEST(test_server_failing_initdb_is_told_and_leaves_nothing),
        SERVER_TEST(test_server_failing_start_is_told_and_leaves_nothing),
        SERVER_TEST(test_server_unwritable_work_dir_is_refused),
        SERVER_TEST(test_server_full_work_dir_is_refused),
        SERVER_TEST(test_server_path_the_server_user_cannot_enter_is_refused),
        SERVER_TEST(test_server_awkward_path_works),
    };
    struct strbuf dir = STRBUF_INIT, why = STRBUF_INIT;

    if (pg_find_binaries(NULL, &dir, &why) != ERR_OK) {
        fprintf(stderr, "skipped: %s\n", strbuf_str(&why));
        return 77;
    }
    strbuf_release(&dir);
    return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
