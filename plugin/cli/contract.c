/* hotfiber contract: batched contractions of small tensors, and mass operators of finite elements. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hotfiber/fem.h>

#include "io/common/output.h"
#include "array.h"
#include "cli.h"
#include "contract_cache.h"

const cli_command cli_contract_command = {
    "contract", "contract many small tensors", "-a A -b B --spec \"ik,kj->ij\" -o C [options]",
    "C = alpha contraction(A, B) + beta C for every item of a batch. The spec names the axes of A, B and C by letters, "
    "fastest axis first; a letter in A and B alone is summed over, one in all three is paired. The axis behind the "
    "named ones is the batch; an operand without it is the same for all items. Any scalar type in, double (or float) "
    "out.\n\n"
    "  hotfiber contract -a a.nrrd -b b.nrrd --spec \"isj,ksl->ijkl\" -o c.nrrd\n\n"
    "--op applies or assembles the mass matrix B^T D B of finite elements in two or three dimensions: mass2d and "
    "mass3d take D (values at the quadrature points, then elements) as -a and V (values at the basis functions, then "
    "elements) as --b; assemble2d and assemble3d take D alone and write a matrix per element. The basis is that of "
    "--basis (points x functions), or Lagrange's at the Gauss-Lobatto nodes and Gauss-Legendre points.\n\n"
    "  hotfiber contract --op mass3d -a d.nrrd -b v.nrrd -o u.nrrd\n\n"
    "--tune times the variants for this shape on this machine and keeps the best in hotfiber/contract.txt in the "
    "user's cache folder, where later calls find it.",
    0};

/* The options of the command, and its arrays while it runs. */
typedef struct contract_job {
    const char *spec, *op, *inputs[3], *basis, *output, *tuning_path; /* inputs: A, B, C */
    double alpha, beta;
    size_t dofs;
    int single, tune;
    Nrrd *nrrd[3];
    double *values[3];
    float *narrow; /* the result in single precision */
    hot_contract_layout layout[3];
    size_t batch;
    int has_batch[3];
    hot_contract_tuning *tuning;
} contract_job;

/* ---- By spec ----------------------------------------------------------------------------------------------------- */

/* How many letters the operand has in the spec; the spec's own faults are found by the library. */
static int letters_of(const char *spec, int operand)
{
    int at = 0, count = 0;
    for (; *spec; spec++) {
        if (*spec == ',')
            at = 1;
        else if (*spec == '>')
            at = 2;
        else if (at == operand && *spec != ' ' && *spec != '-')
            count++;
    }
    return count;
}

/* The layout of an operand: its named axes dense, followed by the batch, if any. */
static hot_status read_layout(hot_context *context, contract_job *job, int operand)
{
    const Nrrd *nrrd = job->nrrd[operand];
    const int letters = letters_of(job->spec, operand);
    size_t sizes[HOT_CONTRACT_AXES] = {0};
    if (letters > HOT_CONTRACT_AXES)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "spec '%s': an operand has more than %d axes", job->spec,
                                HOT_CONTRACT_AXES);
    /* one number has an axis all the same */
    const int whole = letters == 0 && nrrd->dim == 1 && nrrd->axis[0].size == 1;
    if (!whole && nrrd->dim != (unsigned)letters && nrrd->dim != (unsigned)letters + 1)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "'%s' has %u axes: spec '%s' needs %d, or one more for the batch", job->inputs[operand],
                                nrrd->dim, job->spec, letters);
    for (int a = 0; a < letters; a++)
        sizes[a] = nrrd->axis[a].size;
    job->layout[operand] = hot_contract_dense(letters, sizes);
    job->has_batch[operand] = !whole && nrrd->dim == (unsigned)letters + 1;
    if (!job->has_batch[operand]) {
        job->layout[operand].batch = 0;
        return HOT_OK;
    }
    const size_t batch = nrrd->axis[letters].size;
    for (int other = 0; other < operand; other++)
        if (job->has_batch[other] && batch != job->batch)
            return hot_context_fail(context, HOT_ERROR_DATA, "'%s' has %zu items and '%s' %zu", job->inputs[operand],
                                    batch, job->inputs[other], job->batch);
    job->batch = batch;
    return HOT_OK;
}

