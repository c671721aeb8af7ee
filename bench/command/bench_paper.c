/* hotfiber bench paper: the sizes of the five papers' tables and figures, ours, peers and the papers' times
 * (docs/papers.md). On the CPU arrays of the host, in and out; on a GPU arrays in its memory (paper_gpu.c). Peers that
 * Python calls are timed by bench/programs/paper_peers.py, which is part of this program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hotfiber/contract.h>
#include <hotfiber/cpd.h>
#include <hotfiber/fem.h>
#include <hotfiber/heev.h>
#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>
#include <hotfiber/tridiag.h>

#include "bench/kernels/gpu_machine.h"
#include "common/context_internal.h"
#include "common/flow.h"
#include "paper.h"
#include "report.h"

static const char *const peers[] = {"paper", "cusolver", "cublas", "bisection", "numpy", "scipy", "torch", "cupy",
                                    "tensorly"};
enum { PEERS = sizeof peers / sizeof peers[0], C_PEERS = 4 };

static const char *const papers[] = {"Ballard", "Cosnuau", "Lessig", "Abdelfattah", "Liu"};
enum { PAPERS = sizeof papers / sizeof papers[0] };

static int is_peer(const bench_options *options, const char *name)
{
    return options->peer && strcmp(options->peer, name) == 0;
}

int paper_wants(const bench_options *options, const char *peer)
{
    int number = 0;
    while (number < PEERS && strcmp(peers[number], peer) != 0)
        number++;
    return !options->peer || is_peer(options, "all") || is_peer(options, peer) ||
        is_peer(options, number < C_PEERS ? "compiled" : "python");
}

/* --algorithm: the cases of one paper. */
static int is_wanted(const bench_options *options, const paper_case *c, int device)
{
    return (c->on & device) &&
        (!options->algorithm || strncmp(c->name, options->algorithm, strlen(options->algorithm)) == 0);
}

bench_row *paper_row(bench_report *report, const paper_case *c, const char *backend, double seconds, double fastest,
                     int repeats)
{
    bench_row *row = bench_add_measured(report, c->name, backend, seconds, fastest, repeats, 0, "items");
    row->paper_card = c->card, row->paper_seconds = c->seconds;
    return row;
}

/* ---- CPU --------------------------------------------------------------------------------------------------------- */

typedef struct paper_job {
    const paper_case *c;
    size_t elements;
    void *a, *b, *out, *more; /* inputs; outputs */
    hot_context *context;     /* its own: no progress, and so many threads */
} paper_job;

static hot_status sshopm(const paper_job *job)
{
    const int steps = job->c->argument;
    const hot_sshopm_options options = {.size = sizeof options, .shift = HOT_SHIFT_NONE,
                                        .tolerance = steps ? HOT_ZERO : 0, .change = steps ? 0 : 1e-6,
                                        .max_iterations = steps};
    return hot_sshopm_f32(job->context, &options, 4, 3, job->c->count, job->a, 15, 128, job->b, job->out, job->more,
                          NULL, NULL);
}

static hot_status tridiag(const paper_job *job)
{
    hot_tridiag_options options = {.size = sizeof options, .absolute = 1};
    const size_t n = job->c->n;
    for (int digit = 0; digit < job->c->argument; digit++)
        options.absolute *= .1;
    return hot_tridiag_f32(job->context, &options, n, 1, job->a, job->b, n, job->out, n, NULL);
}

static hot_status products(const paper_job *job)
{
    const size_t n = job->c->n, stride[3] = {n, 1, n * n};
    return hot_contract_matrices_f64(job->context, NULL, n, n, n, job->c->count, 1, job->a, stride, job->b, stride, .5,
                                     job->out, stride);
}

static hot_status mass(const paper_job *job)
{
    double basis[HOT_FEM_POINTS * HOT_FEM_POINTS];
    const size_t points = job->c->n + 1;
    const int dim = job->c->argument;
    HOT_TRY(hot_fem_basis(job->context, points, points, basis, NULL));
    return job->c->kind == PAPER_ASSEMBLY
        ? hot_fem_mass_assemble_f64(job->context, dim, points, points, basis, job->elements, job->a, job->out)
        : hot_fem_mass_action_f64(job->context, dim, points, points, basis, job->elements, job->a, job->b, job->out);
}

