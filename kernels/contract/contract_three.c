/* Contractions of three operands: the pair that needs the fewest multiply-adds first. */
#include <stdio.h>
#include <string.h>

#include "common/arguments.h"
#include "common/device_memory.h"
#include "common/entry.h"
#include "contract_plan.h"

enum { OPERANDS = 3, RESULT = 3, LONGEST = 2 * HOT_CONTRACT_AXES };

/* The spec taken apart. */
typedef struct three_spec {
    const char *text;
    char letters[OPERANDS + 1][HOT_CONTRACT_AXES + 1];
} three_spec;

/* One operand, or the product of a pair. */
typedef struct three_operand {
    const char *letters;
    const hot_contract_layout *layout;
    const void *values;
} three_operand;

static hot_status wrong(hot_context *context, const three_spec *spec, const char *why)
{
    return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "spec", "'%s': %s, as in \"ij,jk,kl->il\"",
                                      spec->text, why);
}

static hot_status read_spec(hot_context *context, three_spec *spec)
{
    int operand = 0, used = 0;
    for (const char *at = spec->text; *at; at++) {
        if (*at == ' ')
            continue;
        if (*at == ',' && operand < OPERANDS - 1) {
            operand++, used = 0;
        } else if (at[0] == '-' && at[1] == '>' && operand == OPERANDS - 1) {
            operand = RESULT, used = 0, at++;
        } else if (((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z')) && used < HOT_CONTRACT_AXES &&
                   !strchr(spec->letters[operand], *at)) {
            spec->letters[operand][used++] = *at;
        } else {
            return wrong(context, spec, "three inputs and a result with at most 8 different letters each are needed");
        }
    }
    return operand == RESULT ? HOT_OK : wrong(context, spec, "three inputs and a result are needed");
}

static size_t size_of(const three_operand operand[OPERANDS], char letter)
{
    for (int o = 0; o < OPERANDS; o++) {
        const char *const at = strchr(operand[o].letters, letter);
        if (at)
            return operand[o].layout->size[at - operand[o].letters];
    }
    return 1;
}

static hot_status check_sizes(hot_context *context, const three_spec *spec, const three_operand operand[OPERANDS],
                              const hot_contract_layout *result)
{
    for (int o = 0; o <= OPERANDS; o++) {
        const hot_contract_layout *const layout = o == RESULT ? result : operand[o].layout;
        const int wanted = (int)strlen(spec->letters[o]);
        if (layout->axes != wanted)
            return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                    "spec '%s': operand %c has %d axes there, and %d in its layout", spec->text,
                                    'A' + o, wanted, layout->axes);
        for (int x = 0; x < wanted; x++) {
            const char letter = spec->letters[o][x];
            int holders = 0;
            for (int other = 0; other <= OPERANDS; other++)
                holders += strchr(spec->letters[other], letter) != NULL;
            if (holders < 2)
                return hot_context_fail(context, HOT_ERROR_ARGUMENT, "spec '%s': '%c' is in only one operand",
                                        spec->text, letter);
            if (layout->size[x] != size_of(operand, letter))
                return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                        "spec '%s': '%c' has size %zu in %c and %zu before", spec->text, letter,
                                        layout->size[x], 'A' + o, size_of(operand, letter));
        }
    }
    return HOT_OK;
}

/* Letters of a pair, in their order; only those that the third operand or the result needs, if kept. Returns their
 * number. */
static int pair_letters(const char *one, const char *other, const char *third, const char *result, int kept,
                        char out[LONGEST + 1])
{
    int used = 0;
    out[0] = 0;
    for (int o = 0; o < 2; o++)
        for (const char *letter = o ? other : one; *letter; letter++)
            if (!strchr(out, *letter) && (!kept || strchr(third, *letter) || strchr(result, *letter)))
                out[used++] = *letter, out[used] = 0;
    return used;
}

static double cost_of(const three_operand operand[OPERANDS], const char *letters)
{
    double cost = 1;
    for (; *letters; letters++)
        cost *= (double)size_of(operand, *letters);
    return cost;
}

/* Multiply-adds of an item if operand `last` is contracted last; -1: the pair's product has too many axes. */
static double cost_with_last(const three_spec *spec, const three_operand operand[OPERANDS], int last)
{
    const char *const one = spec->letters[last == 0], *const other = spec->letters[last == 2 ? 1 : 2];
    char all[LONGEST + 1], kept[LONGEST + 1], rest[LONGEST + HOT_CONTRACT_AXES + 1];
    pair_letters(one, other, "", "", 0, all);
    if (pair_letters(one, other, spec->letters[last], spec->letters[RESULT], 1, kept) > HOT_CONTRACT_AXES)
        return -1;
    pair_letters(kept, spec->letters[last], "", "", 0, rest);
    return cost_of(operand, all) + cost_of(operand, rest);
}

static hot_status alloc(hot_context *context, size_t values, size_t size, int there, void **memory)
{
#if defined(HOT_HAVE_CUDA) && HOT_HAVE_CUDA
    if (there)
        return values > SIZE_MAX / size ? HOT_ERROR_MEMORY
                                        : hot_device_alloc(context, values * size, memory, "a product of two operands");
#else
    (void)there;
#endif
    *memory = hot_context_alloc(context, values ? values : 1, size);
    return *memory ? HOT_OK : HOT_ERROR_MEMORY;
}

static void release(hot_context *context, void *memory, int there)
{
#if defined(HOT_HAVE_CUDA) && HOT_HAVE_CUDA
    if (there) {
        hot_device_release(context, memory);
        return;
    }
#else
    (void)there;
#endif
    hot_context_free(context, memory);
}

