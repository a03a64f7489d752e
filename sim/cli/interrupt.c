#include "sim/cli/interrupt.h"

#include <signal.h>
#include <string.h>

static volatile bool interrupted;

static void note(int number)
{
    (void)number;
    interrupted = true;
}

/* Started by nohup: the terminal may go, the run goes on. A SIGINT that a shell ignores for what it
 * runs in the background is not meant so. */
static bool is_nohup(int number)
{
    struct sigaction action;
    return number == SIGHUP && sigaction(number, NULL, &action) == 0 &&
           action.sa_handler == SIG_IGN;
}

void interrupt_install(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    for (size_t i = 0; i < FP_COUNT(numbers); i++)
        if (!is_nohup(numbers[i]))
            sigaction(numbers[i], &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

const volatile bool *interrupt_flag(void)
{
    return &interrupted;
}
