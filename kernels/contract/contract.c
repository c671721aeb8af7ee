/* Contractions: arguments, the spec, and the choice of a backend. */
#include <string.h>

#include "common/arguments.h"
#include "common/backend.h"
#include "common/device_memory.h"
#include "common/entry.h"
#include "common/options.h"
#include "contract_plan.h"

static const hot_backends backends = {"contract", hot_contract_ref, hot_contract_cpu,
                                      HOT_CUDA_BACKEND(hot_contract_cuda), 1};

hot_status hot_contract_run(hot_context *context, const hot_contract_options *given, hot_contract_plan *plan)
{
    hot_contract_options options = {.size = sizeof options};
    HOT_TRY(hot_options_read(context, "hot_contract_options", given, &options));
    plan->tuning = options.tuning;
    const int has_a = plan->a != NULL; /* a plan may exchange the two */
    const size_t listed = plan->item.total;
    hot_status status = hot_contract_plan_finish(context, plan);
    if (plan->list[HOT_OPERAND_C])
        plan->item.total = listed; /* without an axis */
    if (status != HOT_OK || plan->item.total == 0 || plan->row.total == 0 || plan->column.total == 0)
        return status;
    if (plan->list[HOT_OPERAND_C]) /* host arrays that lie anywhere are not worth a copy to a GPU */
        return hot_context_memory(context, NULL) == HOT_MEMORY_HOST && hot_context_device(context) == HOT_DEVICE_AUTO
            ? hot_contract_cpu(context, plan)
            : hot_backend_run(context, &backends, plan);
    if ((!plan->a || !plan->b) && plan->sum.total && plan->alpha != 0)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, has_a ? "b" : "a", "operand %c is NULL",
                                          has_a ? 'B' : 'A');
    if (!plan->c)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "c", "operand C is NULL");
    /* Addresses are computed from operands that are not read, too. */
    plan->a = plan->a ? plan->a : plan->c;
    plan->b = plan->b ? plan->b : plan->c;
    return hot_backend_run(context, &backends, plan);
}

/* ---- Batched matrices -------------------------------------------------------------------------------------------- */

static hot_status run_matrices(hot_context *context, const hot_contract_options *options, size_t m, size_t n, size_t k,
                               size_t batch, const size_t *a, const size_t *b, const size_t *c, hot_contract_plan *plan)
{
    hot_group_add(&plan->row, m, a[0], 0, c[0]);
    hot_group_add(&plan->column, n, 0, b[1], c[1]);
    hot_group_add(&plan->sum, k, a[1], b[0], 0);
    hot_group_add(&plan->item, batch, a[2], b[2], c[2]);
    return hot_contract_run(context, options, plan);
}

hot_status hot_contract_matrices_f64(hot_context *context, const hot_contract_options *options, size_t m, size_t n,
                                     size_t k, size_t batch, double alpha, const double *a, const size_t a_stride[3],
                                     const double *b, const size_t b_stride[3], double beta, double *c,
                                     const size_t c_stride[3])
{
    HOT_ENTRY(context);
    HOT_NEED(context, a_stride, b_stride, c_stride);
    hot_contract_plan plan = {.f64 = 1, .alpha = alpha, .beta = beta, .a = a, .b = b, .c = c};
    return run_matrices(context, options, m, n, k, batch, a_stride, b_stride, c_stride, &plan);
}

hot_status hot_contract_matrices_f32(hot_context *context, const hot_contract_options *options, size_t m, size_t n,
                                     size_t k, size_t batch, float alpha, const float *a, const size_t a_stride[3],
                                     const float *b, const size_t b_stride[3], float beta, float *c,
                                     const size_t c_stride[3])
{
    HOT_ENTRY(context);
    HOT_NEED(context, a_stride, b_stride, c_stride);
    hot_contract_plan plan = {.f64 = 0, .alpha = alpha, .beta = beta, .a = a, .b = b, .c = c};
    return run_matrices(context, options, m, n, k, batch, a_stride, b_stride, c_stride, &plan);
}

/* ---- Contractions by a spec -------------------------------------------------------------------------------------- */

hot_contract_layout hot_contract_dense(int axes, const size_t *sizes)
{
    HOT_ENTRY(NULL);
    hot_contract_layout layout = {.axes = axes, .batch = 1};
    for (int a = 0; sizes && a < axes && a < HOT_CONTRACT_AXES; a++) {
        layout.size[a] = sizes[a];
        layout.stride[a] = layout.batch;
        layout.batch *= sizes[a];
    }
    return layout;
}

/* A spec taken apart: the letters of each operand. */
typedef struct spec_letters {
    char letters[3][HOT_CONTRACT_AXES + 1];
} spec_letters;

