/* The write-ahead log of a primary, as positions and as files: what a standby is fed with. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/pg/internal.h"
#include "sim/pg/template.h"

#define PAGE_SIZE_BYTES UINT64_C(8192)
#define SEGMENT_SIZE (UINT64_C(1) << 20) /* initdb --wal-segsize=1 */
#define SEGMENTS_PER_ID (UINT64_C(0x100000000) / SEGMENT_SIZE)
#define PAGE_HEADER_SIZE 24
#define SEGMENT_HEADER_SIZE 40
#define FLUSH_TRY_COUNT_MAX 8

/* ---- positions ---- */

/* Where the next entry will begin is where the last one ended, but for a page's header. */
static uint64_t end_of_entry(uint64_t next)
{
    uint64_t header_size =
        next % SEGMENT_SIZE < PAGE_SIZE_BYTES ? SEGMENT_HEADER_SIZE : PAGE_HEADER_SIZE;
    return next % PAGE_SIZE_BYTES == header_size ? next - header_size : next;
}

static enum err read_ends(struct pg_lane *lane, uint64_t *written, uint64_t *flushed)
{
    PGresult *result = control_query(lane,
                                     "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn, "
                                     "pg_current_wal_flush_lsn() - '0/0'::pg_lsn",
                                     NULL, 0);
    if (!result)
        return ERR_INFRASTRUCTURE;
    *written = end_of_entry(strtoull(PQgetvalue(result, 0, 0), NULL, 10));
    *flushed = strtoull(PQgetvalue(result, 0, 1), NULL, 10);
    PQclear(result);
    return ERR_OK;
}

/* A transaction under way, or the server's own notes, may have entries that nobody has flushed. A
 * commit of ours flushes all before it, and is the last entry then. */
enum err log_position(struct pg_lane *lane, uint64_t *position)
{
    for (int i = 0; i < FLUSH_TRY_COUNT_MAX; i++) {
        uint64_t flushed;
        enum err err = read_ends(lane, position, &flushed);
        if (err != ERR_OK || flushed == *position)
            return err;
        err = control_run(lane, "SELECT pg_logical_emit_message(true, 'fencepost', '')");
        if (err != ERR_OK)
            return err;
    }
    return lane_trouble(lane, "the server's log does not come to rest");
}

enum err pg_lane_position(struct pg_lane *lane, uint64_t *position)
{
    return log_position(lane, position);
}

/* ---- files ---- */

static int open_segment(const struct pg_lane *lane, const struct pg_server *server, uint64_t number,
                        int flags)
{
    char *path =
        fp_format("%s/pg_wal/%08X%08" PRIX64 "%08" PRIX64, pg_server_data_dir(server),
                  (unsigned)lane->timeline, number / SEGMENTS_PER_ID, number % SEGMENTS_PER_ID);
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    free(path);
    return fd;
}

/* The server reads whole pages, so a segment has its full size from the beginning. */
static bool have_room(int fd)
{
    const struct server_user *user = &pg_template_get()->user;
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    if (st.st_size == (off_t)SEGMENT_SIZE)
        return true;
    if (user->is_other && fchown(fd, user->uid, user->gid) != 0)
        return false;
    return ftruncate(fd, (off_t)SEGMENT_SIZE) == 0;
}

static bool copy_bytes(int from, int to, off_t at, size_t size)
{
    static char bytes[SEGMENT_SIZE];
    FP_ASSERT(size <= sizeof bytes);
    return pread(from, bytes, size, at) == (ssize_t)size &&
           pwrite(to, bytes, size, at) == (ssize_t)size;
}

static bool copy_part(const struct pg_lane *lane, const struct pg_server *from,
                      const struct pg_server *to, uint64_t start, size_t size)
{
    int from_fd = open_segment(lane, from, start / SEGMENT_SIZE, O_RDONLY);
    int to_fd = open_segment(lane, to, start / SEGMENT_SIZE, O_WRONLY | O_CREAT);
    bool copied = from_fd >= 0 && to_fd >= 0 && have_room(to_fd) &&
                  copy_bytes(from_fd, to_fd, (off_t)(start % SEGMENT_SIZE), size);
    int error = errno;
    if (from_fd >= 0)
        close(from_fd);
    if (to_fd >= 0)
        close(to_fd);
    errno = error;
    return copied;
}

enum err log_copy(struct pg_lane *lane, const struct pg_server *from, const struct pg_server *to,
                  uint64_t start, uint64_t end)
{
    while (start < end) {
        uint64_t segment_end = (start / SEGMENT_SIZE + 1) * SEGMENT_SIZE;
        uint64_t part_end = segment_end < end ? segment_end : end;
        if (!copy_part(lane, from, to, start, (size_t)(part_end - start)))
            return lane_trouble(lane, "cannot copy the log to a standby: %s", strerror(errno));
        start = part_end;
    }
    return ERR_OK;
}
