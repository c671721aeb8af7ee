/* Output on standard error while a stage works: progress, notes, warnings; and Ctrl-C. */
#include "cli.h"
#include "common/timing.h"
#include "progress.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* One command runs per process, so its terminal is the one piece of state that the callbacks share. */
static struct {
    int quiet;
    cli_meter meter;
} terminal;

/* Other threads read it too, which sig_atomic_t does not cover; this lock-free int works in signal handlers. */
static atomic_int interrupted;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a handler of signals sets it");

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static int columns(void)
{
    struct winsize window;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col : 80;
}

void cli_terminal_start(int quiet, const char *progress)
{
    terminal.quiet = quiet;
    const cli_form form = !progress && quiet ? CLI_FORM_NONE
                                             : cli_form_of(progress ? progress : "auto", isatty(STDERR_FILENO));
    cli_meter_start(&terminal.meter, form, stderr, columns(), seconds_now());
    /* The first signal asks the stage to stop and to clear up behind itself, the second ends it at once. Without
     * SA_RESTART, so that a stage that waits for its input wakes up. */
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction hangup;
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) /* nohup keeps its promise */
        sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a write error with a message, not a silent death */
    signal(SIGXFSZ, SIG_IGN); /* so is a file that grows over the limit (ulimit -f) */
}

int cli_interrupted(void) { return interrupted != 0; }

int cli_stop(void *user)
{
    (void)user;
    return interrupted != 0;
}

void cli_terminal_newline(void) { cli_meter_leave(&terminal.meter); }

void cli_terminal_error(const char *lead, const char *text)
{
    cli_meter_say(&terminal.meter, "error", lead, text, seconds_now());
}

void cli_terminal_end(int status) { cli_meter_end(&terminal.meter, status, seconds_now()); }

void cli_log(void *user, hot_log_level level, const char *line)
{
    (void)user;
    const int warning = level == HOT_LOG_WARNING;
    if (!terminal.quiet)
        cli_meter_say(&terminal.meter, warning ? "warning" : "note", warning ? "warning: " : "", line, seconds_now());
}

int cli_progress(void *user, const char *stage, double fraction)
{
    (void)user;
    cli_meter_show(&terminal.meter, stage, fraction, seconds_now());
    return interrupted != 0;
}
