#include "sim/pg/loopback.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

static void fill(void *bytes, size_t size)
{
    ssize_t got = getrandom(bytes, size, 0);
    FP_ASSERT(got == (ssize_t)size);
}

int loopback_free_port(const char *address)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    int known = inet_pton(AF_INET, address, &at.sin_addr);
    FP_ASSERT(known == 1);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    bool bound = bind(fd, (const struct sockaddr *)&at, sizeof at) == 0 &&
                 getsockname(fd, (struct sockaddr *)&at, &size) == 0;
    close(fd);
    return bound ? ntohs(at.sin_port) : 0;
}

char *loopback_address(void)
{
    uint8_t part[3];
    fill(part, sizeof part);
    /* Not 127.0.0.1, where everybody else is, and nothing that could be a broadcast. */
    return fp_format("127.%d.%d.%d", 1 + part[0] % 254, part[1], 1 + part[2] % 254);
}

char *loopback_secret(void)
{
    uint64_t half[2];
    fill(half, sizeof half);
    return fp_format("%016" PRIx64 "%016" PRIx64, half[0], half[1]);
}
