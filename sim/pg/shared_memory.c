#include "sim/pg/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEGMENT_NAME_SIZE_MAX 32
#define CONTROL_ITEM_COUNT_MAX 100000

/* How PostgreSQL's interlock segment begins (PGShmemHeader). */
#define INTERLOCK_MAGIC 679834894
#define INTERLOCK_SIZE_MAX 4096
struct interlock_head {
    int32_t magic;
    pid_t creator;
    size_t total_size;
    size_t free_offset;
    uint32_t control_handle; /* 0: there are no other segments */
};

/* The segment that lists the others (dsm_control_header, the same from 14 on). Its size has to fit,
 * so that another layout is noticed. */
#define CONTROL_MAGIC UINT32_C(0x9a503d32)
struct control_item {
    uint32_t handle;
    uint32_t reference_count;
    size_t first_page;
    size_t page_count;
    void *private_handle;
    bool pinned;
};
struct control_head {
    uint32_t magic;
    uint32_t item_count;
    uint32_t item_count_max;
    uint32_t padding;
};

static void posix_segment_name(uint32_t handle, char name[static SEGMENT_NAME_SIZE_MAX])
{
    snprintf(name, SEGMENT_NAME_SIZE_MAX, "/PostgreSQL.%u", handle);
}

static void remove_posix_segment(uint32_t handle)
{
    char name[SEGMENT_NAME_SIZE_MAX];
    posix_segment_name(handle, name);
    (void)shm_unlink(name);
}

static bool read_control_head(int fd, struct control_head *head)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || pread(fd, head, sizeof(*head), 0) != (ssize_t)sizeof(*head))
        return false;
    if (head->magic != CONTROL_MAGIC || head->item_count_max > CONTROL_ITEM_COUNT_MAX)
        return false;
    size_t size = sizeof(*head) + head->item_count_max * sizeof(struct control_item);
    return (size_t)st.st_size == size && head->item_count <= head->item_count_max;
}

static void remove_listed_segments(int control_fd)
{
    struct control_head head;
    if (!read_control_head(control_fd, &head))
        return;
    for (uint32_t i = 0; i < head.item_count; i++) {
        struct control_item item;
        off_t offset = (off_t)(sizeof(head) + i * sizeof(item));
        if (pread(control_fd, &item, sizeof(item), offset) != (ssize_t)sizeof(item))
            return;
        if (item.reference_count > 0)
            remove_posix_segment(item.handle);
    }
}

static void remove_posix_segments(uint32_t control_handle)
{
    char name[SEGMENT_NAME_SIZE_MAX];

    posix_segment_name(control_handle, name);
    int fd = shm_open(name, O_RDONLY, 0);
    if (fd < 0)
        return;
    remove_listed_segments(fd);
    close(fd);
    remove_posix_segment(control_handle);
}

/* The names of a server's POSIX segments are random, and can be found from nowhere else. */
static uint32_t control_handle_in(int interlock_id)
{
    const void *memory = shmat(interlock_id, NULL, SHM_RDONLY);
    if (memory == (const void *)-1)
        return 0;
    struct interlock_head head;
    memcpy(&head, memory, sizeof(head));
    (void)shmdt(memory);
    return head.magic == INTERLOCK_MAGIC ? head.control_handle : 0;
}

static void remove_interlock(int id)
{
    uint32_t control_handle = control_handle_in(id);
    if (control_handle != 0)
        remove_posix_segments(control_handle);
    (void)shmctl(id, IPC_RMID, NULL);
}

/* Root without its capabilities, in a container, may not remove another user's segment: do it as
 * that user. In a child, since there is no way back. */
static void remove_interlock_as(int id, uid_t uid)
{
    if (uid == geteuid()) {
        remove_interlock(id);
        return;
    }
    pid_t child = fork();
    if (child < 0)
        return;
    if (child == 0) {
        if (setuid(uid) == 0)
            remove_interlock(id);
        _exit(0);
    }
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static bool is_interlock_of(const struct shmid_ds *segment, pid_t creator, uid_t uid)
{
    return segment->shm_cpid == creator && segment->shm_perm.cuid == uid &&
           segment->shm_nattch == 0 && segment->shm_segsz >= sizeof(struct interlock_head) &&
           segment->shm_segsz <= INTERLOCK_SIZE_MAX;
}

void shared_memory_remove(pid_t creator, uid_t uid)
{
    struct shm_info info;
    int index_max = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info);

    FP_ASSERT(creator > 0);
    for (int index = 0; index <= index_max; index++) {
        struct shmid_ds segment;
        int id = shmctl(index, SHM_STAT_ANY, &segment);
        if (id >= 0 && is_interlock_of(&segment, creator, uid))
            remove_interlock_as(id, uid);
    }
}