static hot_status cube(const paper_job *job)
{
    const size_t n = job->c->n, rank = n / 10, each = n * rank;
    float *factors = job->b;
    const hot_cpd_options options = {.size = sizeof options, .rank = rank, .iterations = job->c->argument,
                                     .tolerance = HOT_ZERO};
    return job->c->kind == PAPER_CP
        ? hot_cpd_f32(job->context, &options, n, n, n, job->a, job->out, factors, factors + each, factors + 2 * each,
                      NULL)
        : hot_mttkrp_f32(job->context, HOT_CPD_FULL, job->c->argument, n, n, n, rank, job->a, factors, factors + each,
                         factors + 2 * each, job->out);
}

static hot_status body(hot_context *unused, void *user)
{
    const paper_job *job = user;
    hot_status status = HOT_OK;
    switch (job->c->kind) {
    case PAPER_SSHOPM: status = sshopm(job); break;
    case PAPER_HEEV:
        status = hot_heev_f64(job->context, NULL, job->c->n, job->c->count, job->a, job->out, job->more, NULL);
        break;
    case PAPER_TRIDIAG: status = tridiag(job); break;
    case PAPER_PRODUCTS: status = products(job); break;
    case PAPER_ACTION:
    case PAPER_ASSEMBLY: status = mass(job); break;
    case PAPER_MTTKRP:
    case PAPER_CP: status = cube(job); break;
    }
    return status == HOT_OK ? status : hot_context_fail(unused, status, "%s", hot_context_message(job->context));
}

/* Numbers in the arrays a, b, out and more; elements of about 16 MB for mass operators. */
static void job_sizes(paper_job *job, size_t sizes[4])
{
    const paper_case *c = job->c;
    const size_t square = c->n * c->n * c->count, rank = c->n / 10, cube = c->n * c->n * c->n;
    size_t nd = 1;
    for (int d = 0; d < c->argument && d < 3; d++)
        nd *= c->n + 1;
    const size_t out = c->kind == PAPER_ASSEMBLY ? nd * nd : nd;
    job->elements = 2000000 / out + 1;
    const size_t all[][4] = {
        [PAPER_SSHOPM] = {c->count * 15, 128 * 3, c->count * 128, c->count * 128 * 3},
        [PAPER_HEEV] = {2 * square, 1, c->n * c->count, 2 * square},
        [PAPER_TRIDIAG] = {c->n, c->n, c->n, 1},
        [PAPER_PRODUCTS] = {square, square, square, 1},
        [PAPER_ACTION] = {job->elements * nd, job->elements * nd, job->elements * out, 1},
        [PAPER_ASSEMBLY] = {job->elements * nd, 1, job->elements * out, 1},
        [PAPER_MTTKRP] = {cube, 3 * c->n * rank, c->n * rank, 1},
        [PAPER_CP] = {cube, 3 * c->n * rank, rank, 1},
    };
    memcpy(sizes, all[c->kind], sizeof all[0]);
}

/* Sums of one to three rank-1 tensors of order 4, as of fibres. */
static void make_tensors(size_t count, float *tensors)
{
    enum { ORDER = 4, UNIQUE = 15 };
    int exponents[UNIQUE * 3];
    double v[9];
    hot_symtensor_exponents(ORDER, 3, exponents);
    for (size_t t = 0; t < count; t++) {
        hot_starts_random(t, 3, 3, v);
        for (size_t i = 0; i < UNIQUE; i++) {
            double sum = 0;
            for (size_t fiber = 0; fiber <= t % 3; fiber++) {
                double product = 1;
                for (int d = 0; d < 3; d++)
                    for (int power = 0; power < exponents[3 * i + d]; power++)
                        product *= v[3 * fiber + d];
                sum += product;
            }
            tensors[t * UNIQUE + i] = (float)sum;
        }
    }
}

