#include "sim/pg/rundir.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#include "sim/pg/box.h"
#include "sim/pg/process.h"
#include "sim/pg/shared_memory.h"
#include "sim/pg/tree.h"

#define SHM_DIR "/dev/shm"
#define SHM_FREE_MIB_MIN 512
#define FREE_MIB_MIN 128
#define BYTES_PER_MIB (UINT64_C(1024) * 1024)
#define CANDIDATE_COUNT_MAX 5
#define NAME_ATTEMPT_COUNT_MAX 16
#define NAME_RANDOM_SIZE 8
#define OWNER_NAME "owner"
#define OWNER_DRAFT_NAME "owner.new"
#define OWNER_TEXT_SIZE_MAX 256
#define OWNER_FORMAT                                                                               \
    "fencepost run directory, format 1\npid %d\nstart_ticks %" PRIu64 "\nboot_id %s\n"
#define SOCKET_PATH_SIZE_MAX (sizeof(((struct sockaddr_un *)0)->sun_path) - 1)

const char *rundir_environment(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static uint64_t free_mib(const char *path)
{
    struct statvfs fs;
    if (statvfs(path, &fs) != 0)
        return 0;
    return (uint64_t)fs.f_bavail * fs.f_frsize / BYTES_PER_MIB;
}

enum err rundir_check_room(const char *path, struct strbuf *why)
{
    uint64_t mib = free_mib(path);
    if (mib >= FREE_MIB_MIN)
        return ERR_OK;
    strbuf_printf(why,
                  "%s has %" PRIu64 " MiB free, a server needs %d: make room, or choose another "
                  "FENCEPOST_TMPDIR",
                  path, mib, FREE_MIB_MIN);
    return ERR_INFRASTRUCTURE;
}

/* Where a run directory may be, in the order of preference. `wanted` and the environment's choice
 * are binding; the others are tried one after the other. */
struct candidates {
    const char *paths[CANDIDATE_COUNT_MAX];
    int count;
    bool binding; /* the first one or none */
};

static void candidates_add(struct candidates *candidates, const char *path)
{
    if (path == NULL)
        return;
    FP_ASSERT(candidates->count < CANDIDATE_COUNT_MAX);
    candidates->paths[candidates->count++] = path;
}

static struct candidates candidates_all(const char *work_dir)
{
    struct candidates candidates = {.count = 0};
    candidates_add(&candidates, work_dir);
    candidates_add(&candidates, rundir_environment("FENCEPOST_TMPDIR"));
    candidates.binding = candidates.count > 0;
    candidates_add(&candidates, SHM_DIR);
    candidates_add(&candidates, rundir_environment("TMPDIR"));
    candidates_add(&candidates, "/tmp");
    return candidates;
}

static bool is_roomy_enough(const char *path)
{
    return strcmp(path, SHM_DIR) != 0 || free_mib(path) >= SHM_FREE_MIB_MIN;
}

static char *make_named(const char *parent, const struct server_user *user, struct strbuf *why)
{
    /* Another user has to pass through, but not to look around. */
    mode_t mode = user->is_other ? 0711 : 0700;

    for (int attempt = 0; attempt < NAME_ATTEMPT_COUNT_MAX; attempt++) {
        uint32_t random = 0;
        if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
            break;
        char *path = fp_format("%s/fencepost-%u-%d-%08" PRIx32, parent, (unsigned)geteuid(),
                               (int)getpid(), random);
        if (mkdir(path, mode) == 0 && chmod(path, mode) == 0)
            return path;
        free(path);
        if (errno != EEXIST)
            break;
    }
    strbuf_printf(why, "cannot make a directory in %s: %s: choose another FENCEPOST_TMPDIR", parent,
                  strerror(errno));
    return NULL;
}

static enum err check_socket_path(const char *path, struct strbuf *why)
{
    if (strchr(path, ',') != NULL) {
        /* libpq takes it for a list of hosts, and knows no way to quote it. */
        strbuf_printf(why,
                      "cannot have sockets in %s, no comma may be in it: choose another "
                      "FENCEPOST_TMPDIR",
                      path);
        return ERR_INFRASTRUCTURE;
    }
    char *longest = fp_format("%s/lane-%d/s9/" RUNDIR_SOCKET_NAME, path, RUNDIR_LANE_COUNT_MAX - 1);
    size_t size = strlen(longest);
    free(longest);
    if (size <= SOCKET_PATH_SIZE_MAX)
        return ERR_OK;
    strbuf_printf(why,
                  "the socket path would be %zu bytes long, at most %zu are possible: choose a "
                  "shorter FENCEPOST_TMPDIR than %s",
                  size, SOCKET_PATH_SIZE_MAX, path);
    return ERR_INFRASTRUCTURE;
}

static bool write_owner(int fd)
{
    char text[OWNER_TEXT_SIZE_MAX];
    char boot_id[BOOT_ID_SIZE_MAX];

    process_boot_id(boot_id);
    int size = snprintf(text, sizeof(text), OWNER_FORMAT, (int)getpid(),
                        process_start_ticks(getpid()), boot_id);
    FP_ASSERT(size > 0 && (size_t)size < sizeof(text));
    return write(fd, text, (size_t)size) == size;
}

/* The name `owner` appears only once the file is complete and locked. */
static bool claim(const char *path, int *owner_fd)
{
    char *draft = fp_format("%s/" OWNER_DRAFT_NAME, path);
    char *final = fp_format("%s/" OWNER_NAME, path);
    int fd = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool claimed = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && write_owner(fd) &&
                   rename(draft, final) == 0;
    if (!claimed) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        (void)unlink(draft);
        errno = error;
    }
    free(draft);
    free(final);
    *owner_fd = fd;
    return claimed;
}

