/* What all containers of this process have in common: the engine, the labels by which they are
 * found again, and the image of those with a server. */
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

/* The engine answers, and a reaper of ours looks after what we start there. Once a process for
 * each who needs it, before lanes are forked. ERR_INFRASTRUCTURE with `why`. */
enum err docker_session_hold(struct strbuf *why);
/* With the last one every container of this session goes. */
void docker_session_let_go(void);
/* The image as it is to be asked for, with the environment's prefix. Caller frees. */
char *docker_session_image(const char *image);
/* Fetch it when it is not there. ERR_INFRASTRUCTURE with `why`. */
enum err docker_session_get_image(const char *image, const struct pg_server_options *options,
                                  struct strbuf *why);

/* The same for whoever starts servers: with their image. */
enum err docker_session_open(const struct pg_server_options *options, struct strbuf *why);
void docker_session_close(void);

/* Lanes have it from the fork. */
const struct docker_session *docker_session_get(void);
/* For `docker run`: the labels of everything that is ours. */
void docker_session_label(struct docker_args *args);

/* Is a folder of ours the same folder for a container, and our user the same user? False with
 * `why`. Asks the engine. One that does not answer is taken at its best: whoever uses it will
 * learn. */
bool docker_shares_files(struct strbuf *why);

#endif
