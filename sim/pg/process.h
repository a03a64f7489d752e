/* Processes of a server, found by where they run, and their end.
 *
 * Backends make sessions of their own, so neither a process group nor a session holds a whole
 * server. What holds it is the working directory: every process of a server has the data directory
 * as its own. Where that link may not be read (a container without CAP_SYS_PTRACE), the command
 * line tells, since it holds the data directory or the cluster's name. */
#ifndef FENCEPOST_PROCESS_H
#define FENCEPOST_PROCESS_H

#include <sys/types.h>

#include "sim/core/base.h"

#define BOOT_ID_SIZE_MAX 40
#define PROCESS_START_TICKS_UNKNOWN UINT64_C(0)

/* A descriptor that stands for the process whatever becomes of its number; -1: no such process, or
 * an old kernel. Caller closes. */
int process_open(pid_t pid);

/* When the process was started, in clock ticks since boot; a number that is used again gets
 * another. PROCESS_START_TICKS_UNKNOWN: there is no such process. */
uint64_t process_start_ticks(pid_t pid);

/* Differs after every boot; "" when the kernel does not tell. */
void process_boot_id(char boot_id[static BOOT_ID_SIZE_MAX]);

/* The whole of a small file, terminated. Returns its size, or -1. */
ssize_t process_read_file(const char *path, char *text, size_t text_size);

/* A server process whose title begins with "postgres: " and holds `text`. The title names the
 * cluster, the role and the database. */
bool process_title_holds(pid_t pid, const char *text);
/* Is there a word on its command line that is `dir`, or a path below it? */
bool process_command_names(pid_t pid, const char *dir);
/* The number that process has in the innermost of its process namespaces; 0: unknown. */
pid_t process_inner_pid(pid_t pid);
/* The child of `parent` that has the number `inner_pid` in its own process namespace; 0: none. */
pid_t process_child_by_inner_pid(pid_t parent, pid_t inner_pid);

/* What the processes of interest have in common. */
struct process_place {
    const char *dir;          /* a real path; they run in it or below it */
    const char *cluster_name; /* their cluster's name begins with this; NULL: unknown */
};

/* Kill, once, every server process in that place but `spare`, stopped ones too. Returns how many
 * were found. Other programs, a shell or a pager say, are left alone. */
int process_kill_once(const struct process_place *place, pid_t spare);
/* Again and again until there is none. False: some would not die. */
bool process_kill_all(const struct process_place *place);
/* How many server processes there are in that place. */
int process_count(const struct process_place *place);

/* The process that `data_dir`/postmaster.pid names, and the file's owner. 0: there is none. */
pid_t postmaster_pid(const char *data_dir, uid_t *uid);
/* The server of `data_dir` accepts connections, and it is `pid`. */
bool postmaster_is_ready(const char *data_dir, pid_t pid);

#endif