static enum err make_in(const char *candidate, const struct server_user *user,
                        struct rundir *rundir, struct strbuf *why)
{
    char parent[PATH_MAX];
    if (realpath(candidate, parent) == NULL) {
        strbuf_printf(why, "cannot use %s: %s: choose another FENCEPOST_TMPDIR", candidate,
                      strerror(errno));
        return ERR_INFRASTRUCTURE;
    }
    char *path = make_named(parent, user, why);
    if (path == NULL)
        return ERR_INFRASTRUCTURE;
    enum err err = check_socket_path(path, why);
    if (err == ERR_OK)
        err = rundir_check_room(path, why);
    if (err == ERR_OK && !claim(path, &rundir->owner_fd)) {
        strbuf_printf(why, "cannot write into %s: %s", path, strerror(errno));
        err = ERR_INFRASTRUCTURE;
    }
    if (err != ERR_OK) {
        (void)rmdir(path);
        free(path);
        return err;
    }
    rundir->path = path;
    return ERR_OK;
}

enum err rundir_make(const char *work_dir, const struct server_user *user, struct rundir *rundir,
                     struct strbuf *why)
{
    struct candidates candidates = candidates_all(work_dir);
    struct strbuf tried = STRBUF_INIT;

    FP_ASSERT(candidates.count > 0);
    for (int i = 0; i < candidates.count; i++) {
        if (!candidates.binding && !is_roomy_enough(candidates.paths[i]))
            continue;
        if (tried.size > 0)
            strbuf_puts(&tried, "; ");
        if (make_in(candidates.paths[i], user, rundir, &tried) == ERR_OK) {
            strbuf_release(&tried);
            return ERR_OK;
        }
        if (candidates.binding)
            break;
    }
    strbuf_puts(why, strbuf_str(&tried));
    strbuf_release(&tried);
    return ERR_INFRASTRUCTURE;
}

void rundir_release(struct rundir *rundir)
{
    close(rundir->owner_fd);
    free(rundir->path);
    rundir->owner_fd = -1;
    rundir->path = NULL;
}

char *rundir_make_inside(const struct rundir *rundir, const char *name,
                         const struct server_user *user, struct strbuf *why)
{
    char *path = fp_format("%s/%s", rundir->path, name);
    bool made = mkdir(path, 0700) == 0;
    if (made && user->is_other)
        made = chown(path, user->uid, user->gid) == 0;
    if (made)
        return path;
    strbuf_printf(why, "cannot make %s: %s", path, strerror(errno));
    free(path);
    return NULL;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    FP_ASSERT(slash != NULL);
    return slash + 1;
}

char *rundir_cluster_name(const char *path, int lane)
{
    FP_ASSERT(lane < RUNDIR_LANE_COUNT_MAX);
    if (lane < 0)
        return fp_format("%s-lane-", name_of(path));
    return fp_format("%s-lane-%d:", name_of(path), lane);
}

static void remove_memory_of(const char *data_dir)
{
    uid_t uid;
    pid_t pid = postmaster_pid(data_dir, &uid);
    /* That of a container is the first process there; its memory goes with the container. */
    if (pid > BOX_POSTMASTER_PID)
        shared_memory_remove(pid, uid);
}

/* The files of postmasters that are dead by now say which shared memory was theirs. */
static void remove_memory_below(const char *path, const char *inside)
{
    DIR *dir = opendir(path);
    if (dir == NULL)
        return;
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        char *data_dir = fp_format("%s/%s%s", path, entry->d_name, inside);
        remove_memory_of(data_dir);
        free(data_dir);
    }
    closedir(dir);
}

/* A lane's server, and its standbys beside it. */
static void remove_memory_of_lane(const char *lane_dir)
{
    remove_memory_below(lane_dir, "");
    remove_memory_below(lane_dir, "/data");
}

static void remove_memory_of_all(const char *path)
{
    DIR *dir = opendir(path);
    if (dir == NULL)
        return;
    remove_memory_below(path, "");
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        if (strncmp(entry->d_name, "lane-", strlen("lane-")) != 0)
            continue;
        char *lane_dir = fp_format("%s/%s", path, entry->d_name);
        remove_memory_of_lane(lane_dir);
        free(lane_dir);
    }
    closedir(dir);
}