static float *to_float(hot_context *context, const double *values, size_t count)
{
    float *narrow = hot_context_alloc(context, count, sizeof *narrow);
    for (size_t i = 0; narrow && i < count; i++)
        narrow[i] = (float)values[i];
    return narrow;
}

static size_t count_values(const Nrrd *nrrd)
{
    size_t count = 1;
    for (unsigned int a = 0; a < nrrd->dim; a++)
        count *= nrrd->axis[a].size;
    return count;
}

/* Contracts in single precision: values[2] as floats, into `narrow`. */
static hot_status contract_single(hot_context *context, contract_job *job, const hot_contract_options *options,
                                  size_t total)
{
    float *a = to_float(context, job->values[0], count_values(job->nrrd[0]));
    float *b = to_float(context, job->values[1], count_values(job->nrrd[1]));
    float *c = job->narrow = to_float(context, job->values[2], total);
    hot_status status = a && b && c ? HOT_OK : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_contract_f32(context, options, job->spec, job->batch, (float)job->alpha, a, &job->layout[0], b,
                                  &job->layout[1], (float)job->beta, c, &job->layout[2]);
    HOT_FREE(context, a, b);
    return status;
}

/* Times the variants for the matrix product that the spec comes to. */
static hot_status tune(hot_context *context, contract_job *job)
{
    size_t m = 1, n = 1, k = 1, batch = job->batch ? job->batch : 1;
    const char *variant = "";
    double best = 0, usual = 0;
    for (int a = 0; a < job->layout[0].axes; a++) { /* a letter of A is in C, or summed over */
        const char *letter = job->spec;
        for (int skip = a; *letter == ' ' || skip > 0; letter++)
            skip -= *letter != ' ';
        *(strchr(strchr(job->spec, '>'), *letter) ? &m : &k) *= job->layout[0].size[a];
    }
    for (int a = 0; a < job->layout[2].axes; a++)
        n *= job->layout[2].size[a];
    n = m ? n / m : 0;
    const size_t enough = 100000000 / ((m * k + k * n + m * n) * 8 + 1) + 1; /* about 100 MB: more than caches hold */
    batch = batch < enough ? enough : batch;
    hot_status status = hot_contract_tune(context, job->tuning, job->single ? 32 : 64, m, n, k, batch, 2, &variant,
                                          &best, &usual);
    if (status == HOT_OK)
        hot_context_log(context, HOT_LOG_NOTE,
                        "%zu x %zu x %zu: '%s' takes %.4g ms for %zu items, the usual variant %.4g ms", m, n, k,
                        variant, 1e3 * best, batch, 1e3 * usual);
    if (status == HOT_OK)
        status = cli_contract_cache_save(context, job->tuning_path, job->tuning);
    return status;
}

