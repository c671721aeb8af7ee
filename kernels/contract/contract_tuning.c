/* The table of measured choices: reading and writing it as text, searching it, and filling it by measurement. */
#include "contract_tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/arguments.h"
#include "common/backend.h"
#include "common/context_internal.h"
#include "common/cpu.h"
#include "common/entry.h"
#include "contract/cpu/contract_variant.h"

struct hot_contract_tuning {
    hot_context *context; /* that has made it */
    size_t count, capacity;
    hot_contract_choice *choices;
};

static const char first_line[] = "hotfiber contract tuning 1";

const char *hot_contract_cpu_name(const hot_context *context)
{
    const hot_cpu_level level = hot_context_cpu_level(context);
    return level >= HOT_CPU_AVX512 ? "cpu avx512" : level >= HOT_CPU_AVX2 ? "cpu avx2" : "cpu baseline";
}

#if !defined(HOT_HAVE_CUDA) || !HOT_HAVE_CUDA
int hot_contract_cuda_name(hot_context *context, char name[HOT_CHOICE_NAME])
{
    (void)context;
    name[0] = '\0';
    return 0;
}

size_t hot_contract_cuda_variants(int f64, size_t m, size_t n, size_t k, hot_contract_choice *out, size_t capacity)
{
    (void)f64, (void)m, (void)n, (void)k, (void)out, (void)capacity;
    return 0;
}

hot_status hot_contract_cuda_time(hot_context *context, const hot_contract_plan *plan, double seconds, double *median,
                                  double *sum)
{
    (void)plan, (void)seconds, (void)median, (void)sum;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no CUDA");
}
#endif

/* ---- The table --------------------------------------------------------------------------------------------------- */

static int same_key(const hot_contract_choice *x, const hot_contract_choice *y)
{
    return x->precision == y->precision && x->m == y->m && x->n == y->n && x->k == y->k &&
        strcmp(x->machine, y->machine) == 0;
}

static hot_status keep(hot_contract_tuning *tuning, const hot_contract_choice *choice)
{
    for (size_t i = 0; i < tuning->count; i++)
        if (same_key(&tuning->choices[i], choice)) {
            tuning->choices[i] = *choice;
            return HOT_OK;
        }
    if (tuning->count == tuning->capacity) {
        const size_t capacity = tuning->capacity ? 2 * tuning->capacity : 16;
        hot_contract_choice *larger = hot_context_alloc(tuning->context, capacity, sizeof *larger);
        if (!larger)
            return HOT_ERROR_MEMORY;
        if (tuning->count)
            memcpy(larger, tuning->choices, tuning->count * sizeof *larger);
        hot_context_free(tuning->context, tuning->choices);
        tuning->choices = larger;
        tuning->capacity = capacity;
    }
    tuning->choices[tuning->count++] = *choice;
    return HOT_OK;
}

const hot_contract_choice *hot_contract_tuning_find(const hot_contract_plan *plan, const char *machine)
{
    if (!plan->tuning)
        return NULL;
    for (size_t i = 0; i < plan->tuning->count; i++) {
        const hot_contract_choice *choice = &plan->tuning->choices[i];
        if (choice->precision == (plan->f64 ? 64 : 32) && choice->m == plan->row.total &&
            choice->n == plan->column.total && choice->k == plan->sum.total && strcmp(choice->machine, machine) == 0)
            return choice;
    }
    return NULL;
}

/* One line: machine, precision, m n k, variant and its parameters, with tabs between these four. */
static int read_line(const char *line, size_t length, hot_contract_choice *choice)
{
    char text[512];
    const int most = HOT_CHOICE_NAME - 1;
    int used = 0;
    if (length >= sizeof text)
        return 0;
    memcpy(text, line, length);
    text[length] = '\0';
    memset(choice, 0, sizeof *choice);
    const char *tab = strchr(text, '\t');
    if (!tab || tab - text > most || tab == text)
        return 0;
    memcpy(choice->machine, text, (size_t)(tab - text));
    if (sscanf(tab + 1, "f%d\t%zu %zu %zu\t%79s %d %d %d %d%n", &choice->precision, &choice->m, &choice->n, &choice->k,
               choice->variant, &choice->parameter[0], &choice->parameter[1], &choice->parameter[2],
               &choice->parameter[3], &used) != 9)
        return 0;
    return tab[1 + used] == '\0' && (choice->precision == 32 || choice->precision == 64);
}