bool rundir_destroy(const char *path)
{
    char *cluster_name = rundir_cluster_name(path, -1);
    struct process_place place = {.dir = path, .cluster_name = cluster_name};
    bool killed = process_kill_all(&place);

    free(cluster_name);
    if (!killed)
        return false;
    remove_memory_of_all(path);
    return tree_remove(path, OWNER_NAME);
}

bool rundir_destroy_lane(const char *path, int lane)
{
    char *lane_dir = fp_format("%s/lane-%d", path, lane);
    char *cluster_name = rundir_cluster_name(path, lane);
    struct process_place place = {.dir = lane_dir, .cluster_name = cluster_name};
    bool gone = process_kill_all(&place);

    if (gone) {
        remove_memory_of_lane(lane_dir);
        gone = tree_remove(lane_dir, NULL);
    }
    free(cluster_name);
    free(lane_dir);
    return gone;
}

/* "fencepost-<our uid>-<pid>-<8 hex digits>" and nothing else; gives the pid. */
static bool parse_name(const char *name, pid_t *pid)
{
    unsigned uid;
    int number;
    char random[NAME_RANDOM_SIZE + 1];
    char again[NAME_MAX + 1];

    if (sscanf(name, "fencepost-%u-%d-%8[0-9a-f]", &uid, &number, random) != 3)
        return false;
    /* scanf is lax about signs, zeros and what follows: it must print as it was read. */
    snprintf(again, sizeof(again), "fencepost-%u-%d-%s", uid, number, random);
    if (strcmp(name, again) != 0 || strlen(random) != NAME_RANDOM_SIZE)
        return false;
    if (uid != geteuid() || number <= 0)
        return false;
    *pid = number;
    return true;
}

struct owner {
    pid_t pid;
    uint64_t start_ticks;
    char boot_id[BOOT_ID_SIZE_MAX];
};

static bool read_owner(int fd, struct owner *owner)
{
    char text[OWNER_TEXT_SIZE_MAX];
    char again[OWNER_TEXT_SIZE_MAX];

    ssize_t size = pread(fd, text, sizeof(text) - 1, 0);
    if (size <= 0)
        return false;
    text[size] = '\0';
    int pid;
    if (sscanf(text,
               "fencepost run directory, format 1 pid %d start_ticks %" SCNu64
               " boot_id %39[0-9a-f-]",
               &pid, &owner->start_ticks, owner->boot_id) != 3)
        return false;
    snprintf(again, sizeof(again), OWNER_FORMAT, pid, owner->start_ticks, owner->boot_id);
    owner->pid = pid;
    return strcmp(text, again) == 0;
}

static bool owner_lives(const struct owner *owner)
{
    char boot_id[BOOT_ID_SIZE_MAX];
    process_boot_id(boot_id);
    if (strcmp(boot_id, owner->boot_id) != 0)
        return false;
    return process_start_ticks(owner->pid) == owner->start_ticks;
}

static bool is_ours(int fd, mode_t type)
{
    struct stat st;
    return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type && st.st_uid == geteuid();
}

/* Open and lock the owner file of a dead fencepost's directory. -1: it is not one. The lock keeps
 * two fenceposts from cleaning up the same directory. */
static int lock_dead(int dir_fd, pid_t named_pid)
{
    struct owner owner;
    struct stat st;

    int fd = openat(dir_fd, OWNER_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -1;
    bool is_dead = is_ours(fd, S_IFREG) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
                   read_owner(fd, &owner) && owner.pid == named_pid && !owner_lives(&owner);
    /* Another fencepost may have removed it while we came for the lock. */
    if (is_dead && fstat(fd, &st) == 0 && st.st_nlink == 1)
        return fd;
    close(fd);
    return -1;
}

static bool destroy_if_leftover(int parent_fd, const char *parent, const char *name)
{
    pid_t pid;
    if (!parse_name(name, &pid))
        return false;
    int dir_fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir_fd < 0)
        return false;
    int owner_fd = is_ours(dir_fd, S_IFDIR) ? lock_dead(dir_fd, pid) : -1;
    close(dir_fd);
    if (owner_fd < 0)
        return false;
    char *path = fp_format("%s/%s", parent, name);
    bool gone = rundir_destroy(path);
    free(path);
    close(owner_fd);
    return gone;
}

static int destroy_leftovers_in(const char *candidate)
{
    char parent[PATH_MAX];
    if (realpath(candidate, parent) == NULL)
        return 0;
    DIR *dir = opendir(parent);
    if (dir == NULL)
        return 0;
    int count = 0;
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL)
        count += destroy_if_leftover(dirfd(dir), parent, entry->d_name) ? 1 : 0;
    closedir(dir);
    return count;
}

int rundir_destroy_leftovers(const char *work_dir)
{
    struct candidates candidates = candidates_all(work_dir);
    int count = 0;

    /* A place that is listed twice is empty the second time. */
    for (int i = 0; i < candidates.count; i++)
        count += destroy_leftovers_in(candidates.paths[i]);
    return count;
}
