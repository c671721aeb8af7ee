/* How progress is shown: as a bar, as lines in a log, as JSON, or not. Time comes in from outside, so that tests need
 * none. */
#pragma once

#include <stdio.h>

typedef enum cli_form { CLI_FORM_NONE, CLI_FORM_BAR, CLI_FORM_LINES, CLI_FORM_JSON } cli_form;

/* What --progress takes. */
#define CLI_FORMS "auto|bar|lines|json|none"
/* Which form that is: auto is a bar at a terminal, lines elsewhere. */
cli_form cli_form_of(const char *name, int terminal);

enum { CLI_METER_STAGE = 64, CLI_METER_INTERVAL = 60 /* seconds between two lines of a log */ };

typedef struct cli_meter {
    cli_form form;
    FILE *file;
    int columns;         /* of the terminal */
    double began, said;  /* seconds: the command, and the last line of a log */
    char stage[CLI_METER_STAGE];
    double stage_began;
    int percent;         /* as shown last */
    int open;            /* the cursor is behind a bar */
} cli_meter;

/* now: seconds of one monotonic clock. */
void cli_meter_start(cli_meter *meter, cli_form form, FILE *file, int columns, double now);

/* A bar is drawn when its percentage changes; a line is written when a minute has gone since the last one; an object of
 * JSON, {"event": "progress", "stage": TEXT, "fraction": 0 to 1, "elapsed": SECONDS}, when the percentage changes. */
void cli_meter_show(cli_meter *meter, const char *stage, double fraction, double now);

/* Ends a bar's line: the next output is on a new one. */
void cli_meter_leave(cli_meter *meter);

/* Prints a line: plain, after a lead ("warning: "), or {"event": kind, "text": text, "elapsed": SECONDS}. */
void cli_meter_say(cli_meter *meter, const char *kind, const char *lead, const char *text, double now);

/* The end of the command: {"event": "end", "status": status, "elapsed": SECONDS}; in the other forms nothing. */
void cli_meter_end(cli_meter *meter, int status, double now);