static hot_status cpu_row(hot_context *context, const bench_options *options, bench_report *report,
                          const paper_case *c, int threads)
{
    const hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU, .threads = threads};
    const int f32 = c->kind == PAPER_SSHOPM || c->kind == PAPER_TRIDIAG || c->kind == PAPER_MTTKRP ||
        c->kind == PAPER_CP;
    bench_memory memory = {0};
    paper_job job = {.c = c};
    void **const arrays[4] = {&job.a, &job.b, &job.out, &job.more};
    size_t sizes[4];
    char backend[24];
    bench_row *row = NULL;
    job_sizes(&job, sizes);
    for (int i = 0; i < 4; i++)
        *arrays[i] = f32 ? (void *)bench_alloc_f32(context, &memory, sizes[i])
                         : (void *)bench_alloc_f64(context, &memory, sizes[i]);
    snprintf(backend, sizeof backend, threads == 1 ? "cpu, 1 thread" : "cpu, %d threads", threads);
    hot_status status = memory.failed ? HOT_ERROR_MEMORY : hot_context_create(&how, &job.context);
    if (status == HOT_OK && c->kind == PAPER_SSHOPM)
        make_tensors(c->count, job.a);
    for (size_t i = 0; i < c->n && status == HOT_OK && c->kind == PAPER_TRIDIAG; i++)
        ((float *)job.a)[i] = 2.5f * (((float *)job.a)[i] - .45f), ((float *)job.b)[i] *= 2.5f;
    if (status == HOT_OK)
        status = bench_measure_row(context, options, report, c->name, backend, 0, "items", body, &job, &row);
    if (status == HOT_OK) {
        if (c->kind == PAPER_SSHOPM && c->argument)
            row->floor = PAPER_STEP_SLOTS * 128. * (double)c->count * c->argument / bench_peak_f32(threads);
        row->paper_seconds = threads == 1 ? c->one_core : c->cores;
        row->paper_card = threads == 1 ? "one core of a Nehalem" : "eight cores, Nehalem";
        if (row->paper_seconds <= 0)
            row->paper_seconds = c->seconds, row->paper_card = c->card;
    }
    hot_context_destroy(&job.context);
    bench_free(context, &memory);
    return status;
}

/* ---- Peers in Python --------------------------------------------------------------------------------------------- */

static void take_line(bench_report *report, char *line)
{
    char *const name = strtok(line, "|"), *const backend = strtok(NULL, "|"), *const rest = strtok(NULL, "\n");
    double median, fastest;
    int repeats;
    if (!rest)
        return;
    if (sscanf(rest, "%lf|%lf|%d", &median, &fastest, &repeats) == 3) {
        bench_add_measured(report, name, backend, median, fastest, repeats, 0, NULL);
    } else {
        bench_row *row = bench_add(report, name, backend);
        snprintf(row->missing, sizeof row->missing, "%s", rest);
    }
}

/* The cases of a device go to the script as arguments, "kind|n|count|argument|name"; lines "name|backend|median|
 * fastest|repeats" or "name|backend|why there is none" come back. */
static hot_status python_rows(hot_context *context, const bench_options *options, bench_report *report, int device)
{
    static const char *const kinds[] = {"sshopm", "heev", "tridiag", "products", "action", "assembly", "mttkrp", "cp"};
    const int threads = hot_context_threads(context);
    const char *const peer = options->peer && !is_peer(options, "python") ? options->peer : "all";
    const size_t room = bench_paper_script_size + 512 + 200 * paper_case_count;
    char *command = hot_context_alloc(context, room, 1), line[512];
    if (!command)
        return HOT_ERROR_MEMORY;
    size_t used = (size_t)snprintf(
        command, room, "OPENBLAS_NUM_THREADS=%d OMP_NUM_THREADS=%d MKL_NUM_THREADS=%d python3 - %s %g %s", threads,
        threads, threads, device == PAPER_GPU ? "cuda" : "cpu",
        device == PAPER_GPU && options->seconds > .1 ? .1 : options->seconds, peer);
    for (size_t i = 0; i < paper_case_count; i++) {
        const paper_case *c = &paper_cases[i];
        if (is_wanted(options, c, device))
            used += (size_t)snprintf(command + used, room - used, " '%s|%zu|%zu|%d|%s'", kinds[c->kind], c->n,
                                     c->count, c->argument, c->name);
    }
    snprintf(command + used, room - used, " <<'END'\n%.*sEND\n", (int)bench_paper_script_size,
             (const char *)bench_paper_script);
    fflush(stdout);
    FILE *output = popen(command, "r");
    while (output && fgets(line, sizeof line, output))
        take_line(report, line);
    const int failed = !output || pclose(output) != 0;
    hot_context_free(context, command);
    if (failed) {
        bench_row *row = bench_add(report, "peers in Python", "python3");
        snprintf(row->missing, sizeof row->missing, "python3 is not here, or the script failed");
    }
    return HOT_OK;
}