static hot_status run_spec(hot_context *context, contract_job *job)
{
    size_t total = 1, sizes[HOT_CONTRACT_AXES + 1];
    hot_status status = HOT_OK;
    for (int o = 0; o < 2 && status == HOT_OK; o++) {
        status = read_layout(context, job, o);
        if (status == HOT_OK)
            status = cli_array_double(context, job->nrrd[o], count_values(job->nrrd[o]), &job->values[o]);
    }
    if (status == HOT_OK)
        status = hot_contract_shape(context, job->spec, &job->layout[0], &job->layout[1], &job->layout[2]);
    if (status != HOT_OK)
        return status;
    const int batched = job->has_batch[0] || job->has_batch[1];
    const int axes = job->layout[2].axes;
    job->batch = batched ? job->batch : 1;
    for (int a = 0; a < axes; a++)
        total *= sizes[a] = job->layout[2].size[a];
    sizes[axes] = batched || axes == 0 ? job->batch : 0;
    const hot_contract_layout wanted = job->layout[2];
    total *= job->batch;
    if (job->nrrd[2]) {
        status = read_layout(context, job, 2);
        if (status == HOT_OK &&
            (memcmp(job->layout[2].size, wanted.size, sizeof wanted.size) != 0 || job->has_batch[2] != batched))
            status = hot_context_fail(context, HOT_ERROR_DATA, "'%s' has not the shape of the result", job->inputs[2]);
        job->layout[2] = wanted;
        if (status == HOT_OK)
            status = cli_array_double(context, job->nrrd[2], total, &job->values[2]);
    } else {
        job->values[2] = hot_context_calloc(context, total, sizeof *job->values[2]);
        status = job->values[2] ? HOT_OK : HOT_ERROR_MEMORY;
    }
    if (status == HOT_OK && job->tune)
        status = tune(context, job);
    const hot_contract_options options = {.size = sizeof options, .tuning = job->tuning};
    if (status == HOT_OK)
        status = job->single
            ? contract_single(context, job, &options, total)
            : hot_contract_f64(context, &options, job->spec, job->batch, job->alpha, job->values[0], &job->layout[0],
                               job->values[1], &job->layout[1], job->beta, job->values[2], &job->layout[2]);
    if (status != HOT_OK)
        return status;
    const unsigned own = (unsigned)axes + (batched || axes == 0);
    return cli_array_save(context, job->nrrd[0], job->nrrd[0]->dim,
                          job->single ? (const void *)job->narrow : job->values[2],
                          job->single ? nrrdTypeFloat : nrrdTypeDouble, own, sizes, job->output);
}

/* ---- Finite elements --------------------------------------------------------------------------------------------- */

/* The side of a cube of dimension dim in the first axes of an array, whose last axis is the elements; or, of an array
 * of two axes, the dim-th root of the first. */
static hot_status read_side(hot_context *context, const Nrrd *nrrd, const char *name, int dim, size_t *side,
                            size_t *elements)
{
    size_t first = nrrd->axis[0].size;
    *elements = nrrd->axis[nrrd->dim - 1].size;
    if (nrrd->dim == 2) {
        *side = (size_t)(pow((double)first, 1. / dim) + .5);
        first = *side;
    } else {
        *side = first;
    }
    const size_t cube = dim == 2 ? *side * *side : *side * *side * *side;
    int right = nrrd->dim == 2 ? nrrd->axis[0].size == cube : nrrd->dim == (unsigned)dim + 1;
    for (unsigned int a = 0; a + 1 < nrrd->dim && nrrd->dim > 2; a++)
        right &= nrrd->axis[a].size == first;
    if (!right || nrrd->dim < 2)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "'%s' is no array of %s per element: %d equal axes (or all of them in one) and then "
                                "the elements are needed",
                                name, dim == 2 ? "squares" : "cubes", dim);
    return HOT_OK;
}

static hot_status read_basis(hot_context *context, contract_job *job, size_t dofs, size_t points, double *basis)
{
    Nrrd *nrrd = NULL;
    double *values = NULL;
    if (!job->basis)
        return hot_fem_basis(context, dofs, points, basis, NULL);
    hot_status status = hot_nrrd_load(context, job->basis, &nrrd);
    if (status == HOT_OK && (nrrd->dim != 2 || nrrd->axis[0].size != points || nrrd->axis[1].size != dofs))
        status = hot_context_fail(context, HOT_ERROR_DATA, "'%s' is not %zu points x %zu functions", job->basis, points,
                                  dofs);
    if (status == HOT_OK)
        status = cli_array_double(context, nrrd, dofs * points, &values);
    if (status == HOT_OK)
        memcpy(basis, values, dofs * points * sizeof *basis);
    hot_context_free(context, values);
    hot_nrrd_free(context, nrrd);
    return status;
}

