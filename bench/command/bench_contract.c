/* hotfiber bench contract: batched products of small matrices and the mass operators of finite elements. */
#include "bench/kernels/contract_measure.h"
#include <stdio.h>

#include <hotfiber/fem.h>

#include "bench.h"

typedef struct product_job {
    size_t n, batch;
    double *a, *b, *c;
} product_job;

static hot_status product(hot_context *context, void *user)
{
    const product_job *job = user;
    const size_t stride[3] = {job->n, 1, job->n * job->n};
    return hot_contract_matrices_f64(context, NULL, job->n, job->n, job->n, job->batch, 1, job->a, stride, job->b,
                                     stride, .5, job->c, stride);
}

typedef struct fem_bench {
    int dim, assemble;
    size_t dofs, elements;
    double basis[HOT_FEM_POINTS * HOT_FEM_POINTS], *d, *v, *out;
} fem_bench;

static hot_status fem(hot_context *context, void *user)
{
    const fem_bench *job = user;
    return job->assemble ? hot_fem_mass_assemble_f64(context, job->dim, job->dofs, job->dofs, job->basis, job->elements,
                                                     job->d, job->out)
                         : hot_fem_mass_action_f64(context, job->dim, job->dofs, job->dofs, job->basis, job->elements,
                                                   job->d, job->v, job->out);
}

static const size_t sizes[] = {2, 4, 6, 8, 10, 12, 16, 20, 24, 32};

static hot_status cpu_rows(hot_context *context, const bench_options *options, bench_report *report)
{
    const int threads = hot_context_threads(context);
    hot_status status = HOT_OK;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && status == HOT_OK; s++) {
        const size_t n = sizes[s], batch = options->count ? options->count : 100000, count = batch * n * n;
        bench_memory memory = {0};
        product_job job = {n, batch, bench_alloc_f64(context, &memory, count), bench_alloc_f64(context, &memory, count),
                           bench_alloc_f64(context, &memory, count)};
        bench_row *row;
        char name[64];
        snprintf(name, sizeof name, "%zu x %zu x %zu, FP64", batch, n, n);
        status = memory.failed ? HOT_ERROR_MEMORY
                               : bench_measure_row(context, options, report, name, "cpu", (double)batch, "products",
                                                   product, &job, &row);
        if (status == HOT_OK) {
            row->flops = 2. * (double)(count * n);
            row->floor = 32. * (double)count / bench_copy_bandwidth(threads);
        }
        bench_free(context, &memory);
    }
    for (int kind = 0; kind < 4 && status == HOT_OK; kind++)
        for (size_t p = 2; p <= 8 && status == HOT_OK; p += 2) {
            fem_bench job = {.dim = 2 + kind % 2, .assemble = kind / 2, .dofs = p + 1};
            const size_t square = job.dofs * job.dofs, nd = job.dim == 2 ? square : square * job.dofs,
                         out = job.assemble ? nd * nd : nd;
            bench_memory memory = {0};
            bench_row *row;
            char name[64];
            job.elements = (job.assemble ? 64000000 : 16000000) / 8 / out + 1;
            job.d = bench_alloc_f64(context, &memory, job.elements * nd);
            job.v = bench_alloc_f64(context, &memory, job.elements * nd);
            job.out = bench_alloc_f64(context, &memory, job.elements * out);
            snprintf(name, sizeof name, "%s %d-D, p = %zu, FP64", job.assemble ? "assembly" : "action", job.dim, p);
            status = memory.failed ? HOT_ERROR_MEMORY : hot_fem_basis(context, job.dofs, job.dofs, job.basis, NULL);
            if (status == HOT_OK)
                status = bench_measure_row(context, options, report, name, "cpu", (double)job.elements, "elements",
                                           fem, &job, &row);
            if (status == HOT_OK)
                row->floor = 8. * (double)(job.elements * (nd * (job.assemble ? 1 : 2) + out)) /
                    bench_copy_bandwidth(threads);
            bench_free(context, &memory);
        }
    return status;
}

static bench_row *add_figure(bench_report *report, const char *name, const char *backend,
                             const hot_contract_figure *figure, double items, const char *item)
{
    bench_row *row = bench_add_measured(report, name, backend, figure->seconds, figure->fastest, 0, items, item);
    row->floor = figure->floor;
    bench_note(row, "GB/s", 1e-9 * figure->bytes / figure->seconds);
    return row;
}

static hot_status cuda_rows(hot_context *context, const bench_options *options, bench_report *report)
{
    const double seconds = options->seconds > 0 ? options->seconds : .3;
    const size_t batch = options->count ? options->count : 100000;
    const int peer = options->peer != NULL; /* cublas: bench_gpu_or_cpu has checked */
    hot_contract_figure figure;
    hot_status status = HOT_OK;
    for (int f64 = 1; f64 >= 0; f64--)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes && status == HOT_OK; s++)
            for (int who = 0; who < 1 + peer && status == HOT_OK; who++) {
                const size_t n = sizes[s];
                char name[64];
                status = who ? hot_contract_bench_cublas(context, f64, n, batch, seconds, &figure)
                             : hot_contract_bench(context, f64, n, batch, 0, seconds, &figure);
                if (status != HOT_OK)
                    return status;
                snprintf(name, sizeof name, "%zu x %zu x %zu, FP%d", batch, n, n, f64 ? 64 : 32);
                bench_row *row = add_figure(report, name, who ? "cublas" : "cuda", &figure, (double)batch, "products");
                row->flops = 2. * (double)(batch * n * n * n);
            }
    for (int kind = 0; kind < 4 && status == HOT_OK; kind++)
        for (size_t p = 2; p <= 8 && status == HOT_OK; p++) {
            size_t elements = 0;
            char name[64];
            status = hot_fem_bench(context, 1, 2 + kind % 2, p + 1, p + 1, kind / 2, 600, seconds, &elements, &figure);
            if (status != HOT_OK)
                return status;
            snprintf(name, sizeof name, "%s %d-D, p = %zu, FP64", kind / 2 ? "assembly" : "action", 2 + kind % 2, p);
            add_figure(report, name, "cuda", &figure, (double)elements, "elements");
        }
    return status;
}

static hot_status run(hot_context *context, const bench_options *options, bench_report *report)
{
    return bench_gpu_or_cpu(context, options, report, cuda_rows, cpu_rows);
}

const bench_entry bench_contract = {
    "contract", "small matrix products and finite-element mass operators, data not in cache; --peer cublas", run};
