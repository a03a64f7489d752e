#include "sim/pg/owner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "sim/pg/process.h"

#define OWNER_FORMAT "1/%s/%s/%s/%u/%d/%" PRIu64
#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

struct owner {
    char machine[17];
    char boot_id[BOOT_ID_SIZE_MAX];
    char namespace[32];
    unsigned uid;
    pid_t pid;
    uint64_t start_ticks;
};

static uint64_t mix(uint64_t hash, const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * FNV_PRIME;
    return hash;
}

static uint64_t mix_file(uint64_t hash, const char *path)
{
    char text[256];
    return process_read_file(path, text, sizeof text) < 0 ? hash : mix(hash, text);
}

/* A number of a process means something only where that process is seen. */
static void read_namespace(char *text, size_t text_size)
{
    char link[64] = "";
    ssize_t size = readlink("/proc/self/ns/pid", link, sizeof link - 1);
    link[size > 0 ? size : 0] = '\0';
    size_t digits = strspn(link, "pid:[");
    snprintf(text, text_size, "%.*s", (int)strspn(link + digits, "0123456789"), link + digits);
}

static void owner_self(struct owner *owner)
{
    uint64_t machine = mix_file(FNV_BASIS, "/etc/machine-id");
    machine = mix_file(machine, "/proc/sys/kernel/hostname");
    snprintf(owner->machine, sizeof owner->machine, "%016" PRIx64, machine);
    process_boot_id(owner->boot_id);
    read_namespace(owner->namespace, sizeof owner->namespace);
    owner->uid = (unsigned)geteuid();
    owner->pid = getpid();
    owner->start_ticks = process_start_ticks(owner->pid);
}

static void put_id(const struct owner *owner, char *id)
{
    int size = snprintf(id, OWNER_ID_SIZE_MAX, OWNER_FORMAT, owner->machine, owner->boot_id,
                        owner->namespace, owner->uid, (int)owner->pid, owner->start_ticks);
    FP_ASSERT(size > 0 && size < OWNER_ID_SIZE_MAX);
}

/* It must print as it was read: scanf is lax. */
static bool parse_id(const char *id, struct owner *owner)
{
    char again[OWNER_ID_SIZE_MAX];
    int pid;
    if (strlen(id) >= sizeof again ||
        sscanf(id, "1/%16[0-9a-f]/%39[0-9a-f-]/%31[0-9]/%u/%d/%" SCNu64, owner->machine,
               owner->boot_id, owner->namespace, &owner->uid, &pid, &owner->start_ticks) != 6)
        return false;
    owner->pid = pid;
    put_id(owner, again);
    return strcmp(id, again) == 0;
}

void owner_id(char id[static OWNER_ID_SIZE_MAX])
{
    struct owner self;
    owner_self(&self);
    put_id(&self, id);
}

enum owner_state owner_judge(const char *id)
{
    struct owner self, owner;
    owner_self(&self);
    if (!parse_id(id, &owner) || strcmp(owner.machine, self.machine) != 0 || owner.uid != self.uid)
        return OWNER_FOREIGN;
    if (strcmp(owner.boot_id, self.boot_id) != 0)
        return OWNER_DEAD;
    if (strcmp(owner.namespace, self.namespace) != 0)
        return OWNER_FOREIGN;
    return owner_process_lives(owner.pid, owner.start_ticks) ? OWNER_LIVES : OWNER_DEAD;
}

uint64_t owner_place(void)
{
    struct owner self;
    char id[OWNER_ID_SIZE_MAX];
    owner_self(&self);
    self.pid = 0;
    self.start_ticks = 0;
    put_id(&self, id);
    return mix(FNV_BASIS, id);
}

bool owner_process_lives(pid_t pid, uint64_t start_ticks)
{
    return process_start_ticks(pid) == start_ticks;
}

void owner_random_hex(char *hex, size_t hex_size)
{
    unsigned char bytes[64];
    FP_ASSERT(hex_size > 1 && hex_size / 2 <= sizeof bytes);
    ssize_t size = getrandom(bytes, sizeof bytes, 0);
    FP_ASSERT(size == (ssize_t)sizeof bytes);
    for (size_t i = 0; i + 1 < hex_size; i++)
        hex[i] = "0123456789abcdef"[(bytes[i / 2] >> (i % 2 * 4)) & 15];
    hex[hex_size - 1] = '\0';
}
