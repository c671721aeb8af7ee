/* The command line: what the subcommands share. A subcommand is one file with a table of options and one function,
 * and one line in the list in main.c. */
#pragma once

#include <hotfiber/hotfiber.h>

/* Exit status of every subcommand. */
enum { HOT_EXIT_DONE = 0, HOT_EXIT_FAILED = 1, HOT_EXIT_USAGE = 2 };

typedef enum cli_kind {
    CLI_FLAG,   /* int *: set to 1 */
    CLI_INT,    /* int *: low <= value <= high */
    CLI_DOUBLE, /* double *: low <= value <= high */
    CLI_SIZE,   /* size_t *: low <= value <= high */
    CLI_TEXT,   /* const char **: as given */
    CLI_OUTPUT, /* const char **: a file to be written; checked before the subcommand begins. By its suffix: */
    CLI_OUTPUT_IMAGE, /* NRRD, NIfTI ..., */
    CLI_OUTPUT_NRRD,  /* NRRD alone */
    CLI_OUTPUT_ANY,   /* a file or a folder, whatever its suffix */
    CLI_CHOICE, /* const char **: one of `choices`, "a|b|c" */
    CLI_LIST,   /* cli_list *: numbers separated by commas, each within low ... high */
    CLI_TEXTS   /* cli_texts *: an option that may be given several times */
} cli_kind;

typedef struct cli_list {
    size_t count;
    double values[256];
} cli_list;

typedef struct cli_texts {
    size_t count;
    const char *text[16];
} cli_texts;

/* One option. Names are given without dashes; `-` and `_` in a long name are the same to the user. A one-letter name
 * is a short option ("i" is -i). */
typedef struct cli_option {
    const char *name;
    cli_kind kind;
    void *target;
    const char *value;   /* what the help calls the value: "FILE", "N", "DEGREES"; CLI_CHOICE: "a|b|c" */
    const char *help;    /* one line or more; says unit and default */
    double low, high;    /* numbers: bounds, both included; low == high == 0 means no bounds */
} cli_option;

/* The end of a table of options. */
#define CLI_END {NULL, CLI_FLAG, NULL, NULL, NULL, 0, 0}

/* The option of this name of run/options.inc: its kind, help and bounds. target: where it is stored, const char * of a
 * choice and of a size of memory. */
cli_option cli_row(const char *name, void *target);

/* Options that most readers of diffusion data have. */
#define CLI_DWI_OPTION(input)                                                                                          \
    {"i", CLI_TEXT, &(input), "FILE", "diffusion data: NRRD, NIfTI or MIF; default -, standard input", 0, 0}
#define CLI_GRADIENT_OPTIONS(bval, bvec) cli_row("bval", &(bval)), cli_row("bvec", &(bvec)), cli_row("grad", &(bval))
#define CLI_MASK_OPTION(mask) cli_row("mask", &(mask))
#define CLI_MEMORY_OPTION(memory) cli_row("memory", &(memory))

/* The content of an ambiguous input. */
#define CLI_AS(as)                                                                                                     \
    {"as", CLI_CHOICE, &(as), "peaks|dyads|sh|tensor|tensor_fsl|tensor_mrtrix|tensor_dipy|tensor_itk|rgb|dwi",         \
     "what the input holds, where neither its header nor its values tell: directions (in scanner axes, or dyads: "     \
     "FSL's, in the axes of the bvecs), spherical harmonics, tensors (order 2 also by the program whose order and "    \
     "axes they have), colours, signals", 0, 0}

typedef struct cli_command {
    const char *name;
    const char *summary;   /* a line in the list of subcommands */
    const char *usage;     /* after "hotfiber NAME", e.g. "-i DWI -o TENSORS [options]" */
    const char *about;     /* a paragraph or more for --help, with an example; NULL = none */
    int arguments_max;     /* how many plain arguments are allowed; 0: one, for the option -i if there is one */
} cli_command;

enum { CLI_ARGUMENTS = 16 };

/* Options that every subcommand has: --device --threads --seed --progress --confine --quiet --help. */
typedef struct cli_common {
    hot_context *context;     /* made by cli_parse */
    int quiet;
    int argument_count;       /* plain arguments */
    const char *arguments[CLI_ARGUMENTS];
} cli_common;

/* Words of an earlier command line; options of the new one take precedence. */
typedef struct cli_record {
    int argc;                  /* 0 = there are none */
    char **argv;               /* argv[0], then options and their values; free() */
    const cli_option *options; /* what they are read with, which may be more than the command shows */
} cli_record;

/* Parses argv (argv[0] is the subcommand's name) into the options' targets and makes the context. `options` ends with a
 * NULL name. Returns -1 to continue, or the exit status (help shown: HOT_EXIT_DONE; wrong usage: a line on stderr that
 * names the option, HOT_EXIT_USAGE). */
int cli_parse(const cli_command *command, const cli_option *options, int argc, char **argv, cli_common *common);

/* The same; once argv is read, load(user, context, common, record) gives the record; its failure, whose message is in
 * that context, ends the command. */
typedef hot_status cli_load_record(void *user, hot_context *context, const cli_common *common, cli_record *record);
int cli_parse_with(const cli_command *command, const cli_option *options, int argc, char **argv, cli_common *common,
                   cli_load_record *load, void *user);

