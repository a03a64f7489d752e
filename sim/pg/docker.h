/* The docker command line: one call, one program, a deadline on each. */
#ifndef FENCEPOST_DOCKER_H
#define FENCEPOST_DOCKER_H

#include "sim/core/base.h"
#include "sim/core/err.h"
#include "sim/core/strbuf.h"

/* What everything of ours there is labelled with; the first two as the testcontainers family does.
 */
#define DOCKER_LABEL_FAMILY "org.testcontainers"
#define DOCKER_LABEL_SESSION "org.testcontainers.session-id"
#define DOCKER_LABEL_OWNER "fencepost.owner"

#define DOCKER_ARG_COUNT_MAX 256

/* The arguments of one call. The texts are copied. */
struct docker_args {
    char *list[DOCKER_ARG_COUNT_MAX + 1]; /* [0] is the program; ended by NULL */
    size_t count;
};
void docker_args_init(struct docker_args *args);
void docker_arg(struct docker_args *args, const char *format, ...) FP_PRINTF(2, 3);
void docker_args_release(struct docker_args *args);

struct docker_call {
    struct docker_args args;
    const char *input; /* its standard input; NULL: none */
    int timeout_ms;
    bool joins; /* its standard error is part of what it prints */
    bool shows; /* what it prints goes to our standard error, nothing is kept */
    const volatile bool *interrupted; /* ends it when it becomes true; NULL: nothing does */
};
void docker_call_init(struct docker_call *call, const char *first, ...) __attribute__((sentinel));

/* Run it to its end. On ERR_OK `out`, which may be NULL, has what it printed without the last line
 * end. ERR_INFRASTRUCTURE with `why`: no such program, no engine, or what it complained of. The
 * call's arguments are released in every case. */
enum err docker_run(struct docker_call *call, struct strbuf *out, struct strbuf *why);

/* Remove one container, by its number or name, with its volumes. True: it is gone. */
bool docker_remove(const char *container);
/* Remove the containers of that session, with their volumes. False: some may be left. */
bool docker_remove_session(const char *session);
/* Remove the containers whose names are this with a dot behind it, and perhaps more. */
void docker_remove_named(const char *name);
/* Remove the containers whose owner is dead. Returns how many. */
int docker_remove_dead(void);

/* What the container printed last. Adds nothing when there is none. */
void docker_log_tail(const char *container, struct strbuf *out);

/* The image as it is to be asked for: with the prefix of TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX when
 * it names no registry of its own. Caller frees. */
char *docker_image_name(const char *image, const char *prefix);

#endif
