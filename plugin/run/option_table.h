/* options.inc as a table, the only list of the options that decide a result. A test reads the structs' declarations: a
 * member without a row is a failure. */
#pragma once

#include "io/common/report.h"
#include "run.h"

/* The struct that a member belongs to. */
typedef enum hot_run_group { HOT_OF_RUN, HOT_OF_FIT, HOT_OF_PEAKS, HOT_OF_SIGNAL, HOT_RUN_GROUPS } hot_run_group;

typedef enum hot_run_type {
    HOT_IS_INT, HOT_IS_FLAG, HOT_IS_SIZE, HOT_IS_DOUBLE,
    HOT_IS_NAME,  /* int, with the row's names for the report */
    HOT_IS_TEXT,
    HOT_IS_IMAGE, /* an image of one or several files: its content counts, not its name */
    HOT_IS_FILES, /* likewise; several with commas between them */
    HOT_IS_MEMORY /* a pointer: the data that it points to count */
} hot_run_type;

/* Uses of an option; a row without any does not decide a result. */
enum {
    HOT_LEARNS = 1,      /* decides the model of the whole volume, and so the results */
    HOT_FINDS = 2,       /* decides a voxel's results */
    HOT_RESUMES = 4,     /* compared by --resume, beside the two above; parts and models contain its effect */
    HOT_PART_KEEPS = 8,  /* is in the record of a part, */
    HOT_MODEL_KEEPS = 16, /* of a file of hotfiber learn */
    HOT_LEARN_TAKES = 32, /* is an option of hotfiber learn */
    HOT_COMMON = 64       /* comes first in the help */
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
    const char *value;  /* what help calls the value; of a choice, its words */
    double low, high;   /* bounds of a number */
    const char *help;   /* NULL = listed with another row, or no option */
    size_t second;      /* of an option with two numbers: the other member's offset; else 0 */
    const char *topic;  /* the heading that help lists it under */
} hot_run_row;

/* The rows, in the order of report.json; NULL after the last. */
const hot_run_row *hot_run_row_at(size_t index);

/* The member: in the struct itself or, for HOT_OF_..., in a struct that it points to. */
const void *hot_run_member(const hot_run_options *options, const hot_run_row *row);

/* The use of an option of the command (HOT_PART_KEEPS ...); 0 for an unknown name. */
unsigned hot_run_option_use(const char *option);

/* Sets the member of an option: `word` as typed, or its numbers; 0 means HOT_ZERO. The caller must own the structs that
 * the options point to. Returns 0 if the word is not a value of the option. */
int hot_run_option_set(const hot_run_options *options, const hot_run_row *row, const char *word,
                       const double *numbers);

/* The fingerprint of a run: the options of these uses with their values, checksums of the contents of files and memory,
 * version and seed; for HOT_LEARNS the data and the mask; for HOT_FINDS (but HOT_RESUMES) the model. Missing files have
 * no checksum; reading them will fail. Errors: HOT_ERROR_ARGUMENT (a pipe, which cannot be read twice),
 * HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. */
hot_status hot_run_describe(const hot_run_state *run, unsigned use, cJSON **object);

/* 64 bits as JSON, which has no such numbers. */
cJSON *hot_run_sum_text(uint64_t sum);

/* Writes the first difference of two objects to text: "order is 4 here and was 6". Returns whether they differ. there:
 * the one from a file. */
int hot_run_differ(const cJSON *here, const cJSON *there, char *text, size_t size);

/* A number without loss: cJSON's own may lose the last bit. Not finite: null. */
cJSON *hot_run_exact(double value);