hot_status hot_contract_tuning_create(hot_context *context, const char *text, hot_contract_tuning **tuning)
{
    HOT_ENTRY(context);
    if (tuning)
        *tuning = NULL;
    HOT_NEED(context, tuning);
    hot_status status = HOT_OK;
    hot_contract_tuning *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    made->context = context;
    for (size_t number = 1; text && *text && status == HOT_OK; number++) {
        const size_t length = strcspn(text, "\n");
        hot_contract_choice choice;
        if (number == 1) {
            if (length != sizeof first_line - 1 || memcmp(text, first_line, length) != 0)
                status = hot_context_fail(context, HOT_ERROR_FORMAT, "a table of choices begins with the line '%s'",
                                          first_line);
        } else if (!read_line(text, length, &choice)) {
            status = hot_context_fail(context, HOT_ERROR_FORMAT, "line %zu of the table of choices is not understood",
                                      number);
        } else {
            status = keep(made, &choice);
        }
        text += length + (text[length] == '\n');
    }
    if (status == HOT_OK)
        *tuning = made;
    else
        hot_contract_tuning_destroy(&made);
    return status;
}

void hot_contract_tuning_destroy(hot_contract_tuning **tuning)
{
    if (!tuning || !*tuning)
        return;
    hot_context_free((*tuning)->context, (*tuning)->choices);
    hot_context_free((*tuning)->context, *tuning);
    *tuning = NULL;
}

