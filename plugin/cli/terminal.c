/* What the user sees on standard error while a stage works: progress bar, notes, warnings; and how Ctrl-C gets in. */
#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 40 };

/* One command runs per process, so its terminal is the one piece of state that the callbacks share. */
static struct {
    int quiet;
    char stage[64];
    int percent; /* as drawn last */
    int open;    /* the cursor stands behind a bar */
} terminal;

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

void cli_terminal_start(int quiet)
{
    memset(&terminal, 0, sizeof terminal);
    terminal.quiet = quiet;
    /* The first signal asks the stage to stop and to clear up behind itself, the second ends it at once. Without
     * SA_RESTART, so that a stage that waits for its input wakes up. */
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction now;
    if (sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler != SIG_IGN) /* nohup keeps its promise */
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

void cli_terminal_newline(void)
{
    if (terminal.open)
        fputc('\n', stderr);
    terminal.open = 0;
    terminal.stage[0] = '\0';
}

void cli_log(void *user, hot_log_level level, const char *line)
{
    (void)user;
    if (terminal.quiet)
        return;
    cli_terminal_newline();
    fprintf(stderr, "%s%s\n", level == HOT_LOG_WARNING ? "warning: " : "", line);
}

int cli_progress(void *user, const char *stage, double fraction)
{
    (void)user;
    if (terminal.quiet || !isatty(STDERR_FILENO))
        return interrupted != 0;
    int percent = fraction >= 1 ? 100 : fraction > 0 ? (int)(100 * fraction) : 0;
    int same = terminal.open && strncmp(terminal.stage, stage, sizeof terminal.stage - 1) == 0;
    if (same && percent == terminal.percent)
        return interrupted != 0;
    if (!same)
        cli_terminal_newline();
    char bar[BAR + 1];
    int full = percent * BAR / 100;
    memset(bar, '#', (size_t)full);
    memset(bar + full, '.', (size_t)(BAR - full));
    bar[BAR] = '\0';
    fprintf(stderr, "\r%-28s [%s] %3d %%", stage, bar, percent);
    fflush(stderr);
    snprintf(terminal.stage, sizeof terminal.stage, "%s", stage);
    terminal.percent = percent;
    terminal.open = 1;
    if (percent == 100)
        cli_terminal_newline();
    return interrupted != 0;
}