static hot_status run_fem(hot_context *context, contract_job *job)
{
    const int assemble = job->op[0] == 'a', dim = strstr(job->op, "2d") ? 2 : 3;
    double basis[HOT_FEM_POINTS * HOT_FEM_POINTS];
    size_t points = 0, dofs = 0, elements = 0, others = 0, sizes[4], axes = 0;
    hot_status status = read_side(context, job->nrrd[0], job->inputs[0], dim, &points, &elements);
    if (status == HOT_OK && !assemble)
        status = read_side(context, job->nrrd[1], job->inputs[1], dim, &dofs, &others);
    if (status == HOT_OK && !assemble && others != elements)
        status = hot_context_fail(context, HOT_ERROR_DATA, "'%s' has %zu elements and '%s' %zu", job->inputs[0],
                                  elements, job->inputs[1], others);
    dofs = assemble ? (job->dofs ? job->dofs : points) : dofs;
    if (status == HOT_OK && (dofs > HOT_FEM_POINTS || points > HOT_FEM_POINTS))
        status = hot_context_fail(context, HOT_ERROR_DATA,
                                  "%zu functions and %zu points along an axis: at most %d of each are possible", dofs,
                                  points, HOT_FEM_POINTS);
    if (status == HOT_OK)
        status = read_basis(context, job, dofs, points, basis);
    for (int o = 0; o < 2 - assemble && status == HOT_OK; o++)
        status = cli_array_double(context, job->nrrd[o], count_values(job->nrrd[o]), &job->values[o]);
    if (status != HOT_OK)
        return status;
    const size_t rows = dim == 2 ? dofs * dofs : dofs * dofs * dofs;
    job->values[2] = hot_context_alloc(context, elements, (assemble ? rows * rows : rows) * sizeof(double));
    if (!job->values[2])
        return HOT_ERROR_MEMORY;
    if (assemble) {
        status = hot_fem_mass_assemble_f64(context, dim, dofs, points, basis, elements, job->values[0], job->values[2]);
        sizes[axes++] = rows;
        sizes[axes++] = rows;
    } else {
        status = hot_fem_mass_action_f64(context, dim, dofs, points, basis, elements, job->values[0], job->values[1],
                                         job->values[2]);
        for (int a = 0; a < dim; a++)
            sizes[axes++] = dofs;
    }
    sizes[axes++] = elements;
    return status == HOT_OK ? cli_array_save(context, job->nrrd[0], job->nrrd[0]->dim, job->values[2], nrrdTypeDouble,
                                             (unsigned)axes, sizes, job->output)
                            : status;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

/* Whether the options go together. Returns -1, or cli_refuse's status. */
static int check_job(cli_common *common, const contract_job *job, const char *const *precision)
{
    const int assemble = job->op && job->op[0] == 'a';
    if (!job->op == !job->spec)
        return cli_refuse(&cli_contract_command, common, job->op ? "--op and --spec exclude each other"
                                                                 : "--spec is needed, like \"ik,kj->ij\", or --op");
    if (job->spec && (!strchr(job->spec, ',') || !strchr(job->spec, '>')))
        return cli_refuse(&cli_contract_command, common, "--spec names axes like \"ik,kj->ij\", not like '%s'",
                          job->spec);
    if (!job->inputs[0] || (!job->inputs[1] && !assemble))
        return cli_refuse(&cli_contract_command, common, "-%c is needed", job->inputs[0] ? 'b' : 'a');
    if (job->op &&
        (job->inputs[2] || cli_given(&job->alpha) || cli_given(&job->beta) || cli_given(precision) || job->tune))
        return cli_refuse(&cli_contract_command, common, "--op takes no -c, --alpha, --beta, --precision or --tune");
    if (cli_given(&job->beta) && job->beta != 0 && !job->inputs[2])
        return cli_refuse(&cli_contract_command, common, "--beta needs -c, the array that it multiplies");
    return -1;
}

/* Loads the measured choices of --tuning, if a spec may use them; *path: their file, the caller's. */
static hot_status load_tuning(hot_context *context, contract_job *job, char **path)
{
    const int none = job->tuning_path && strcmp(job->tuning_path, "none") == 0;
    if (job->tune && none)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "--tune keeps its choice in a file, and --tuning is none");
    if (!job->spec || none)
        return HOT_OK;
    job->tuning_path = *path = cli_contract_cache_path(context, job->tuning_path);
    if (job->tune && !*path)
        return hot_context_fail(context, HOT_ERROR_FILE,
                                "there is no folder for the choices: name a file with --tuning");
    return cli_contract_cache_load(context, *path, &job->tuning);
}