char *hot_contract_tuning_text(hot_context *context, const hot_contract_tuning *tuning)
{
    HOT_ENTRY(context);
    if (!context || !tuning)
        return NULL;
    enum { LINE = 2 * HOT_CHOICE_NAME + 160 };
    const size_t capacity = (tuning->count + 1) * LINE;
    char *text = hot_context_alloc(context, capacity, 1);
    if (!text)
        return NULL;
    size_t used = (size_t)snprintf(text, capacity, "%s\n", first_line);
    for (size_t i = 0; i < tuning->count; i++) {
        const hot_contract_choice *c = &tuning->choices[i];
        used += (size_t)snprintf(text + used, capacity - used, "%s\tf%d\t%zu %zu %zu\t%s %d %d %d %d\n", c->machine,
                                 c->precision, c->m, c->n, c->k, c->variant, c->parameter[0], c->parameter[1],
                                 c->parameter[2], c->parameter[3]);
    }
    return text;
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

size_t hot_contract_cpu_variants(const hot_context *context, int f64, hot_contract_choice *out, size_t capacity)
{
    const hot_contract_variant *variant = hot_contract_variant_choose(context);
    size_t count = 0;
    (void)f64;
    for (int vectors = variant->vectors; vectors >= 1; vectors--)
        for (int rows = variant->rows; rows >= 2 && count < capacity; rows /= 2) {
            memset(&out[count], 0, sizeof out[count]);
            snprintf(out[count].variant, sizeof out[count].variant, "tile");
            out[count].parameter[0] = rows;
            out[count++].parameter[1] = vectors;
        }
    return count;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double value_at(const hot_contract_plan *plan, size_t i)
{
    return plan->f64 ? ((const double *)plan->c)[i] : (double)((const float *)plan->c)[i];
}

/* As hot_contract_cuda_time, on the CPU. */
static hot_status cpu_time(hot_context *context, const hot_contract_plan *plan, double seconds, double *median,
                           double *sum)
{
    enum { MOST = 200 };
    double times[MOST];
    int count = 0;
    hot_contract_plan copy = *plan;
    hot_status status = hot_contract_cpu(context, &copy);
    *sum = 0;
    for (size_t i = 0; i < hot_contract_extent(plan, HOT_OPERAND_C); i++)
        *sum += fabs(value_at(plan, i));
    for (double begin = now(); status == HOT_OK && count < MOST && (count < 3 || now() - begin < seconds);) {
        const double before = now();
        status = hot_contract_cpu(context, &copy);
        times[count++] = now() - before;
    }
    qsort(times, (size_t)count, sizeof *times, compare);
    *median = count ? times[count / 2] : 0;
    return status;
}

hot_contract_tuning *hot_contract_tuning_single(hot_context *context, const hot_contract_choice *choice)
{
    hot_contract_tuning *tuning = NULL;
    if (hot_contract_tuning_create(context, NULL, &tuning) == HOT_OK && keep(tuning, choice) != HOT_OK)
        hot_contract_tuning_destroy(&tuning);
    return tuning;
}

/* Operands of small numbers that are no powers of two, so that wrong results show in sums. */
static void *make_values(hot_context *context, int f64, size_t count)
{
    void *values = hot_context_alloc(context, count, f64 ? sizeof(double) : sizeof(float));
    uint32_t state = 1;
    for (size_t i = 0; values && i < count; i++) {
        state = state * 1664525u + 1013904223u;
        const double value = (double)(state >> 8) * 0x1p-24 + .25;
        if (f64)
            ((double *)values)[i] = value;
        else
            ((float *)values)[i] = (float)value;
    }
    return values;
}

hot_status hot_contract_tune(hot_context *context, hot_contract_tuning *tuning, int precision, size_t m, size_t n,
                             size_t k, size_t batch, double seconds, const char **chosen, double *best, double *usual)
{
    HOT_ENTRY(context);
    HOT_NEED(context, tuning);
    enum { MOST = 64 };
    hot_contract_choice choices[MOST], key = {.precision = precision, .m = m, .n = n, .k = k};
    hot_contract_choice winner = key;
    const int f64 = precision == 64;
    double fastest = INFINITY, first_sum = 0, first_time = 0;
    if (precision != 32 && precision != 64)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a precision of %d bits: 32 and 64 are known", precision);
    if (m == 0 || n == 0 || k == 0 || batch == 0 || m > 4096 || n > 4096 || k > 4096 ||
        batch > SIZE_MAX / 1024 / (m * k + k * n + m * n))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "%zu products %zu x %zu x %zu cannot be tuned: sizes go from 1 to "
                                "4096, and must fit into memory",
                                batch, m, n, k);
    const hot_device device = hot_context_device(context);
    const int cuda = device == HOT_DEVICE_CUDA || (device == HOT_DEVICE_AUTO && hot_cuda_count() > 0);
    hot_contract_plan plan = {.f64 = f64, .alpha = 1, .beta = .5};
    void *a = NULL, *b = NULL, *c = NULL;
    hot_status status = HOT_OK;
    if (cuda) {
        status = hot_cuda_select(context, hot_context_device_number(context));
        if (status != HOT_OK)
            return status;
        hot_contract_cuda_name(context, key.machine);
    } else {
        snprintf(key.machine, sizeof key.machine, "%s", hot_contract_cpu_name(context));
    }
    const size_t count = cuda ? hot_contract_cuda_variants(f64, m, n, k, choices, MOST)
                              : hot_contract_cpu_variants(context, f64, choices, MOST);
    hot_group_add(&plan.row, m, k, 0, n);
    hot_group_add(&plan.column, n, 0, 1, 1);
    hot_group_add(&plan.sum, k, 1, n, 0);
    hot_group_add(&plan.item, batch, m * k, k * n, m * n);
    status = hot_contract_plan_finish(context, &plan);
    if (status != HOT_OK)
        return status;
    plan.a = a = make_values(context, f64, hot_contract_extent(&plan, HOT_OPERAND_A));
    plan.b = b = make_values(context, f64, hot_contract_extent(&plan, HOT_OPERAND_B));
    plan.c = c = make_values(context, f64, hot_contract_extent(&plan, HOT_OPERAND_C));
    if (!a || !b || !c)
        status = HOT_ERROR_MEMORY;
    for (size_t i = 0; i < count && status == HOT_OK; i++) {
        double median = 0, sum = 0;
        hot_contract_choice *choice = &choices[i];
        memcpy(choice->machine, key.machine, sizeof key.machine);
        choice->precision = precision, choice->m = plan.row.total, choice->n = plan.column.total, choice->k = k;
        hot_contract_tuning *single = hot_contract_tuning_single(context, choice);
        if (!single) {
            status = HOT_ERROR_MEMORY;
            break;
        }
        plan.tuning = single;
        if (!cuda) { /* C changes with every run; all variants start from the same values */
            hot_context_free(context, c);
            plan.c = c = make_values(context, f64, hot_contract_extent(&plan, HOT_OPERAND_C));
        }
        status = !c ? HOT_ERROR_MEMORY
            : cuda  ? hot_contract_cuda_time(context, &plan, seconds / (double)count, &median, &sum)
                    : cpu_time(context, &plan, seconds / (double)count, &median, &sum);
        hot_contract_tuning_destroy(&single);
        if (status != HOT_OK)
            break;
        if (i == 0)
            first_sum = sum, first_time = median;
        if (fabs(sum - first_sum) <= (f64 ? 1e-9 : 1e-3) * first_sum && median < fastest)
            fastest = median, winner = *choice;
    }
    if (status == HOT_OK && count)
        status = keep(tuning, &winner);
    if (status == HOT_OK && count == 0)
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "there is one variant alone for this shape");
    for (size_t i = 0; status == HOT_OK && chosen && i < tuning->count; i++)
        if (same_key(&tuning->choices[i], &winner))
            *chosen = tuning->choices[i].variant;
    if (status == HOT_OK && best)
        *best = fastest;
    if (status == HOT_OK && usual)
        *usual = first_time;
    hot_context_free(context, a);
    hot_context_free(context, b);
    hot_context_free(context, c);
    return status;
}
