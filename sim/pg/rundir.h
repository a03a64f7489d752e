/* The run directory: everything one fencepost has on disk, and how to tell whether it still lives.
 *
 *   <tmp>/fencepost-<uid>-<pid>-<random>/   ours; 0700, or 0711 when the server is run as
 *                                           another user
 *     owner                                 who made it; locked (flock) for as long as one of the
 *                                           maker's processes lives
 *     template/                             the server user's, 0700
 *     lane-N/                               the server user's, 0700: the socket, its log, data/
 *       sN/, base/                          the same for standbys, and what they are made from
 *
 * The kernel drops the lock when the last holder dies, however it dies. The number, start time and
 * boot in `owner` are the second opinion. `owner` appears complete and locked, by a rename, and is
 * the last file to go. */
#ifndef FENCEPOST_RUNDIR_H
#define FENCEPOST_RUNDIR_H

#include "sim/core/base.h"
#include "sim/core/err.h"
#include "sim/core/strbuf.h"
#include "sim/pg/spawn.h"

#define RUNDIR_LANE_COUNT_MAX 1000
#define RUNDIR_SOCKET_NAME ".s.PGSQL.65535" /* the longest */

struct rundir {
    char *path;   /* real path, owned */
    int owner_fd; /* holds the lock */
};

/* The only place in sim/pg that reads the environment. NULL: not set, or empty. */
const char *rundir_environment(const char *name);

/* Make one in `work_dir`; NULL: in the first that will do of FENCEPOST_TMPDIR, /dev/shm, TMPDIR and
 * /tmp. ERR_INFRASTRUCTURE: no place, no room, or too long a path, see `why`. Caller ends it with
 * rundir_release; the directory itself stays. */
enum err rundir_make(const char *work_dir, const struct server_user *user, struct rundir *rundir,
                     struct strbuf *why);
/* Gives up the lock and the memory. */
void rundir_release(struct rundir *rundir);

/* A directory inside that belongs to the server's user. Caller frees the path. NULL with `why`. */
char *rundir_make_inside(const struct rundir *rundir, const char *name,
                         const struct server_user *user, struct strbuf *why);

/* Enough room for one more server? ERR_INFRASTRUCTURE with `why`. */
enum err rundir_check_room(const char *path, struct strbuf *why);

/* "fencepost-0-123-89abcdef-lane-7:" names one lane's cluster; with lane -1 the part that all lanes
 * have in common. Caller frees. */
char *rundir_cluster_name(const char *path, int lane);

/* Kill every server in the run directory, remove its shared memory, and the directory. What cannot
 * be removed stays, with `owner`, for the next fencepost. Returns whether all is gone. */
bool rundir_destroy(const char *path);
/* The same for one lane's directory. */
bool rundir_destroy_lane(const char *path, int lane);

/* Destroy the run directories of dead fenceposts of this user, wherever one could have been made.
 * Returns how many. */
int rundir_destroy_leftovers(const char *work_dir);

#endif