/* Peak rates of the machine, for the share of a ratio that the hardware explains. */
static hot_status machine_row(hot_context *context, bench_report *report, int device)
{
    const int threads = hot_context_threads(context);
    hot_gpu_peaks peaks = {bench_peak_f32(threads), bench_peak_f64(threads), bench_copy_bandwidth(threads)};
    HOT_TRY(device == PAPER_GPU ? hot_gpu_measure_peaks(context, &peaks) : HOT_OK);
    bench_row *row = bench_add(report, "this machine", device == PAPER_GPU ? "cuda" : "cpu");
    bench_note(row, "FP32, TFLOP/s", 1e-12 * peaks.f32);
    bench_note(row, "FP64, TFLOP/s", 1e-12 * peaks.f64);
    bench_note(row, "copy, GB/s", 1e-9 * peaks.bandwidth);
    return HOT_OK;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static hot_status check_options(hot_context *context, const bench_options *options)
{
    int known = !options->algorithm;
    for (int i = 0; i < PAPERS && !known; i++)
        known = strcmp(options->algorithm, papers[i]) == 0;
    if (!known)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "--algorithm %s is no paper: Ballard, Cosnuau, Lessig, Abdelfattah and Liu are",
                                options->algorithm);
    known = !options->peer || is_peer(options, "all") || is_peer(options, "none") || is_peer(options, "compiled") ||
        is_peer(options, "python");
    for (int i = 0; i < PEERS && !known; i++)
        known = strcmp(options->peer, peers[i]) == 0;
    return known ? HOT_OK
                 : hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                    "--peer %s is not known here: all, none, compiled (paper, cusolver, cublas, "
                                    "bisection), python (numpy, scipy, torch, cupy, tensorly) and each of these are",
                                    options->peer);
}

static int wants_python(const bench_options *options)
{
    int wanted = 0;
    for (int i = C_PEERS; i < PEERS; i++)
        wanted |= paper_wants(options, peers[i]);
    return wanted;
}

static hot_status device_rows(hot_context *context, const bench_options *options, bench_report *report, int device)
{
    const int threads = hot_context_threads(context);
    hot_status status = machine_row(context, report, device);
    for (size_t i = 0; i < paper_case_count && status == HOT_OK; i++) {
        const paper_case *c = &paper_cases[i];
        if (!is_wanted(options, c, device) || is_peer(options, "python")) /* those alone */
            continue;
        if (device == PAPER_GPU) {
            status = paper_gpu_rows(context, options, report, c);
            continue;
        }
        if (c->one_core > 0 && threads > 1)
            status = cpu_row(context, options, report, c, 1);
        if (status == HOT_OK)
            status = cpu_row(context, options, report, c, threads);
    }
    return status == HOT_OK && wants_python(options) ? python_rows(context, options, report, device) : status;
}

/* The CPU and, without --device cpu, the GPU; with --device cuda only the GPU. */
static hot_status run(hot_context *context, const bench_options *options, bench_report *report)
{
    const hot_device device = hot_context_device(context);
    hot_status status = check_options(context, options);
    const int gpu = status == HOT_OK && device != HOT_DEVICE_CPU && hot_gpu_name();
    if (status == HOT_OK && device == HOT_DEVICE_CUDA && !gpu)
        status = hot_context_fail(context, HOT_ERROR_DEVICE, "no GPU that CUDA can use was found");
    if (status == HOT_OK && device != HOT_DEVICE_CUDA)
        status = device_rows(context, options, report, PAPER_CPU);
    if (status == HOT_OK && gpu)
        status = device_rows(context, options, report, PAPER_GPU);
    bench_group_by_name(report);
    return status;
}

const bench_entry bench_paper = {
    "paper", "the five papers' tables and figures, with their times (docs/papers.md); --peer NAME, all or none", run};