/* How a subcommand begins: parses its options into `common`, or returns the exit status. */
#define CLI_PARSE(NAME, options)                                                                                       \
    cli_common common;                                                                                                 \
    int ended = cli_parse(&cli_##NAME##_command, options, argc, argv, &common);                                        \
    if (ended >= 0)                                                                                                    \
        return ended

/* Ends a subcommand: prints the context's message when status is not HOT_OK ("hotfiber fit: ..."), destroys the
 * context, returns the exit status. */
int cli_finish(const cli_command *command, cli_common *common, hot_status status);

/* Parses the value of CLI_MEMORY_OPTION into bytes, 0 if it was not given, and bounds the context's memory accordingly.
 * Returns -1, or on errors cli_refuse's status. */
int cli_memory_read(const cli_command *command, cli_common *common, const char *text, const char *output,
                    size_t *bytes);

/* Ends a subcommand whose options do not go together: one line that names the option, destroys the context, returns
 * HOT_EXIT_USAGE. */
int cli_refuse(const cli_command *command, cli_common *common, const char *format, ...) HOT_PRINTF(3, 4);

/* The same where the context's message says which options do not go together: the option's name is written as here. */
int cli_refuse_option(const cli_command *command, cli_common *common);

/* A text that the user or a file gave (names, keys), fit for a line on a terminal: see hot_text_escape. Valid until the
 * fourth call after it. */
const char *cli_shown(const char *text);

/* Flushes standard output; HOT_EXIT_DONE, or a line on stderr and HOT_EXIT_FAILED (a full disk, a closed pipe). */
int cli_flush(const cli_command *command);

/* Whether the option was given by the user: pass the same target address. Valid until the next cli_parse. */
int cli_given(const void *target);

/* The same by the option's name; `options` is a table of cli_option, ended by CLI_END. For the library's rules. */
int cli_option_given(const void *options, const char *name);

/* A number as an option of the library: HOT_ZERO where the user has typed 0, 0 where nothing. */
double cli_number(const double *target);

/* The options that were given, with their values, as a JSON array of words: those of `options` that `kept_by` keeps
 * (HOT_PART_KEEPS, HOT_MODEL_KEEPS of run/option_table.h), and the seed; input files by their absolute names. NULL
 * without memory; free with cJSON_free. */
char *cli_record_write(const cli_option *options, const cli_common *common, unsigned kept_by);

/* Reads such words, of the file `from`: options that a run keeps, each with its value, and nothing else: they may be
 * anybody's, and a --force or --help in them would be obeyed. Once in a process. Errors: HOT_ERROR_FORMAT. */
hot_status cli_record_read(hot_context *context, const char *text, const char *from, cli_record *record);

/* ---- Inside the command line ------------------------------------------------------------------------------ */

/* Help of one subcommand on standard output. */
void cli_print_help(const cli_command *command, const cli_option *own, const cli_option *shared);

/* Text on standard output from column `left` on, where the cursor stands, broken to the terminal's width. */
void cli_print_text(const char *text, int left);

/* The word nearest to a misspelt one: begin, try every candidate, read `best` (NULL: nothing is near). */
typedef struct cli_guess {
    const char *word, *best;
    int distance;
} cli_guess;
void cli_guess_begin(cli_guess *guess, const char *word);
void cli_guess_try(cli_guess *guess, const char *candidate);

/* " from 1 to 9", " of at least 1", " above 0", or "": the bounds of an option's numbers, to be read in a sentence. */
void cli_print_bounds(const cli_option *option, char *text, size_t size);

/* The first of `files` ("a,b") in the folder `path`, valid until the next call; `path` itself if it is no folder or has
 * none. */
const char *cli_run_file(const char *path, const char *files);

/* Options that name the folder of a run in the place of one of its files: replaced by that file. */
void cli_take_run_folders(const cli_command *command, const cli_option *options);

/* Refuses outputs that are inputs, that share a name, whose suffix is not known, or that cannot be written. */
hot_status cli_check_files(const cli_option *options, hot_context *context);

/* A hint about the file in the context's message: "; did you mean 'dwi.nhdr'" if it does not exist and a similar name
 * is in its folder, the program that converts it to NIfTI, or "". */
void cli_suggest_file(const cli_option *options, const cli_common *common, hot_status status, char *text,
                      size_t size);

/* The terminal: signals caught; progress, notes and warnings on standard error. progress: what --progress says, one of
 * CLI_FORMS (progress.h); NULL = not given, which with `quiet` is none. */
void cli_terminal_start(int quiet, const char *progress);
void cli_terminal_newline(void); /* leaves the bar's line, if a bar is drawn */
void cli_terminal_error(const char *lead, const char *text); /* the line that says what failed; `lead` before it */
void cli_terminal_end(int status);
int cli_interrupted(void);
int cli_stop(void *user);
void cli_log(void *user, hot_log_level level, const char *line);
int cli_progress(void *user, const char *stage, double fraction);

/* Subcommands: one file each. */
typedef struct cli_entry {
    const cli_command *command;
    int (*run)(int argc, char **argv);
} cli_entry;

#define CLI_DECLARE(NAME) \
    extern const cli_command cli_##NAME##_command; \
    int cli_##NAME(int argc, char **argv)
#define CLI_ENTRY(NAME) {&cli_##NAME##_command, cli_##NAME}
