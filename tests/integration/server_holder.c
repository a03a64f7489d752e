/* For the shell tests: has a template and servers, says so, and waits to be killed or for a line.
 *
 *   server_holder WORK_DIR LANE_COUNT
 *
 * Prints "leftovers N", then "template", then "ready"; each lane is a forked process, as it is in a
 * real run. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/pg/server.h"

#define LANE_COUNT_MAX 8

static void fail(const struct strbuf *why)
{
    fprintf(stderr, "%s\n", strbuf_str(why));
    pg_template_remove();
    exit(EXIT_INFRASTRUCTURE);
}

/* A lane lives until its input ends, and dies with its parent. */
_Noreturn static void lane_run(const struct pg_server_options *options, int lane, int ready_fd,
                               int end_fd)
{
    struct strbuf why = STRBUF_INIT;
    struct pg_server *server;
    char byte = 'r';

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (pg_server_start(options, lane, &server, &why) != ERR_OK) {
        fprintf(stderr, "%s\n", strbuf_str(&why));
        _exit(EXIT_INFRASTRUCTURE);
    }
    if (write(ready_fd, &byte, 1) != 1)
        _exit(EXIT_HARNESS_BUG);
    (void)read(end_fd, &byte, 1);
    pg_server_stop(server);
    _exit(EXIT_PASS);
}

int main(int argc, char **argv)
{
    struct strbuf why = STRBUF_INIT;
    int ready[2], end[2];
    char byte;

    if (argc != 3)
        return EXIT_USAGE;
    struct pg_server_options options = {.work_dir = argv[1], .cpu = -1};
    int lane_count = atoi(argv[2]);
    FP_ASSERT(lane_count >= 0 && lane_count <= LANE_COUNT_MAX);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("leftovers %d\n", pg_remove_leftovers(&options));
    if (pipe(ready) != 0 || pipe(end) != 0)
        return EXIT_INFRASTRUCTURE;
    if (pg_template_make(&options, &why) != ERR_OK)
        fail(&why);
    printf("template\n");
    for (int lane = 0; lane < lane_count; lane++) {
        if (fork() != 0)
            continue;
        close(end[1]);
        lane_run(&options, lane, ready[1], end[0]);
    }
    close(ready[1]);
    for (int lane = 0; lane < lane_count; lane++)
        if (read(ready[0], &byte, 1) != 1)
            fail(&why);
    printf("ready\n");
    (void)getchar();
    close(end[1]);
    for (int lane = 0; lane < lane_count; lane++)
        (void)wait(NULL);
    pg_template_remove();
    return EXIT_PASS;
}
