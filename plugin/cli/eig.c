/* hotfiber eig: the real eigenpairs of packed symmetric tensors of any order and dimension. */
#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cli.h"
#include "fibers/method.h"

const cli_command cli_eig_command = {
    "eig", "real eigenpairs of symmetric tensors", "--order M --dim N [-i] TENSORS -o PAIRS [options]",
    "Finds A x^(m-1) = lambda x with ||x|| = 1, the critical points of A x^m on the sphere, by SS-HOPM from many "
    "starts and Newton's correction, polished in double precision.\n"
    "Input: axis 0 holds the C(m+n-1, m) unique values of a tensor in lexicographic order (xxxx xxxy xxxz xxyy ...), "
    "not multiplied by their multiplicity; the further axes are the batch. Any scalar type.\n"
    "Output, double: axis 0 holds lambda, x_1 ... x_n, the residual ||A x^(m-1) - lambda x||, and the kind (1 local "
    "maximum, -1 local minimum, 0 saddle or degenerate); axis 1 the pairs, largest lambda first, x and -x counted once "
    "(odd orders: the one with lambda >= 0), unused rows NaN; then the batch axes.\n\n"
    "  hotfiber eig --order 4 --dim 3 --kind max -i tensors.nrrd -o pairs.nrrd",
    0};

/* The same array with `rows` rows per tensor instead of `had`. */
static void keep_rows(double *pairs, size_t tensors, size_t had, size_t rows, size_t width)
{
    for (size_t t = 1; t < tensors; t++)
        memmove(pairs + t * rows * width, pairs + t * had * width, rows * width * sizeof *pairs);
}

static hot_status save(hot_context *context, const Nrrd *input, double *pairs, size_t rows, size_t width, int order,
                       int dim, const char *path)
{
    const size_t sizes[2] = {width, rows};
    char text[32];
    Nrrd *nrrd;
    HOT_TRY(cli_array_wrap(context, input, 1, pairs, nrrdTypeDouble, 2, sizes, &nrrd));
    snprintf(text, sizeof text, "%d", order);
    hot_status status = hot_nrrd_set_key(context, nrrd, "hotfiber_order", text);
    snprintf(text, sizeof text, "%d", dim);
    if (status == HOT_OK)
        status = hot_nrrd_set_key(context, nrrd, "hotfiber_dim", text);
    if (status == HOT_OK)
        status = hot_nrrd_save(context, nrrd, path, 0);
    nrrdNix(nrrd);
    return status;
}

int cli_eig(int argc, char **argv)
{
    const char *input = "-", *output = "-", *kind = "all", *shift = "adaptive";
    int order = 0, dim = 0;
    size_t starts = 0, rows = 0;
    hot_sshopm_options eig = {.size = sizeof eig};
    const cli_option options[] = {
        {"i", CLI_TEXT, &input, "FILE", "the tensors, NRRD; default -, standard input", 0, 0},
        {"o", CLI_OUTPUT_NRRD, &output, "FILE", "the eigenpairs, NRRD; default -, standard output", 0, 0},
        {"order", CLI_INT, &order, "M", "order of the tensors, 2 to 16", 2, HOT_ORDER_MAX},
        {"dim", CLI_INT, &dim, "N", "dimension, 1 to 16; default 3", 1, HOT_DIM_MAX},
        {"kind", CLI_CHOICE, &kind, "max|min|all",
         "local maxima, local minima, or all with saddles; default all", 0, 0},
        {"starts", CLI_SIZE, &starts, "N",
         "number of starting vectors; default: by order and dimension, and in three dimensions also a scan of the "
         "sphere", 0, 1e6},
        {"shift", CLI_TEXT, &shift, "adaptive|none|NUMBER",
         "x <- A x^(m-1) + shift x: adaptive (default) is just enough to climb; none is 0", 0, 0},
        {"pairs", CLI_SIZE, &rows, "N",
         "rows of axis 1; default: the largest number of pairs of a tensor", 1, 1e6},
        CLI_END,
    };
    CLI_PARSE(eig, options);
    hot_context *context = common.context;
    Nrrd *nrrd = NULL;
    double *tensors = NULL, *pairs = NULL;
    int32_t *found = NULL;
    if (!hot_shift_parse(shift, &eig.shift, &eig.alpha))
        return cli_refuse(&cli_eig_command, &common, "--shift is adaptive, none or a number, not '%s'", shift);
    if (order == 0)
        return cli_refuse(&cli_eig_command, &common, "--order M is needed, the order of the tensors");
    dim = dim ? dim : 3;
    size_t unique = hot_symtensor_count(order, dim), bound = hot_eigenpairs_bound(order, dim), count = 1;
    size_t width = (size_t)dim + 3, max_found = 1, invalid = 0;
    hot_status status;
    eig.seek = strcmp(kind, "max") == 0 ? HOT_MAXIMA : strcmp(kind, "min") == 0 ? HOT_MINIMA : HOT_ALL_PAIRS;
    status = hot_nrrd_load(context, input, &nrrd);
    if (status != HOT_OK)
        goto cleanup;
    if (nrrd->axis[0].size != unique) {
        status = hot_context_fail(context, HOT_ERROR_DATA,
                                  "axis 0 of '%s' has %zu values: order %d and dimension %d need %zu%s", input,
                                  nrrd->axis[0].size, order, dim, unique,
                                  nrrd->axis[0].size == unique + 1
                                      ? " (a tensor field has its confidence first: unu crop takes it off)"
                                      : "");
        goto cleanup;
    }
    if (nrrd->dim + 1 > NRRD_DIM_MAX) {
        status = hot_context_fail(context, HOT_ERROR_DATA, "'%s' has %u axes: at most %d can be written with one more",
                                  input, nrrd->dim, NRRD_DIM_MAX - 1);
        goto cleanup;
    }
    for (unsigned int a = 1; a < nrrd->dim; a++)
        count *= nrrd->axis[a].size;
    size_t most = rows ? rows : bound < 512 ? bound : 512;
    status = cli_array_double(context, nrrd, count * unique, &tensors);
    if (status != HOT_OK)
        goto cleanup;
    pairs = hot_context_alloc(context, count, most * width * sizeof *pairs);
    found = hot_context_alloc(context, count, sizeof *found);
    if (!pairs || !found) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    status = hot_eigenpairs_f64(context, &eig, order, dim, count, tensors, unique, starts, NULL, most, pairs, found);
    if (status != HOT_OK)
        goto cleanup;
    for (size_t t = 0; t < count; t++) {
        invalid += found[t] < 0;
        max_found = found[t] > 0 && (size_t)found[t] > max_found ? (size_t)found[t] : max_found;
    }
    if (invalid)
        hot_context_log(context, HOT_LOG_WARNING, "%zu of %zu tensors hold NaN or Inf: they have no eigenpairs",
                        invalid, count);
    if (max_found > most) {
        hot_context_log(context, HOT_LOG_WARNING,
                        "up to %zu pairs were found; the largest %zu of each tensor are written", max_found, most);
        max_found = most;
    }
    if (!rows && max_found < most)
        keep_rows(pairs, count, most, max_found, width);
    status = save(context, nrrd, pairs, rows ? rows : max_found, width, order, dim, output);
cleanup:
    hot_nrrd_free(context, nrrd);
    HOT_FREE(context, tensors, pairs, found);
    return cli_finish(&cli_eig_command, &common, status);
}