int cli_contract(int argc, char **argv)
{
    contract_job job = {.output = "-", .alpha = 1};
    const char *precision = "double";
    const cli_option options[] = {
        {"a", CLI_TEXT, &job.inputs[0], "FILE", "operand A, NRRD", 0, 0},
        {"b", CLI_TEXT, &job.inputs[1], "FILE", "operand B, NRRD", 0, 0},
        {"c", CLI_TEXT, &job.inputs[2], "FILE", "the array that beta multiplies, NRRD; the file is not changed", 0, 0},
        {"o", CLI_OUTPUT_NRRD, &job.output, "FILE", "the result, NRRD; default -, standard output", 0, 0},
        {"spec", CLI_TEXT, &job.spec, "SPEC", "the axes, like \"ik,kj->ij\"", 0, 0},
        {"op", CLI_CHOICE, &job.op, "mass2d|mass3d|assemble2d|assemble3d",
         "a finite-element operator instead of a spec", 0, 0},
        {"basis", CLI_TEXT, &job.basis, "FILE", "with --op: the basis, points x functions", 0, 0},
        {"dofs", CLI_SIZE, &job.dofs, "N",
         "with assemble2d, assemble3d: basis functions along an axis; default: the number of points", 1,
         HOT_FEM_POINTS},
        {"alpha", CLI_DOUBLE, &job.alpha, "X", "default 1", -1e300, 1e300},
        {"beta", CLI_DOUBLE, &job.beta, "X", "default 0, or 1 with -c", -1e300, 1e300},
        {"precision", CLI_CHOICE, &precision, "single|double",
         "of the computation and the result; default double", 0, 0},
        {"tune", CLI_FLAG, &job.tune, NULL, "time the variants for this shape first, and use the fastest", 0, 0},
        {"tuning", CLI_TEXT, &job.tuning_path, "FILE",
         "the file of measured choices, or none; default: the one in the cache folder", 0, 0},
        CLI_END,
    };
    CLI_PARSE(contract, options);
    hot_context *context = common.context;
    const int assemble = job.op && job.op[0] == 'a', wanted = assemble ? 1 : 2;
    const char *given = job.tuning_path;
    char *path = NULL;
    if ((ended = check_job(&common, &job, &precision)) >= 0)
        return ended;
    job.beta = job.inputs[2] && !cli_given(&job.beta) ? 1 : job.beta;
    job.single = strcmp(precision, "single") == 0;
    hot_status status = HOT_OK;
    for (int o = 0; o < 3 && status == HOT_OK; o++)
        if (job.inputs[o])
            status = hot_output_check_distinct(context, job.inputs[o], job.output);
    for (int o = 0; o < 3 && status == HOT_OK; o++)
        if (job.inputs[o] && (o < wanted || o == 2))
            status = hot_nrrd_load(context, job.inputs[o], &job.nrrd[o]);
    if (status == HOT_OK)
        status = load_tuning(context, &job, &path);
    if (status == HOT_OK)
        status = job.op ? run_fem(context, &job) : run_spec(context, &job);
    hot_contract_tuning_destroy(&job.tuning);
    hot_context_free(context, path);
    job.tuning_path = given; /* cli_finish looks at the files that options name */
    hot_context_free(context, job.narrow);
    for (int o = 0; o < 3; o++) {
        hot_nrrd_free(context, job.nrrd[o]);
        hot_context_free(context, job.values[o]);
    }
    return cli_finish(&cli_contract_command, &common, status);
}
