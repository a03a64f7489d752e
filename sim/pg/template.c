#include "sim/pg/template.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/pg/box.h"
#include "sim/pg/docker_session.h"
#include "sim/pg/reaper.h"
#include "sim/pg/server.h"

#define INITDB_TIMEOUT_MS 120000
#define SINGLE_TIMEOUT_MS 60000
#define VERSION_MAJOR_MIN 15
#define LOG_TAIL_SIZE_MAX 2000

/* Determinism first, then speed: nothing moves in the server unless a session asks it to, every
 * session gets the same plan, and nothing is left behind outside the data directory. */
const char template_settings[] =
    "\n"
    "listen_addresses = ''\n"
    "port = 5432\n"
    "unix_socket_directories = '..'\n" /* the lane's directory, whatever its path holds */
    "unix_socket_permissions = 0700\n"
    "max_connections = 100\n"
    "max_prepared_transactions = 0\n"
    "shared_buffers = 32MB\n"
    "huge_pages = off\n"
    "shared_memory_type = mmap\n"
    "dynamic_shared_memory_type = mmap\n" /* files in the data directory, gone with it */
    "max_worker_processes = 0\n"
    "max_parallel_workers_per_gather = 0\n"
    "max_parallel_maintenance_workers = 0\n"
    "max_logical_replication_workers = 0\n"
    "wal_level = minimal\n"
    "max_wal_senders = 0\n"
    "fsync = off\n"
    "full_page_writes = off\n"
    "synchronous_commit = on\n" /* an immediate stop must not lose a commit */
    "checkpoint_timeout = 1d\n"
    "min_wal_size = 4MB\n"
    "max_wal_size = 64MB\n" /* many lanes share one tmpfs */
    "wal_writer_delay = 10s\n"
    "bgwriter_delay = 10s\n"
    "bgwriter_lru_maxpages = 0\n"
    "autovacuum = off\n"
    "track_counts = off\n"
    "track_activities = on\n"
    "update_process_title = off\n"
    "jit = off\n"
    "synchronize_seqscans = off\n"
    "plan_cache_mode = force_generic_plan\n"
    "statement_timeout = 0\n"
    "log_destination = 'stderr'\n"
    "logging_collector = off\n"
    "log_min_messages = fatal\n"
    "log_checkpoints = off\n"
    "log_timezone = 'UTC'\n"
    "timezone = 'UTC'\n"
    "datestyle = 'ISO, MDY'\n"
    "lc_messages = 'C'\n";

const char template_settings_from_18[] = "io_method = sync\n"; /* no I/O worker processes */

/* A database less is hundreds of files less for every lane to copy: the one that initdb makes is
 * used under another name, and template0 serves nobody here. One statement a line, as a stand-alone
 * backend reads them. */
static const char roles_sql[] = "CREATE ROLE fencepost LOGIN NOSUPERUSER\n"
                                "ALTER ROLE fencepost SET deadlock_timeout = '50ms'\n"
                                "ALTER DATABASE postgres RENAME TO fencepost\n"
                                "ALTER DATABASE fencepost OWNER TO fencepost\n"
                                "ALTER DATABASE template0 IS_TEMPLATE false\n"
                                "DROP DATABASE template0\n";

/* One a process. Lanes have it from the fork. */
static struct {
    bool made;
    pid_t owner; /* only the process that made it may remove it */
    struct pg_template template;
    struct reaper reaper;
} current;

const struct pg_template *pg_template_get(void)
{
    FP_ASSERT(current.made);
    return &current.template;
}

void log_tail(const char *path, struct strbuf *out)
{
    char text[LOG_TAIL_SIZE_MAX + 1];

    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    off_t end = lseek(fd, 0, SEEK_END);
    off_t start = end > LOG_TAIL_SIZE_MAX ? end - LOG_TAIL_SIZE_MAX : 0;
    ssize_t size = pread(fd, text, LOG_TAIL_SIZE_MAX, start);
    close(fd);
    if (size <= 0)
        return;
    text[size] = '\0';
    const char *first = text;
    if (start > 0 && strchr(text, '\n') != NULL)
        first = strchr(text, '\n') + 1;
    strbuf_puts(out, first);
}

char *template_program(const char *name)
{
    const struct pg_template *template = pg_template_get();
    return template->boxed ? fp_strdup(name) : fp_format("%s/%s", template->bin_dir, name);
}