static hot_status read_spec(hot_context *context, const char *spec, spec_letters *out)
{
    int operand = HOT_OPERAND_A, used = 0;
    memset(out, 0, sizeof *out);
    for (const char *at = spec; *at; at++) {
        if (*at == ' ')
            continue;
        if (*at == ',' && operand == HOT_OPERAND_A) {
            operand = HOT_OPERAND_B, used = 0;
        } else if (at[0] == '-' && at[1] == '>' && operand == HOT_OPERAND_B) {
            operand = HOT_OPERAND_C, used = 0, at++;
        } else if ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z')) {
            if (used == HOT_CONTRACT_AXES)
                return hot_context_fail(context, HOT_ERROR_ARGUMENT, "spec '%s': an operand has more than %d axes",
                                        spec, HOT_CONTRACT_AXES);
            if (strchr(out->letters[operand], *at))
                return hot_context_fail(context, HOT_ERROR_ARGUMENT, "spec '%s': '%c' stands twice in one operand",
                                        spec, *at);
            out->letters[operand][used++] = *at;
        } else {
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "spec '%s': '%s' is not understood; a spec is like "
                                    "\"ik,kj->ij\", a letter per axis", spec, at);
        }
    }
    if (operand != HOT_OPERAND_C)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "spec '%s': two inputs and a result are needed, like "
                                "\"ik,kj->ij\"", spec);
    return HOT_OK;
}

/* Which axis of an operand has this letter; -1 for none. */
static int axis_of(const spec_letters *spec, int operand, char letter)
{
    const char *at = strchr(spec->letters[operand], letter);
    return at ? (int)(at - spec->letters[operand]) : -1;
}

static hot_status check_axes(hot_context *context, const char *spec, const spec_letters *letters, int operand,
                             const hot_contract_layout *layout)
{
    const int wanted = (int)strlen(letters->letters[operand]);
    if (!layout || layout->axes != wanted)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "spec '%s': operand %c has %d axes there, and %d in its layout", spec, 'A' + operand,
                                wanted, layout ? layout->axes : 0);
    return HOT_OK;
}

static hot_status size_clash(hot_context *context, const char *spec, char letter, size_t one, int first, size_t other,
                             int second)
{
    return hot_context_fail(context, HOT_ERROR_ARGUMENT, "spec '%s': '%c' has size %zu in %c and %zu in %c", spec,
                            letter, one, 'A' + first, other, 'A' + second);
}

/* One letter of operand `from` into the group where it belongs; letters of earlier operands were placed before. */
static hot_status place_letter(hot_context *context, const char *spec, const spec_letters *letters, char letter,
                               const hot_contract_layout *const layouts[3], hot_contract_plan *plan)
{
    size_t stride[3] = {0, 0, 0}, size = 0;
    int present[3], first = -1, count = 0;
    for (int o = 0; o < 3; o++) {
        const int axis = axis_of(letters, o, letter);
        present[o] = axis >= 0;
        if (axis < 0)
            continue;
        if (first >= 0 && layouts[o]->size[axis] != size)
            return size_clash(context, spec, letter, size, first, layouts[o]->size[axis], o);
        first = first < 0 ? o : first;
        size = layouts[o]->size[axis];
        stride[o] = layouts[o]->stride[axis];
        count++;
    }
    if (count < 2)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "spec '%s': '%c' is in only one operand", spec,
                                letter);
    hot_contract_group *group = count == 3 ? &plan->item : !present[HOT_OPERAND_B] ? &plan->row
                                : !present[HOT_OPERAND_A] ? &plan->column : &plan->sum;
    if (group->axes == HOT_GROUP_AXES)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "spec '%s': too many axes", spec);
    hot_group_add(group, size, stride[0], stride[1], stride[2]);
    return HOT_OK;
}

hot_status hot_contract_plan_spec(hot_context *context, const char *spec, size_t batch, const hot_contract_layout *a,
                                  const hot_contract_layout *b, const hot_contract_layout *c, hot_contract_plan *plan)
{
    const hot_contract_layout *const layouts[3] = {a, b, c};
    spec_letters letters;
    hot_status status = read_spec(context, spec, &letters);
    for (int o = 0; o < 3 && status == HOT_OK; o++)
        status = check_axes(context, spec, &letters, o, layouts[o]);
    if (status != HOT_OK)
        return status;
    for (int o = 0; o < 3 && status == HOT_OK; o++)
        for (const char *letter = letters.letters[o]; *letter && status == HOT_OK; letter++) {
            int earlier = 0;
            for (int e = 0; e < o; e++)
                earlier |= axis_of(&letters, e, *letter) >= 0;
            if (!earlier)
                status = place_letter(context, spec, &letters, *letter, layouts, plan);
        }
    if (status != HOT_OK)
        return status;
    hot_group_add(&plan->item, batch, a->batch, b->batch, c->batch);
    return HOT_OK;
}

