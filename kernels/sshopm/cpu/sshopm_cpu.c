/* SS-HOPM on the CPU: tensors times pieces of the starts are dealt out to threads; a piece is a loop over vectors of
 * starts (sshopm_lanes.h). Nothing depends on which thread does a piece. */
#include "sshopm_cpu.h"

#include <math.h>
#include <omp.h>

#include "common/context_internal.h"
#include "common/cpu.h"
#include "common/entry.h"
#include "symtensor/classes.h"

enum {
    PIECE = 512,        /* starts per piece: enough to pay for scaling the tensor again */
    CHUNK = 1 << 16     /* pieces between two calls of the progress callback */
};

static const hot_sshopm_variant *choose_variant(const hot_context *context)
{
    return HOT_CPU_VARIANT(context, &hot_sshopm_variant);
}

static const hot_sshopm_shape *choose_shape(const hot_sshopm_variant *variant, const hot_sshopm_args *args)
{
    const hot_sshopm_shape *shape = variant->shapes;
    while (shape->order && (shape->order != args->order || shape->dim != args->dim))
        shape++;
    return shape;
}

/* The starts, transposed for vector loads: blocks x dim x lanes, the last block filled up with the last start. */
static void *transpose_starts(hot_context *context, const hot_sshopm_args *args, size_t lanes, size_t blocks)
{
    size_t dim = (size_t)args->dim;
    void *transposed = hot_context_alloc(context, blocks * lanes * dim, args->f64 ? sizeof(double) : sizeof(float));
    if (!transposed)
        return NULL;
    for (size_t s = 0; s < blocks * lanes; s++) {
        size_t from = s < args->starts ? s : args->starts - 1;
        for (size_t d = 0; d < dim; d++) {
            size_t to = (s / lanes * dim + d) * lanes + s % lanes;
            if (args->f64)
                ((double *)transposed)[to] = ((const double *)args->start)[from * dim + d];
            else
                ((float *)transposed)[to] = ((const float *)args->start)[from * dim + d];
        }
    }
    return transposed;
}

/* Results for starts [first, last) of a tensor that is not iterated: zero, or with NaN or Inf. */
static void fill_special(const hot_sshopm_args *args, int special, size_t tensor, size_t first, size_t last)
{
    size_t dim = (size_t)args->dim;
    for (size_t s = first; s < last; s++) {
        size_t at = tensor * args->starts + s;
        double value = special == 1 ? 0 : NAN;
        if (args->lambda && args->f64)
            ((double *)args->lambda)[at] = value;
        else if (args->lambda)
            ((float *)args->lambda)[at] = (float)value;
        if (args->residual && args->f64)
            ((double *)args->residual)[at] = value;
        else if (args->residual)
            ((float *)args->residual)[at] = (float)value;
        if (args->iterations)
            args->iterations[at] = 0;
        for (size_t d = 0; args->x && d < dim; d++) {
            if (args->f64)
                ((double *)args->x)[at * dim + d] = special == 1 ? ((const double *)args->start)[s * dim + d] : NAN;
            else
                ((float *)args->x)[at * dim + d] = special == 1 ? ((const float *)args->start)[s * dim + d] : NAN;
        }
    }
}

typedef struct cpu_job {
    const hot_sshopm_args *args;
    hot_sshopm_tensor_fn *tensor_fn;
    const double *multiplicity;
    const void *starts;
    size_t lanes, blocks, piece_blocks, pieces; /* pieces per tensor */
    hot_sshopm_unfolding unfolding;             /* of shapes that are not unrolled */
    char *scratch;                              /* threads x (tensor, unfolded tensor, monomials), in bytes: */
    size_t values_size, matrix_size, scratch_stride;
} cpu_job;

/* The unfolding of shapes that are not unrolled, and the layout of the threads' scratch memory. */
static hot_status plan_scratch(hot_context *context, cpu_job *job, const hot_sshopm_variant *variant)
{
    const hot_sshopm_args *args = job->args;
    const hot_sshopm_shape *shape = choose_shape(variant, args);
    const size_t size = args->f64 ? sizeof(double) : sizeof(float), vector = job->lanes * size;
    hot_status status = HOT_OK;
    job->tensor_fn = args->f64 ? shape->f64 : shape->f32;
    if (shape->order == 0)
        status = hot_sshopm_unfolding_create(context, &(hot_poll){.context = context}, args, variant->tile_rows,
                                             &job->unfolding);
    job->values_size = (args->unique * size + 63) / 64 * 64;
    job->scratch_stride = job->values_size + 64; /* threads do not share cache lines */
    if (job->unfolding.place) {
        job->matrix_size = (hot_sshopm_unfolding_size(&job->unfolding) * size + 63) / 64 * 64;
        job->scratch_stride += job->matrix_size + 4 * job->unfolding.monomials * vector;
    }
    return status;
}

/* The scaled tensor of an item, unfolded (sshopm_unfold.h). */
static void unfold(const cpu_job *job, const void *values, void *matrix)
{
    const hot_sshopm_unfolding *unfolding = &job->unfolding;
    const uint32_t *place = unfolding->place;
    size_t to = 0;
    for (int t = 0; t < unfolding->tiles; t++)
        for (size_t c = 0; c < unfolding->columns; c++)
            for (int r = 0; r < unfolding->tile; r++, to++) {
                if (job->args->f64)
                    ((double *)matrix)[to] = ((const double *)values)[place[to]] * unfolding->weight[c];
                else
                    ((float *)matrix)[to] = (float)(((const float *)values)[place[to]] * unfolding->weight[c]);
            }
}