/* Run one of the server's programs to its end; what it prints goes to a log in the run directory.
 * */
static enum err run_here(const char *const *argv, int stdin_fd, int timeout_ms, struct strbuf *why)
{
    const struct pg_template *template = &current.template;
    char *log = fp_format("%s/template.log", template->rundir.path);
    int log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    struct spawn spawn = {
        .argv = argv,
        .user = &template->user,
        .cwd = template->rundir.path,
        .stdin_fd = stdin_fd,
        .stdout_fd = log_fd,
        .stderr_fd = log_fd,
        .cpu = -1,
        .death_signal = SIGTERM,
    };
    pid_t pid;
    int status = -1;

    enum err err = spawn_start(&spawn, &pid, why);
    if (err == ERR_OK && !spawn_wait(pid, timeout_ms, &status)) {
        strbuf_printf(why, "%s did not end within %d s\n", argv[0], timeout_ms / 1000);
        kill(pid, SIGKILL);
        (void)spawn_wait(pid, timeout_ms, &status);
        err = ERR_INFRASTRUCTURE;
    } else if (err == ERR_OK && status != 0) {
        strbuf_printf(why, "%s failed with ", argv[0]);
        spawn_status_text(status, why);
        strbuf_puts(why, ":\n");
        log_tail(log, why);
        err = ERR_INFRASTRUCTURE;
    }
    if (log_fd >= 0)
        close(log_fd);
    free(log);
    return err;
}

static bool write_all(int fd, const char *text)
{
    size_t size = strlen(text);
    return write(fd, text, size) == (ssize_t)size;
}

/* A pipe with the text in it, which is far smaller than its buffer. -1 with `why`. */
static int input_of(const char *text, struct strbuf *why)
{
    int input[2];
    if (pipe2(input, O_CLOEXEC) != 0) {
        strbuf_printf(why, "cannot make a pipe: %s", strerror(errno));
        return -1;
    }
    bool written = write_all(input[1], text);
    FP_ASSERT(written);
    close(input[1]);
    return input[0];
}

/* `input` may be NULL. */
static enum err run_program(const char *const *argv, const char *input, int timeout_ms,
                            struct strbuf *why)
{
    if (current.template.boxed)
        return box_run(current.template.rundir.path, argv, input, timeout_ms, why);
    int stdin_fd = input ? input_of(input, why) : -1;
    if (input && stdin_fd < 0)
        return ERR_INFRASTRUCTURE;
    enum err err = run_here(argv, stdin_fd, timeout_ms, why);
    if (stdin_fd >= 0)
        close(stdin_fd);
    return err;
}

/* "postgres (PostgreSQL) 15.18 (Debian ...)": the first word that is a number. */
static bool parse_version(const char *output, char *version, size_t version_size)
{
    const char *word = output;
    while (*word != '\0' && !isdigit((unsigned char)*word))
        word++;
    size_t size = strcspn(word, " \n");
    if (size == 0 || size >= version_size)
        return false;
    memcpy(version, word, size);
    version[size] = '\0';
    return true;
}

static enum err ask_version(const char *program, struct strbuf *output, struct strbuf *why)
{
    const struct pg_template *template = &current.template;
    const char *const argv[] = {program, "--version", NULL};
    struct spawn spawn = {
        .argv = argv,
        .user = &template->user,
        .cwd = template->rundir.path,
        .stdin_fd = -1,
        .stdout_fd = -1,
        .stderr_fd = -1,
        .cpu = -1,
    };

    return spawn_capture(&spawn, output, why);
}

static enum err find_version(struct pg_template *template, struct strbuf *why)
{
    struct strbuf output = STRBUF_INIT;
    char *program = template_program("postgres");
    enum err err = ERR_OK;
    if (template->boxed)
        strbuf_puts(&output, docker_session_get()->version);
    else
        err = ask_version(program, &output, why);
    if (err == ERR_OK &&
        !parse_version(strbuf_str(&output), template->version, sizeof(template->version))) {
        strbuf_printf(why, "%s does not tell its version", program);
        err = ERR_INFRASTRUCTURE;
    }
    if (err == ERR_OK && atoi(template->version) < VERSION_MAJOR_MIN) {
        strbuf_printf(why, "%s is PostgreSQL %s, at least %d is needed", program, template->version,
                      VERSION_MAJOR_MIN);
        err = ERR_INFRASTRUCTURE;
    }
    strbuf_release(&output);
    free(program);
    return err;
}

