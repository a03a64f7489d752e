/* What all containers of this process have in common: the engine, the image, the labels by which
 * they are found again. */
#ifndef FENCEPOST_DOCKER_SESSION_H
#define FENCEPOST_DOCKER_SESSION_H

#include "sim/pg/docker.h"
#include "sim/pg/server.h"

#define DOCKER_SESSION_ID_SIZE 33

struct docker_session {
    char id[DOCKER_SESSION_ID_SIZE];
    char *image;
    char version[64]; /* of the server in it, as `postgres --version` says */
    int version_major;
};

/* Ask the engine, get the image, start the reaper. Once a process, before lanes are forked.
 * ERR_INFRASTRUCTURE with `why`. */
enum err docker_session_open(const struct pg_server_options *options, struct strbuf *why);
/* Every container of this session goes. */
void docker_session_close(void);

/* Lanes have it from the fork. */
const struct docker_session *docker_session_get(void);
/* For `docker run`: the labels of everything that is ours. */
void docker_session_label(struct docker_args *args);

/* Does the engine run on this machine, so that a folder of ours is the same folder for it? False
 * with `why`. */
bool docker_engine_is_here(struct strbuf *why);

#endif
