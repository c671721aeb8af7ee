/* hotfiber tridiag: eigenvalues of symmetric tridiagonal matrices. */
#include <hotfiber/tridiag.h>
#include <math.h>
#include <string.h>

#include "array.h"
#include "cli.h"

const cli_command cli_tridiag_command = {
    "tridiag", "eigenvalues of symmetric tridiagonal matrices", "[-i] MATRICES -o VALUES [options]",
    "All eigenvalues, or those in a range, of real symmetric tridiagonal matrices, ascending and with their "
    "multiplicity.\n"
    "Input: axis 0 has the length n; axis 1 holds two rows, the diagonal and the off-diagonal (its last value is not "
    "used); the further axes are the batch. Any scalar type.\n"
    "Output, double: axis 0 holds the eigenvalues, then the batch axes. A matrix with NaN or Inf gives NaN. With "
    "--range, matrices with fewer eigenvalues in it than another are filled up with NaN.\n\n"
    "  hotfiber tridiag --index 0,9 -i matrices.nrrd -o smallest.nrrd",
    0};

static hot_status check_axes(hot_context *context, const Nrrd *nrrd, const char *input, size_t *count)
{
    *count = 1;
    if (nrrd->dim < 2 || nrrd->axis[1].size != 2)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "'%s' has %zu values along axis 1: two are needed, the diagonal and the off-diagonal",
                                input, nrrd->dim < 2 ? (size_t)1 : nrrd->axis[1].size);
    for (unsigned int a = 2; a < nrrd->dim; a++)
        *count *= nrrd->axis[a].size;
    return HOT_OK;
}

static hot_status solve(hot_context *context, const hot_tridiag_options *tridiag, int single, size_t n, size_t count,
                        const double *matrices, double *values, size_t width, int64_t *found)
{
    if (!single)
        return hot_tridiag_f64(context, tridiag, n, count, matrices, matrices + n, 2 * n, values, width, found);
    float *in = hot_context_alloc(context, 2 * n * count, sizeof *in),
          *out = hot_context_alloc(context, width * count, sizeof *out);
    hot_status status = in && out ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t i = 0; i < 2 * n * count && status == HOT_OK; i++)
        in[i] = (float)matrices[i];
    if (status == HOT_OK)
        status = hot_tridiag_f32(context, tridiag, n, count, in, in + n, 2 * n, out, width, found);
    for (size_t i = 0; i < width * count && status == HOT_OK; i++)
        values[i] = (double)out[i];
    HOT_FREE(context, in, out);
    return status;
}

/* Which eigenvalues: --range, --index or all. Returns -1, or cli_refuse's status. */
static int choose_values(cli_common *common, const cli_list *range, const cli_list *index, hot_tridiag_options *tridiag)
{
    if (cli_given(range) && cli_given(index))
        return cli_refuse(&cli_tridiag_command, common, "--range and --index exclude each other");
    if (cli_given(range) && (range->count != 2 || !(range->values[0] <= range->values[1])))
        return cli_refuse(&cli_tridiag_command, common, "--range needs two numbers, the smaller first");
    if (cli_given(index) &&
        (index->count != 2 || !(index->values[0] <= index->values[1]) ||
         index->values[0] != floor(index->values[0]) || index->values[1] != floor(index->values[1])))
        return cli_refuse(&cli_tridiag_command, common, "--index needs two whole numbers, the smaller first");
    if (cli_given(index)) {
        tridiag->range = HOT_TRIDIAG_INDEX;
        tridiag->first = (size_t)index->values[0];
        tridiag->last = (size_t)index->values[1];
    } else if (cli_given(range)) {
        tridiag->range = HOT_TRIDIAG_VALUE;
        tridiag->low = range->values[0];
        tridiag->high = range->values[1];
    }
    return -1;
}

/* Warns about matrices that are not finite. Returns the largest number of eigenvalues found. */
static size_t most_found(hot_context *context, const int64_t *found, size_t count)
{
    size_t invalid = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        invalid += found[i] < 0;
        most = found[i] > (int64_t)most ? (size_t)found[i] : most;
    }
    if (invalid)
        hot_context_log(context, HOT_LOG_WARNING, "%zu of %zu matrices hold NaN or Inf: their eigenvalues are NaN",
                        invalid, count);
    return most;
}

int cli_tridiag(int argc, char **argv)
{
    const char *input = "-", *output = "-", *precision = "double";
    cli_list range = {0}, index = {0};
    hot_tridiag_options tridiag = {.size = sizeof tridiag};
    const cli_option options[] = {
        {"i", CLI_TEXT, &input, "FILE", "the matrices, NRRD; default -, standard input", 0, 0},
        {"o", CLI_OUTPUT_NRRD, &output, "FILE", "the eigenvalues, NRRD; default -, standard output", 0, 0},
        {"index", CLI_LIST, &index, "FIRST,LAST", "only these, counted from 0 at the smallest, both included", 0, 1e9},
        {"range", CLI_LIST, &range, "LO,HI", "only those with LO <= lambda < HI", -1e300, 1e300},
        {"tolerance", CLI_DOUBLE, &tridiag.absolute, "T",
         "allowed error, in the unit of the matrices; default 0: a few units in the last place of the norm", 0, 1e300},
        {"relative", CLI_DOUBLE, &tridiag.relative, "R",
         "allowed error as a fraction of each eigenvalue; default: no bound", 1e-300, 0.5},
        {"precision", CLI_CHOICE, &precision, "single|double", "of the computation; default double", 0, 0},
        CLI_END,
    };
    CLI_PARSE(tridiag, options);
    hot_context *context = common.context;
    if ((ended = choose_values(&common, &range, &index, &tridiag)) >= 0)
        return ended;
    Nrrd *nrrd = NULL;
    double *matrices = NULL, *values = NULL;
    int64_t *found = NULL;
    size_t count = 1;
    hot_status status = hot_nrrd_load(context, input, &nrrd);
    if (status == HOT_OK)
        status = check_axes(context, nrrd, input, &count);
    if (status != HOT_OK)
        goto cleanup;
    const size_t n = nrrd->axis[0].size;
    size_t width = n; /* also for an index beyond n, which is refused below */
    if (tridiag.range == HOT_TRIDIAG_INDEX && tridiag.last < n)
        width = tridiag.last - tridiag.first + 1;
    status = cli_array_double(context, nrrd, 2 * n * count, &matrices);
    if (status != HOT_OK)
        goto cleanup;
    values = hot_context_alloc(context, count, width * sizeof *values);
    found = hot_context_alloc(context, count, sizeof *found);
    if (!values || !found) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    status = solve(context, &tridiag, strcmp(precision, "single") == 0, n, count, matrices, values, width, found);
    if (status != HOT_OK)
        goto cleanup;
    const size_t most = most_found(context, found, count);
    if (tridiag.range == HOT_TRIDIAG_VALUE && most < width) { /* drop rows of NaN alone, but one keeps the axis */
        size_t kept = most ? most : 1;
        for (size_t i = 1; i < count; i++)
            memmove(values + i * kept, values + i * width, kept * sizeof *values);
        width = kept;
    }
    status = cli_array_save(context, nrrd, 2, values, nrrdTypeDouble, 1, &width, output);
cleanup:
    hot_nrrd_free(context, nrrd);
    HOT_FREE(context, matrices, values, found);
    return cli_finish(&cli_tridiag_command, &common, status);
}
