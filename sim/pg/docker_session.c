#include "sim/pg/docker_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "sim/pg/owner.h"
#include "sim/pg/reaper.h"
#include "sim/pg/rundir.h"

#define VERSION_MAJOR_MIN 15
#define PULL_TIMEOUT_MS (60 * 60 * 1000)

/* One a process. */
static struct {
    int hold_count;
    struct docker_session base;
    char owner[OWNER_ID_SIZE_MAX];
    struct reaper reaper;
} run;

const struct docker_session *docker_session_get(void)
{
    FP_ASSERT(run.base.image != NULL);
    return &run.base;
}

/* ---- the engine ---- */

/* Ports are published on the engine's loopback interface, which must be ours. */
static enum err check_engine(struct strbuf *why)
{
    const char *host = rundir_environment("DOCKER_HOST");
    if (host != NULL && (strncmp(host, "ssh://", 6) == 0 ||
                         (strncmp(host, "tcp://", 6) == 0 && strncmp(host + 6, "127.", 4) != 0 &&
                          strncmp(host + 6, "localhost", 9) != 0))) {
        strbuf_printf(why,
                      "the engine at %s (DOCKER_HOST) is on another machine, and a server's port "
                      "there cannot be reached from here",
                      host);
        return ERR_INFRASTRUCTURE;
    }
    struct docker_call call;
    docker_call_init(&call, "version", "--format", "{{.Server.Version}}", NULL);
    enum err err = docker_run(&call, NULL, why);
    if (err != ERR_OK)
        strbuf_puts(why, "\ndocker needs an engine that answers `docker version`");
    return err;
}

char *docker_session_image(const char *image)
{
    return docker_image_name(image, rundir_environment("TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX"));
}

enum err docker_session_get_image(const char *image, const struct pg_server_options *options,
                                  struct strbuf *why)
{
    struct strbuf ignored = STRBUF_INIT;
    struct docker_call call;
    docker_call_init(&call, "image", "inspect", "--format", "{{.Id}}", image, NULL);
    enum err err = docker_run(&call, NULL, &ignored);
    strbuf_release(&ignored);
    if (err == ERR_OK)
        return ERR_OK;
    if (options->never_pulls) {
        strbuf_printf(why, "the image %s is not there: docker pull it", image);
        return ERR_INFRASTRUCTURE;
    }
    fprintf(stderr, "fencepost: docker pull %s\n", image);
    docker_call_init(&call, "pull", image, NULL);
    call.shows = true;
    call.timeout_ms = PULL_TIMEOUT_MS;
    call.interrupted = options->interrupted;
    return docker_run(&call, NULL, why);
}

void docker_session_label(struct docker_args *args)
{
    docker_arg(args, "--label=" DOCKER_LABEL_FAMILY "=true");
    docker_arg(args, "--label=" DOCKER_LABEL_SESSION "=%s", run.base.id);
    docker_arg(args, "--label=" DOCKER_LABEL_OWNER "=%s", run.owner);
}

/* "postgres (PostgreSQL) 18.1 (Debian ...)" */
static enum err ask_version(struct strbuf *why)
{
    struct strbuf output = STRBUF_INIT;
    struct docker_call call;
    docker_call_init(&call, "run", "--rm", "--pull=never", "--network=none", NULL);
    docker_session_label(&call.args);
    docker_arg(&call.args, "--entrypoint=postgres");
    docker_arg(&call.args, "%s", run.base.image);
    docker_arg(&call.args, "--version");
    enum err err = docker_run(&call, &output, why);
    if (err == ERR_OK) {
        const char *text = strbuf_str(&output);
        snprintf(run.base.version, sizeof run.base.version, "%s", text);
        run.base.version_major = atoi(text + strcspn(text, "0123456789"));
        if (run.base.version_major < VERSION_MAJOR_MIN) {
            strbuf_printf(why, "the image %s has \"%s\", at least PostgreSQL %d is needed",
                          run.base.image, text, VERSION_MAJOR_MIN);
            err = ERR_INFRASTRUCTURE;
        }
    }
    strbuf_release(&output);
    return err;
}

static void remove_all(const void *self)
{
    (void)self;
    (void)docker_remove_session(run.base.id);
}

enum err docker_session_hold(struct strbuf *why)
{
    if (run.hold_count > 0) {
        run.hold_count++;
        return ERR_OK;
    }
    enum err err = check_engine(why);
    if (err != ERR_OK)
        return err;
    owner_random_hex(run.base.id, sizeof run.base.id);
    owner_id(run.owner);
    err = reaper_start(remove_all, NULL, -1, &run.reaper, why);
    run.hold_count = err == ERR_OK ? 1 : 0;
    return err;
}

void docker_session_let_go(void)
{
    FP_ASSERT(run.hold_count > 0);
    if (--run.hold_count > 0)
        return;
    remove_all(NULL);
    reaper_dismiss(&run.reaper);
}

/* ---- the server's image ---- */

void docker_session_close(void)
{
    free(run.base.image);
    run.base.image = NULL;
    docker_session_let_go();
}

enum err docker_session_open(const struct pg_server_options *options, struct strbuf *why)
{
    enum err err = docker_session_hold(why);
    if (err != ERR_OK)
        return err;
    run.base.image =
        docker_session_image(options->image != NULL ? options->image : PG_IMAGE_DEFAULT);
    err = docker_session_get_image(run.base.image, options, why);
    if (err != ERR_OK)
        strbuf_puts(why, "; choose an image that can be had with --pg-image");
    else
        err = ask_version(why);
    if (err != ERR_OK)
        docker_session_close();
    return err;
}

/* ---- where the engine is ---- */

/* The engine of a virtual machine, or of the machine around our container, has another name. */
static bool is_here(const char *machine, struct strbuf *why)
{
    struct utsname here;
    if (uname(&here) != 0)
        return false;
    char *wanted = fp_format("%s %s", here.nodename, here.release);
    bool same = strcmp(machine, wanted) == 0;
    if (!same)
        strbuf_printf(why, "the engine runs on another machine (%s) than fencepost (%s)", machine,
                      wanted);
    free(wanted);
    return same;
}

/* `answer` is the machine on one line, and then what the engine does about security. */
static bool judge_engine(char *answer, struct strbuf *why)
{
    char *rest = answer;
    const char *machine = strsep(&rest, "\n");
    if (rest && (strstr(rest, "name=rootless") || strstr(rest, "name=userns"))) {
        strbuf_puts(why, "the engine gives users in its containers other numbers than here");
        return false;
    }
    return is_here(machine, why);
}

bool docker_shares_files(struct strbuf *why)
{
    struct strbuf answer = STRBUF_INIT, ignored = STRBUF_INIT;
    struct docker_call call;
    bool shares = true;
    docker_call_init(&call, "info", "--format",
                     "{{.Name}} {{.KernelVersion}}\n{{.SecurityOptions}}", NULL);
    if (docker_run(&call, &answer, &ignored) == ERR_OK && answer.size > 0)
        shares = judge_engine(answer.text, why);
    strbuf_release(&answer);
    strbuf_release(&ignored);
    return shares;
}
