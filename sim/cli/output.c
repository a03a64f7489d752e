#include "sim/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int write_error;

void output_guard(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) != fd)
            _exit(EXIT_INFRASTRUCTURE);
}

/* The first error counts; errno is gone by the end of the program. */
static void note_error(bool failed)
{
    if (failed && write_error == 0)
        write_error = errno;
}

void output_text(const struct strbuf *text)
{
    errno = 0;
    size_t written = fwrite(strbuf_str(text), 1, text->size, stdout);
    note_error(written != text->size);
    note_error(fflush(stdout) != 0);
}

int output_finish(int code)
{
    errno = 0;
    note_error(fflush(stdout) != 0);
    if (write_error == 0 || write_error == EPIPE)
        return code;
    fprintf(stderr, "fencepost: standard output cannot be written: %s\n", strerror(write_error));
    return code == EXIT_PASS ? EXIT_INFRASTRUCTURE : code;
}

bool output_is_terminal(FILE *file)
{
    const char *kind = getenv("TERM");
    return isatty(fileno(file)) && kind && kind[0] != '\0' && strcmp(kind, "dumb") != 0;
}

bool output_has_colour(FILE *file, bool no_colour)
{
    const char *wish = getenv("NO_COLOR");
    return !no_colour && !(wish && wish[0] != '\0') && output_is_terminal(file);
}