/* Whether what is read and written is there; the pairs' own checks would name their operands. */
static hot_status check_values(hot_context *context, const three_spec *spec, const three_operand *operand, size_t batch,
                               double alpha, const void *result)
{
    static const char *const names[OPERANDS] = {"a", "b", "c"};
    size_t values = batch, read = batch;
    for (const char *letter = spec->letters[RESULT]; *letter; letter++)
        values = size_of(operand, *letter) ? values : 0;
    for (int o = 0; o < OPERANDS; o++)
        for (const char *letter = operand[o].letters; *letter; letter++)
            read = size_of(operand, *letter) ? read : 0;
    for (int o = 0; o < OPERANDS && values && read && alpha != 0; o++)
        if (!operand[o].values)
            return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, names[o], "operand %c is NULL", 'A' + o);
    return result || !values ? HOT_OK
                             : hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "d", "operand D is NULL");
}

static hot_status pair(hot_context *context, const hot_contract_options *options, int f64, const char *result,
                       size_t batch, double alpha, const three_operand *a, const three_operand *b, double beta, void *c,
                       const hot_contract_layout *layout, const void *working)
{
    char spec[4 * HOT_CONTRACT_AXES];
    hot_contract_plan plan = {.f64 = f64, .alpha = alpha, .beta = beta, .a = a->values, .b = b->values, .c = c,
                              .working = working};
    snprintf(spec, sizeof spec, "%s,%s->%s", a->letters, b->letters, result);
    const hot_status status = hot_contract_plan_spec(context, spec, batch, a->layout, b->layout, layout, &plan);
    return status == HOT_OK ? hot_contract_run(context, options, &plan) : status;
}

static hot_status run(hot_context *context, const hot_contract_options *options, int f64, three_spec *spec,
                      size_t batch, double alpha, three_operand operand[OPERANDS], double beta, void *result,
                      const hot_contract_layout *layout)
{
    const int there = hot_context_memory(context, NULL) == HOT_MEMORY_DEVICE;
    hot_status status = read_spec(context, spec);
    for (int o = 0; o < OPERANDS; o++)
        operand[o].letters = spec->letters[o];
    if (status == HOT_OK)
        status = check_sizes(context, spec, operand, layout);
    if (status != HOT_OK)
        return status;
    int last = -1;
    double least = 0;
    for (int o = 0; o < OPERANDS; o++) {
        const double cost = cost_with_last(spec, operand, o);
        if (cost >= 0 && (last < 0 || cost < least))
            last = o, least = cost;
    }
    if (last < 0)
        return wrong(context, spec, "the product of each pair has more than 8 axes");
    if ((status = check_values(context, spec, operand, batch, alpha, result)) != HOT_OK)
        return status;
    const three_operand *const one = &operand[last == 0], *const other = &operand[last == 2 ? 1 : 2];
    char kept[LONGEST + 1];
    size_t sizes[HOT_CONTRACT_AXES] = {0};
    const int axes = pair_letters(one->letters, other->letters, operand[last].letters, spec->letters[RESULT], 1, kept);
    for (int x = 0; x < axes; x++)
        sizes[x] = size_of(operand, kept[x]);
    hot_contract_layout between = hot_contract_dense(axes, sizes);
    const size_t items = one->layout->batch || other->layout->batch ? batch : batch > 0, each = between.batch;
    void *memory = NULL;
    if (items && each > SIZE_MAX / 16 / items)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "spec '%s': the product of two operands is more than memory "
                                "can hold", spec->text);
    if (alpha != 0)
        status = alloc(context, items * each, f64 ? sizeof(double) : sizeof(float), there, &memory);
    if (status == HOT_OK && alpha != 0)
        status = pair(context, options, f64, kept, items, 1, one, other, 0, memory, &between, there ? memory : NULL);
    if (items <= 1)
        between.batch = 0; /* of all items */
    const three_operand product = {kept, &between, memory};
    if (status == HOT_OK)
        status = pair(context, options, f64, spec->letters[RESULT], batch, alpha, &product, &operand[last], beta,
                      result, layout, there ? memory : NULL);
    release(context, memory, there);
    return status;
}

hot_status hot_contract_three_f64(hot_context *context, const hot_contract_options *options, const char *spec,
                                  size_t batch, double alpha, const double *a, const hot_contract_layout *a_layout,
                                  const double *b, const hot_contract_layout *b_layout, const double *c,
                                  const hot_contract_layout *c_layout, double beta, double *d,
                                  const hot_contract_layout *d_layout)
{
    HOT_ENTRY(context);
    HOT_NEED(context, spec, a_layout, b_layout, c_layout, d_layout);
    three_spec letters = {.text = spec};
    three_operand operand[OPERANDS] = {{NULL, a_layout, a}, {NULL, b_layout, b}, {NULL, c_layout, c}};
    return run(context, options, 1, &letters, batch, alpha, operand, beta, d, d_layout);
}

hot_status hot_contract_three_f32(hot_context *context, const hot_contract_options *options, const char *spec,
                                  size_t batch, float alpha, const float *a, const hot_contract_layout *a_layout,
                                  const float *b, const hot_contract_layout *b_layout, const float *c,
                                  const hot_contract_layout *c_layout, float beta, float *d,
                                  const hot_contract_layout *d_layout)
{
    HOT_ENTRY(context);
    HOT_NEED(context, spec, a_layout, b_layout, c_layout, d_layout);
    three_spec letters = {.text = spec};
    three_operand operand[OPERANDS] = {{NULL, a_layout, a}, {NULL, b_layout, b}, {NULL, c_layout, c}};
    return run(context, options, 0, &letters, batch, alpha, operand, beta, d, d_layout);
}