static enum err run_initdb(const struct pg_template *template, struct strbuf *why)
{
    char *program = template_program("initdb");
    const char *const argv[] = {
        program,
        "-N",
        "-A",
        "trust",
        "-U",
        "fencepost_admin",
        "--no-locale",
        "-E",
        "UTF8",
        "--wal-segsize=1",
        "--no-instructions",
        "-D",
        template->data_dir,
        NULL,
    };
    enum err err = run_program(argv, NULL, INITDB_TIMEOUT_MS, why);
    free(program);
    return err;
}

static enum err add_settings(const struct pg_template *template, struct strbuf *why)
{
    char *path = fp_format("%s/postgresql.conf", template->data_dir);
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    bool written = fd >= 0 && write_all(fd, template_settings);
    if (written && atoi(template->version) >= 18)
        written = write_all(fd, template_settings_from_18);
    if (!written)
        strbuf_printf(why, "cannot write %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(path);
    return written ? ERR_OK : ERR_INFRASTRUCTURE;
}

/* A stand-alone backend, so that no server has to be started. */
static enum err add_roles(const struct pg_template *template, struct strbuf *why)
{
    char *program = template_program("postgres");
    const char *const argv[] = {
        program,     "--single",
        "-D",        template->data_dir,
        "-c",        "exit_on_error=true",
        "-c",        "log_min_messages=warning",
        "template1", NULL,
    };
    enum err err = run_program(argv, roles_sql, SINGLE_TIMEOUT_MS, why);
    free(program);
    return err;
}

static enum err fill_template(struct pg_template *template, struct strbuf *why)
{
    enum err err = find_version(template, why);
    if (err != ERR_OK)
        return err;
    template->data_dir = rundir_make_inside(&template->rundir, "template", &template->user, why);
    if (template->data_dir == NULL)
        return ERR_INFRASTRUCTURE;
    err = run_initdb(template, why);
    if (err == ERR_OK)
        err = add_settings(template, why);
    if (err == ERR_OK)
        err = add_roles(template, why);
    return err;
}

static void destroy_rundir(const void *rundir)
{
    (void)rundir_destroy(((const struct rundir *)rundir)->path);
}

static enum err open_rundir(const struct pg_server_options *options, struct strbuf *why)
{
    struct pg_template *template = &current.template;
    struct strbuf bin_dir = STRBUF_INIT;

    enum err err = server_user_find(&template->user, why);
    if (err == ERR_OK && !template->boxed)
        err = pg_find_binaries(options->bin_dir, &bin_dir, why);
    if (err == ERR_OK)
        err = rundir_make(options->work_dir, &template->user, &template->rundir, why);
    if (err != ERR_OK) {
        strbuf_release(&bin_dir);
        return err;
    }
    /* It keeps the lock until it is done, so that no other fencepost comes to clean up the same
     * directory. */
    err = reaper_start(destroy_rundir, &template->rundir, template->rundir.owner_fd,
                       &current.reaper, why);
    if (err != ERR_OK) {
        (void)rundir_destroy(template->rundir.path);
        rundir_release(&template->rundir);
        strbuf_release(&bin_dir);
        return err;
    }
    template->bin_dir = strbuf_detach(&bin_dir);
    return ERR_OK;
}

enum err template_make(const struct pg_server_options *options, struct strbuf *why)
{
    FP_ASSERT(!current.made);
    current.template.boxed = options->boxed;
    enum err err = open_rundir(options, why);
    if (err != ERR_OK)
        return err;
    current.made = true;
    current.owner = getpid();
    err = fill_template(&current.template, why);
    if (err != ERR_OK)
        template_remove();
    return err;
}

void template_remove(void)
{
    struct pg_template *template = &current.template;

    if (!current.made || current.owner != getpid())
        return;
    /* The reaper stays until all is done: we may be killed in the midst of it. */
    (void)rundir_destroy(template->rundir.path);
    reaper_dismiss(&current.reaper);
    rundir_release(&template->rundir);
    free(template->bin_dir);
    free(template->data_dir);
    template->bin_dir = NULL;
    template->data_dir = NULL;
    current.made = false;
}
