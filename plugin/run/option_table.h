/* Every option of a run, once: options.inc as a table. What decides a result is listed nowhere else. A test reads the
 * structs' declarations: a member without a row is a failure. */
#ifndef HOT_RUN_OPTION_TABLE_H
#define HOT_RUN_OPTION_TABLE_H

#include "io/common/report.h"
#include "run.h"

/* The struct that a member belongs to. */
typedef enum hot_run_group { HOT_OF_RUN, HOT_OF_FIT, HOT_OF_PEAKS, HOT_OF_SIGNAL, HOT_RUN_GROUPS } hot_run_group;

typedef enum hot_run_type {
    HOT_IS_INT, HOT_IS_FLAG, HOT_IS_SIZE, HOT_IS_DOUBLE,
    HOT_IS_NAME,  /* int, with the row's names for the report */
    HOT_IS_TEXT,
    HOT_IS_IMAGE, /* a file: what is in it counts, not its name; an image of one or several files */
    HOT_IS_FILES, /* likewise; several with commas between them */
    HOT_IS_MEMORY /* a pointer to something; what is there counts */
} hot_run_type;

/* What an option is for; a row without any decides nothing that is found. */
enum {
    HOT_LEARNS = 1,      /* decides what is learned from the whole volume, and so what is found */
    HOT_FINDS = 2,       /* decides what is found in a voxel */
    HOT_RESUMES = 4,     /* only a run that goes on compares it: parts and learned files have what comes of it */
    HOT_PART_KEEPS = 8,  /* is in the record of a part, */
    HOT_MODEL_KEEPS = 16, /* of a file of hotfiber learn */
    HOT_LEARN_TAKES = 32  /* is an option of hotfiber learn */
};

/* When report.json shows it. */
typedef enum hot_run_shown {
    HOT_NOT_SHOWN, HOT_SHOWN,
    HOT_SHOWN_DIFFUSIVITIES, /* where they are given */
    HOT_SHOWN_KNOWN,         /* where it was given */
    HOT_SHOWN_MSMT, HOT_SHOWN_SIGNAL,
    HOT_SHOWN_TENSORS,       /* by methods on tensors; null: the default */
    HOT_SHOWN_STARTS         /* by those of them that have starting vectors */
} hot_run_shown;

typedef struct hot_run_row {
    const char *name;   /* of the member */
    const char *option; /* of the command; "" = none */
    hot_run_group group;
    size_t offset;
    hot_run_type type;
    unsigned use;
    hot_run_shown shown;
    const char *words;  /* "a|b|c"; HOT_IS_NAME: in the order of the values. NULL = not a choice */
    const char *value;  /* what help calls the value */
    double low, high;   /* bounds of a number */
    const char *help;   /* NULL = listed with another row, or no option */
    size_t second;      /* of an option with two numbers: the other member's offset; else 0 */
} hot_run_row;

/* The rows, in the order of report.json; NULL after the last. */
const hot_run_row *hot_run_row_at(size_t index);

/* The member: in the struct itself or, for HOT_OF_..., in what it holds. */
const void *hot_run_member(const hot_run_options *options, const hot_run_row *row);

/* The use of an option of the command (HOT_PART_KEEPS ...); 0 where there is none of this name. */
unsigned hot_run_option_use(const char *option);

/* Sets the member of an option that was given: `word` as it was typed, or its numbers; 0 means HOT_ZERO. What the
 * options point to must be the caller's to change. Returns 0 where the option does not take the word. */
int hot_run_option_set(const hot_run_options *options, const hot_run_row *row, const char *word,
                       const double *numbers);

/* What decides a result, as far as it is known: the options of these uses with their values, of files and memory sums
 * of the contents, version and seed; for HOT_LEARNS the data and the mask; for HOT_FINDS (but HOT_RESUMES) what was
 * learned. Files that are not there have no sum: whoever reads them says so. Errors: HOT_ERROR_ARGUMENT (a pipe, which
 * cannot be read twice), HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. */
hot_status hot_run_describe(const hot_run_state *run, unsigned use, cJSON **object);

/* 64 bits as JSON, which has no such numbers. */
cJSON *hot_run_sum_text(uint64_t sum);

/* The first item in which two objects differ, and how: "order is 4 here and was 6" into text. Returns whether there is
 * one. there: as it was read from a file. */
int hot_run_differ(const cJSON *here, const cJSON *there, char *text, size_t size);

/* A number without loss: cJSON's own may lose the last bit. Not finite: null. */
cJSON *hot_run_exact(double value);

#endif
