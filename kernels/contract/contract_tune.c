/* hot_contract_tune: times the variants of the GPU or the CPU and stores the fastest in the table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/backend.h"
#include "common/compare.h"
#include "common/context_internal.h"
#include "common/entry.h"
#include "common/free.h"
#include "common/timing.h"
#include "contract/contract_tuning.h"
#include "contract/cpu/contract_variant.h"

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
    const double begin = seconds_now();
    while (status == HOT_OK && count < MOST && (count < 3 || seconds_now() - begin < seconds)) {
        const double before = seconds_now();
        status = hot_contract_cpu(context, &copy);
        times[count++] = seconds_now() - before;
    }
    qsort(times, (size_t)count, sizeof *times, hot_ascending_f64);
    *median = count ? times[count / 2] : 0;
    return status;
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

/* Products of one shape, on the GPU or the CPU. */
typedef struct tuner {
    hot_context *context;
    hot_contract_plan plan;
    int cuda;
    char machine[HOT_CHOICE_NAME];
    void *a, *b, *c;
} tuner;

static hot_status check_shape(hot_context *context, int precision, size_t m, size_t n, size_t k, size_t batch)
{
    if (precision != 32 && precision != 64)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a precision of %d bits: 32 and 64 are known", precision);
    if (m == 0 || n == 0 || k == 0 || batch == 0 || m > 4096 || n > 4096 || k > 4096 ||
        batch > SIZE_MAX / 1024 / (m * k + k * n + m * n))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "%zu products %zu x %zu x %zu cannot be tuned: sizes go from 1 to "
                                "4096, and must fit into memory",
                                batch, m, n, k);
    return HOT_OK;
}

static hot_status choose_machine(tuner *self)
{
    const hot_device device = hot_context_device(self->context);
    self->cuda = device == HOT_DEVICE_CUDA || (device == HOT_DEVICE_AUTO && hot_cuda_count() > 0);
    if (!self->cuda) {
        snprintf(self->machine, sizeof self->machine, "%s", hot_contract_cpu_name(self->context));
        return HOT_OK;
    }
    const hot_status status = hot_cuda_select(self->context, hot_context_device_number(self->context));
    if (status == HOT_OK)
        hot_contract_cuda_name(self->context, self->machine);
    return status;
}

static hot_status make_plan(tuner *self, size_t m, size_t n, size_t k, size_t batch)
{
    hot_contract_plan *plan = &self->plan;
    hot_group_add(&plan->row, m, k, 0, n);
    hot_group_add(&plan->column, n, 0, 1, 1);
    hot_group_add(&plan->sum, k, 1, n, 0);
    hot_group_add(&plan->item, batch, m * k, k * n, m * n);
    HOT_TRY(hot_contract_plan_finish(self->context, plan));
    plan->a = self->a = make_values(self->context, plan->f64, hot_contract_extent(plan, HOT_OPERAND_A));
    plan->b = self->b = make_values(self->context, plan->f64, hot_contract_extent(plan, HOT_OPERAND_B));
    plan->c = self->c = make_values(self->context, plan->f64, hot_contract_extent(plan, HOT_OPERAND_C));
    return self->a && self->b && self->c ? HOT_OK : HOT_ERROR_MEMORY;
}

/* Seconds of one variant; sum: of the absolute values of C. */
static hot_status time_choice(tuner *self, const hot_contract_choice *choice, double seconds, double *median,
                              double *sum)
{
    hot_contract_plan *plan = &self->plan;
    hot_contract_tuning *single = hot_contract_tuning_single(self->context, choice);
    hot_status status = HOT_ERROR_MEMORY;
    if (!single)
        return HOT_ERROR_MEMORY;
    plan->tuning = single;
    if (!self->cuda) { /* C changes with every run; all variants start from the same values */
        hot_context_free(self->context, self->c);
        plan->c = self->c = make_values(self->context, plan->f64, hot_contract_extent(plan, HOT_OPERAND_C));
    }
    if (self->c)
        status = self->cuda ? hot_contract_cuda_time(self->context, plan, seconds, median, sum)
                            : cpu_time(self->context, plan, seconds, median, sum);
    hot_contract_tuning_destroy(&single);
    return status;
}

hot_status hot_contract_tune(hot_context *context, hot_contract_tuning *tuning, int precision, size_t m, size_t n,
                             size_t k, size_t batch, double seconds, const char **chosen, double *best, double *usual)
{
    HOT_ENTRY(context);
    HOT_NEED(context, tuning);
    enum { MAX_CHOICES = 64 };
    hot_contract_choice choices[MAX_CHOICES], *winner = choices;
    double fastest = INFINITY, first_sum = 0, first_time = 0;
    tuner self = {.context = context, .plan = {.f64 = precision == 64, .alpha = 1, .beta = .5}};
    HOT_TRY(check_shape(context, precision, m, n, k, batch));
    HOT_TRY(choose_machine(&self));
    const size_t count = self.cuda ? hot_contract_cuda_variants(self.plan.f64, m, n, k, choices, MAX_CHOICES)
                                   : hot_contract_cpu_variants(context, self.plan.f64, choices, MAX_CHOICES);
    hot_status status = make_plan(&self, m, n, k, batch);
    if (status == HOT_OK && count == 0)
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "this shape has only one variant");
    for (size_t i = 0; i < count && status == HOT_OK; i++) {
        double median = 0, sum = 0;
        hot_contract_choice *choice = &choices[i];
        memcpy(choice->machine, self.machine, sizeof self.machine);
        choice->precision = precision, choice->k = k;
        choice->m = self.plan.row.total, choice->n = self.plan.column.total;
        status = time_choice(&self, choice, seconds / (double)count, &median, &sum);
        if (i == 0)
            first_sum = sum, first_time = median;
        if (status == HOT_OK && fabs(sum - first_sum) <= (self.plan.f64 ? 1e-9 : 1e-3) * first_sum && median < fastest)
            fastest = median, winner = choice;
    }
    const hot_contract_choice *kept = status == HOT_OK ? hot_contract_tuning_keep(tuning, winner) : NULL;
    if (status == HOT_OK && !kept)
        status = HOT_ERROR_MEMORY;
    if (kept && chosen)
        *chosen = kept->variant;
    if (kept && best)
        *best = fastest;
    if (kept && usual)
        *usual = first_time;
    HOT_FREE(context, self.a, self.b, self.c);
    return status;
}