static hot_status run_spec(hot_context *context, const hot_contract_options *options, const char *spec, size_t batch,
                           const hot_contract_layout *a, const hot_contract_layout *b, const hot_contract_layout *c,
                           hot_contract_plan *plan)
{
    const hot_status status = hot_contract_plan_spec(context, spec, batch, a, b, c, plan);
    return status == HOT_OK ? hot_contract_run(context, options, plan) : status;
}

hot_status hot_contract_f64(hot_context *context, const hot_contract_options *options, const char *spec, size_t batch,
                            double alpha, const double *a, const hot_contract_layout *a_layout, const double *b,
                            const hot_contract_layout *b_layout, double beta, double *c,
                            const hot_contract_layout *c_layout)
{
    HOT_ENTRY(context);
    HOT_NEED(context, spec, a_layout, b_layout, c_layout);
    hot_contract_plan plan = {.f64 = 1, .alpha = alpha, .beta = beta, .a = a, .b = b, .c = c};
    return run_spec(context, options, spec, batch, a_layout, b_layout, c_layout, &plan);
}

hot_status hot_contract_f32(hot_context *context, const hot_contract_options *options, const char *spec, size_t batch,
                            float alpha, const float *a, const hot_contract_layout *a_layout, const float *b,
                            const hot_contract_layout *b_layout, float beta, float *c,
                            const hot_contract_layout *c_layout)
{
    HOT_ENTRY(context);
    HOT_NEED(context, spec, a_layout, b_layout, c_layout);
    hot_contract_plan plan = {.f64 = 0, .alpha = alpha, .beta = beta, .a = a, .b = b, .c = c};
    return run_spec(context, options, spec, batch, a_layout, b_layout, c_layout, &plan);
}

hot_status hot_contract_shape(hot_context *context, const char *spec, const hot_contract_layout *a,
                              const hot_contract_layout *b, hot_contract_layout *c)
{
    HOT_ENTRY(context);
    HOT_NEED(context, spec, a, b, c);
    const hot_contract_layout *const layouts[2] = {a, b};
    spec_letters letters;
    size_t sizes[HOT_CONTRACT_AXES] = {0};
    hot_status status = read_spec(context, spec, &letters);
    for (int o = 0; o < 2 && status == HOT_OK; o++)
        status = check_axes(context, spec, &letters, o, layouts[o]);
    if (status != HOT_OK)
        return status;
    const int axes = (int)strlen(letters.letters[HOT_OPERAND_C]);
    for (int x = 0; x < axes; x++) {
        const char letter = letters.letters[HOT_OPERAND_C][x];
        const int in_a = axis_of(&letters, HOT_OPERAND_A, letter), in_b = axis_of(&letters, HOT_OPERAND_B, letter);
        if (in_a < 0 && in_b < 0)
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "spec '%s': '%c' of the result is in no input",
                                    spec, letter);
        sizes[x] = in_a >= 0 ? a->size[in_a] : b->size[in_b];
        if (in_a >= 0 && in_b >= 0 && b->size[in_b] != sizes[x])
            return size_clash(context, spec, letter, sizes[x], HOT_OPERAND_A, b->size[in_b], HOT_OPERAND_B);
    }
    for (const char *letter = letters.letters[HOT_OPERAND_A]; *letter; letter++) {
        const int in_b = axis_of(&letters, HOT_OPERAND_B, *letter);
        if (in_b < 0 && axis_of(&letters, HOT_OPERAND_C, *letter) < 0)
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "spec '%s': '%c' is in only one operand", spec,
                                    *letter);
        if (in_b >= 0 && b->size[in_b] != a->size[letter - letters.letters[HOT_OPERAND_A]])
            return size_clash(context, spec, *letter, a->size[letter - letters.letters[HOT_OPERAND_A]], HOT_OPERAND_A,
                              b->size[in_b], HOT_OPERAND_B);
    }
    for (const char *letter = letters.letters[HOT_OPERAND_B]; *letter; letter++)
        if (axis_of(&letters, HOT_OPERAND_A, *letter) < 0 && axis_of(&letters, HOT_OPERAND_C, *letter) < 0)
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "spec '%s': '%c' is in only one operand", spec,
                                    *letter);
    *c = hot_contract_dense(axes, sizes);
    return HOT_OK;
}