/* values * 2^-exponent * sign into scratch, and everything else that is scaled with it. */
static void scale_tensor(const cpu_job *job, size_t tensor, const hot_sshopm_scale *scale, void *scratch,
                         hot_sshopm_item *item)
{
    const hot_sshopm_args *args = job->args;
    int half = -scale->exponent / 2;
    double first = ldexp(args->sign, half), second = ldexp(1, -scale->exponent - half);
    if (args->f64) {
        const double *from = (const double *)args->tensors + tensor * args->stride;
        for (size_t i = 0; i < args->unique; i++)
            ((double *)scratch)[i] = from[i] * first * second;
    } else {
        const float *from = (const float *)args->tensors + tensor * args->stride;
        for (size_t i = 0; i < args->unique; i++)
            ((float *)scratch)[i] = (float)(from[i] * first * second);
    }
    item->values = scratch;
    if (job->unfolding.place) {
        char *matrix = (char *)scratch + job->values_size;
        unfold(job, scratch, matrix);
        item->unfolding = &job->unfolding;
        item->matrix = matrix;
        item->monomials = matrix + job->matrix_size;
    }
    item->scale = scale->scale;
    item->alpha = ldexp(args->alpha, -scale->exponent);
    item->unit = ldexp(1, -scale->exponent);
    half = scale->exponent / 2;
    item->unscale[0] = ldexp(1, half);
    item->unscale[1] = ldexp(1, scale->exponent - half);
    item->starts = job->starts;
    item->at = tensor * args->starts;
}

static void do_piece(const cpu_job *job, size_t piece, hot_poll *poll, void *scratch)
{
    const hot_sshopm_args *args = job->args;
    size_t tensor = piece / job->pieces, part = piece % job->pieces;
    size_t first = part * job->piece_blocks, last = first + job->piece_blocks;
    last = last < job->blocks ? last : job->blocks;
    hot_sshopm_scale scale = args->f64 ? hot_sshopm_scale_f64((const double *)args->tensors + tensor * args->stride,
                                                              args->unique, job->multiplicity)
                                       : hot_sshopm_scale_f32((const float *)args->tensors + tensor * args->stride,
                                                              args->unique, job->multiplicity);
    if (scale.special) {
        size_t end = last * job->lanes;
        fill_special(args, scale.special, tensor, first * job->lanes, end < args->starts ? end : args->starts);
        return;
    }
    hot_sshopm_item item = {.poll = poll};
    scale_tensor(job, tensor, &scale, scratch, &item);
    job->tensor_fn(args, &item, first, last);
}

hot_status hot_sshopm_cpu(hot_context *context, void *plan_pointer)
{
    const hot_sshopm_args *args = plan_pointer;
    const hot_sshopm_variant *variant = choose_variant(context);
    int threads = hot_context_threads(context);
    hot_status status = HOT_ERROR_MEMORY;
    cpu_job job = {.args = args};
    double *multiplicity = NULL;
    void *starts = NULL, *scratch = NULL;
    job.lanes = (size_t)(args->f64 ? variant->lanes_f64 : variant->lanes_f32);
    job.blocks = (args->starts + job.lanes - 1) / job.lanes;
    job.piece_blocks = PIECE / job.lanes;
    job.pieces = (job.blocks + job.piece_blocks - 1) / job.piece_blocks;
    status = plan_scratch(context, &job, variant);
    if (status != HOT_OK)
        goto cleanup;
    status = HOT_ERROR_MEMORY;
    multiplicity = hot_context_alloc(context, args->unique, sizeof *multiplicity);
    starts = transpose_starts(context, args, job.lanes, job.blocks);
    scratch = hot_context_alloc(context, (size_t)threads + 1, job.scratch_stride);
    if (!multiplicity || !starts || !scratch)
        goto cleanup;
    job.scratch = (char *)(((uintptr_t)scratch + 63) / 64 * 64);
    hot_class_multiplicities(&(hot_poll){.context = context}, args->order, args->dim, multiplicity);
    job.multiplicity = multiplicity;
    job.starts = starts;
    size_t pieces = args->count * job.pieces;
    /* Small chunks: cancellation is checked between them, and should take effect within a moment. */
    size_t chunk = CHUNK / (args->starts < 64 ? 1 : args->starts / 64 < CHUNK / 256 ? args->starts / 64 : CHUNK / 256);
    for (size_t begin = 0; begin < pieces; begin += chunk) {
        status = hot_context_progress(context, "finding eigenpairs", (double)begin / (double)pieces);
        if (status != HOT_OK)
            goto cleanup;
        size_t end = begin + chunk < pieces ? begin + chunk : pieces;
#pragma omp parallel for schedule(dynamic, 8) num_threads(hot_team(end - begin > 8 ? threads : 1))
        for (size_t piece = begin; piece < end; piece++)
            if (!hot_context_cancelled(context))
                do_piece(&job, piece, &(hot_poll){.context = context},
                         job.scratch + (size_t)omp_get_thread_num() * job.scratch_stride);
    }
    status = hot_context_progress(context, "finding eigenpairs", 1);
cleanup:
    hot_context_free(context, multiplicity);
    hot_context_free(context, starts);
    hot_context_free(context, scratch);
    hot_sshopm_unfolding_free(context, &job.unfolding);
    return status;
}
