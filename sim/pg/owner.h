/* Who made something that outlives a killed process: a container, a database. The text goes with
 * the thing, and tells the next fencepost whether its maker is dead. */
#ifndef FENCEPOST_OWNER_H
#define FENCEPOST_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define OWNER_ID_SIZE_MAX 160

enum owner_state {
    OWNER_LIVES,
    OWNER_DEAD,
    OWNER_FOREIGN, /* of another machine, user or process namespace, or no owner's text: hands off
                    */
};

/* This process. */
void owner_id(char id[static OWNER_ID_SIZE_MAX]);
enum owner_state owner_judge(const char *id);

/* The same in two parts, for where there is no room for the whole: this machine, boot, process
 * namespace and user; and a process seen from there. */
uint64_t owner_place(void);
bool owner_process_lives(pid_t pid, uint64_t start_ticks);

/* Fills `hex` with digits that nobody can guess, terminated: for names and passwords, never for a
 * decision of a run. */
void owner_random_hex(char *hex, size_t hex_size);

#endif
