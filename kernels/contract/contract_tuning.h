/* Measured choices: which variant of a backend does a shape fastest. */
#pragma once

#include "contract_plan.h"

HOT_C_BEGIN

enum { HOT_CHOICE_PARAMETERS = 4, HOT_CHOICE_NAME = 80 };

typedef struct hot_contract_choice {
    char machine[HOT_CHOICE_NAME]; /* "cpu avx512" or the GPU's name, no tab in it */
    int precision;                 /* 32 or 64 */
    size_t m, n, k;
    char variant[HOT_CHOICE_NAME]; /* a word of the backend */
    int parameter[HOT_CHOICE_PARAMETERS];
} hot_contract_choice;

/* The choice for dense products of the plan's shape on this machine, or NULL. */
const hot_contract_choice *hot_contract_tuning_find(const hot_contract_plan *plan, const char *machine);

/* Stores a choice in place of that of the same shape and machine, if any; returns where it is kept, NULL without
 * memory. */
const hot_contract_choice *hot_contract_tuning_keep(hot_contract_tuning *tuning, const hot_contract_choice *choice);

/* "cpu avx512" and its like, of the context; static storage. */
const char *hot_contract_cpu_name(const hot_context *context);
/* The GPU's name, as the driver gives it; false without one. */
int hot_contract_cuda_name(hot_context *context, char name[HOT_CHOICE_NAME]);

/* The variants of a backend that are worth timing for a shape: at most `capacity` of them; returns how many. The first
 * is what would be taken without tuning. */
size_t hot_contract_cpu_variants(const hot_context *context, int f64, hot_contract_choice *out, size_t capacity);
size_t hot_contract_cuda_variants(int f64, size_t m, size_t n, size_t k, hot_contract_choice *out, size_t capacity);

/* Seconds that the plan takes on the GPU with its arrays there and cold: at least three runs, for about `seconds`; the
 * median. sum: of the absolute values of C after the first run, to compare variants by. */
hot_status hot_contract_cuda_time(hot_context *context, const hot_contract_plan *plan, double seconds, double *median,
                                  double *sum);

/* A table with one choice, for timing it. */
hot_contract_tuning *hot_contract_tuning_single(hot_context *context, const hot_contract_choice *choice);

HOT_C_END
