/* hotfiber heev: eigenvalues and eigenvectors of Hermitian and symmetric matrices. */
#include <hotfiber/heev.h>
#include <math.h>

#include "array.h"
#include "cli.h"
#include "io/common/output.h"

const cli_command cli_heev_command = {
    "heev", "eigenvalues and eigenvectors of Hermitian matrices", "[-i] MATRICES -o VALUES [--vectors FILE] [options]",
    "A = V diag(lambda) V^H for a batch of complex Hermitian matrices, or with --real of real symmetric ones, of size "
    "1 to 4096.\n"
    "Input: axis 0 holds real and imaginary part (with --real there is no such axis), the next two axes the matrix, "
    "column by column; the further axes are the batch. Any scalar type; computed in double precision.\n"
    "Output, double: axis 0 holds the eigenvalues, ascending, then the batch axes. The eigenvectors have the input's "
    "layout, one per column, in the order of the eigenvalues. A matrix with NaN or Inf gives NaN in both.\n\n"
    "  hotfiber heev -i matrices.nrrd -o values.nrrd --vectors vectors.nrrd",
    0};

/* Refuses matrices that are not Hermitian to single precision. */
static hot_status check_hermitian(hot_context *context, const double *matrices, size_t n, size_t count, int is_complex)
{
    const size_t parts = is_complex ? 2 : 1;
    for (size_t m = 0; m < count; m++) {
        const double *a = matrices + m * n * n * parts;
        double largest = 0;
        for (size_t k = 0; k < n * n * parts; k++)
            largest = fmax(largest, fabs(a[k]));
        for (size_t c = 0; c < n; c++)
            for (size_t r = c; r < n; r++) {
                const double *x = a + (c * n + r) * parts, *y = a + (r * n + c) * parts;
                if (!is_complex && fabs(x[0] - y[0]) > 1e-6 * largest)
                    return hot_context_fail(context, HOT_ERROR_DATA,
                                            "matrix %zu is not symmetric: entry (%zu, %zu) is %g and (%zu, %zu) is %g",
                                            m, r, c, x[0], c, r, y[0]);
                if (is_complex && fmax(fabs(x[0] - y[0]), fabs(x[1] + y[1])) > 1e-6 * largest)
                    return hot_context_fail(context, HOT_ERROR_DATA,
                                            "matrix %zu is not Hermitian: entry (%zu, %zu) is %g%+gi and (%zu, %zu) is "
                                            "%g%+gi", m, r, c, x[0], x[1], c, r, y[0], y[1]);
            }
    }
    return HOT_OK;
}

static hot_status check_axes(hot_context *context, const Nrrd *nrrd, const char *input, unsigned int first, size_t *n,
                             size_t *count)
{
    *count = 1;
    if (first && nrrd->axis[0].size != 2)
        return hot_context_fail(
            context, HOT_ERROR_DATA,
            "axis 0 of '%s' has %zu values: two are needed, real and imaginary part (--real is for real matrices)",
            input, nrrd->axis[0].size);
    if (nrrd->dim < first + 2 || nrrd->axis[first].size != nrrd->axis[first + 1].size)
        return hot_context_fail(context, HOT_ERROR_DATA, "'%s' has matrices of %zu x %zu; they must be square", input,
                                nrrd->dim > first ? nrrd->axis[first].size : 0,
                                nrrd->dim > first + 1 ? nrrd->axis[first + 1].size : 0);
    *n = nrrd->axis[first].size;
    for (unsigned int a = first + 2; a < nrrd->dim; a++)
        *count *= nrrd->axis[a].size;
    return HOT_OK;
}

int cli_heev(int argc, char **argv)
{
    const char *input = "-", *output = "-", *vector_path = NULL;
    int real = 0;
    hot_heev_options heev = {.size = sizeof heev};
    const cli_option options[] = {
        {"i", CLI_TEXT, &input, "FILE", "the matrices, NRRD; default -, standard input", 0, 0},
        {"o", CLI_OUTPUT_NRRD, &output, "FILE", "the eigenvalues, NRRD; default -, standard output", 0, 0},
        {"vectors", CLI_OUTPUT_NRRD, &vector_path, "FILE", "the eigenvectors, NRRD; default: not computed", 0, 0},
        {"largest", CLI_SIZE, &heev.largest, "K", "only the K largest; default: all", 1, HOT_HEEV_MAX},
        {"real", CLI_FLAG, &real, NULL, "real symmetric matrices: axes 0 and 1 are the matrix", 0, 0},
        CLI_END,
    };
    CLI_PARSE(heev, options);
    hot_context *context = common.context;
    const unsigned int first = real ? 0 : 1;
    const size_t parts = real ? 1 : 2;
    Nrrd *nrrd = NULL;
    double *matrices = NULL, *values = NULL, *vectors = NULL;
    uint8_t *flags = NULL;
    size_t n = 0, count = 1, invalid = 0;
    hot_status status = hot_output_check_distinct(context, input, output);
    if (status == HOT_OK)
        status = hot_output_check_distinct(context, input, vector_path);
    if (status == HOT_OK)
        status = hot_nrrd_load(context, input, &nrrd);
    if (status == HOT_OK)
        status = check_axes(context, nrrd, input, first, &n, &count);
    if (status == HOT_OK)
        status = cli_array_double(context, nrrd, n * n * parts * count, &matrices);
    if (status == HOT_OK)
        status = check_hermitian(context, matrices, n, count, !real);
    if (status != HOT_OK)
        goto cleanup;
    const size_t kept = heev.largest ? heev.largest : n;
    values = hot_context_alloc(context, count, kept * sizeof *values);
    vectors = vector_path ? hot_context_alloc(context, count, kept * n * parts * sizeof *vectors) : NULL;
    flags = hot_context_alloc(context, count, 1);
    if (!values || !flags || (vector_path && !vectors)) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    status = real ? hot_syev_f64(context, &heev, n, count, matrices, values, vectors, flags)
                  : hot_heev_f64(context, &heev, n, count, matrices, values, vectors, flags);
    if (status != HOT_OK)
        goto cleanup;
    for (size_t i = 0; i < count; i++)
        invalid += flags[i] != 0;
    if (invalid)
        hot_context_log(context, HOT_LOG_WARNING, "%zu of %zu matrices hold NaN or Inf: their eigenvalues are NaN",
                        invalid, count);
    if (vectors) {
        const size_t sizes[3] = {real ? n : 2, real ? kept : n, kept};
        status = cli_array_save(context, nrrd, first + 2, vectors, nrrdTypeDouble, first + 2, sizes, vector_path);
    }
    if (status == HOT_OK)
        status = cli_array_save(context, nrrd, first + 2, values, nrrdTypeDouble, 1, &kept, output);
cleanup:
    hot_nrrd_free(context, nrrd);
    HOT_FREE(context, matrices, values, vectors, flags);
    return cli_finish(&cli_heev_command, &common, status);
}
