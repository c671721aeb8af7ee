/* hotfiber cpd: CP decomposition of third-order arrays. */
#include <hotfiber/cpd.h>
#include <stdio.h>
#include <string.h>

#include "io/common/output.h"
#include "array.h"
#include "cli.h"

const cli_command cli_cpd_command = {
    "cpd", "CP decomposition of a 3-D array", "[-i] ARRAY --rank R -o PREFIX [options]",
    "X_ijk ~ sum over r of lambda_r a_ir b_jr c_kr, by alternating least squares. Writes PREFIX_lambda.nrrd (R values, "
    "largest first), PREFIX_a.nrrd (I x R), PREFIX_b.nrrd (J x R) and PREFIX_c.nrrd (K x R), columns of unit length, "
    "and one line with the fit, 1 - ||X - sum|| / ||X||. Ctrl-C stops and writes the best so far.\n"
    "Arrays with more axes are folded by Teem's unu first. The directions of one slice of a diffusion file as x - y - "
    "direction, with terms that cannot cancel each other:\n\n"
    "  unu slice -a 2 -p 1 -i dwi.nhdr | hotfiber cpd --rank 8 --non_negative -o slice",
    0};

/* One array of the result. */
static hot_status save(hot_context *context, const char *prefix, const char *name, const double *values, size_t rows,
                       size_t rank, int single)
{
    const size_t sizes[2] = {rows ? rows : rank, rank};
    const unsigned axes = rows ? 2 : 1;
    const size_t length = strlen(prefix) + strlen(name) + 8, count = sizes[0] * (rows ? rank : 1);
    char *path = hot_context_alloc(context, length, 1);
    float *narrow = single ? hot_context_alloc(context, count, sizeof *narrow) : NULL;
    Nrrd *nrrd = NULL;
    hot_status status = path && (narrow || !single) ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t i = 0; i < count && narrow; i++)
        narrow[i] = (float)values[i];
    if (status == HOT_OK) {
        snprintf(path, length, "%s_%s.nrrd", prefix, name);
        status = hot_nrrd_wrap(context, single ? (const void *)narrow : values, single ? nrrdTypeFloat : nrrdTypeDouble,
                               axes, sizes, &nrrd);
    }
    if (status == HOT_OK) {
        nrrd->axis[axes - 1].kind = nrrdKindList;
        status = hot_nrrd_set_key(context, nrrd, "hotfiber_version", hot_version());
        if (status == HOT_OK)
            status = hot_nrrd_save(context, nrrd, path, 0);
        nrrdNix(nrrd);
    }
    HOT_FREE(context, path, narrow);
    return status;
}

/* Whether the results can be written, before anything is computed. */
static hot_status check_place(hot_context *context, const char *prefix)
{
    const size_t length = strlen(prefix) + 16;
    hot_output output = {0};
    char *path = hot_context_alloc(context, length, 1);
    if (!path)
        return HOT_ERROR_MEMORY;
    snprintf(path, length, "%s_a.nrrd", prefix);
    hot_status status = hot_output_begin(context, path, &output);
    hot_output_discard(context, &output);
    hot_context_free(context, path);
    return status;
}

/* Saves all four arrays in a new context: a cancelled one does not write. */
static hot_status save_all(hot_context *context, const char *prefix, const size_t n[3], size_t rank, int single,
                           const double *lambda, double *const f[3])
{
    static const char *const names[3] = {"a", "b", "c"};
    const hot_context_options options = {.size = sizeof options, .log = cli_log};
    hot_context *writer = NULL;
    hot_status status = hot_context_create(&options, &writer);
    if (status != HOT_OK)
        return hot_context_fail(context, status, "out of memory for writing the results");
    for (int m = 0; m < 3 && status == HOT_OK; m++)
        status = save(writer, prefix, names[m], f[m], n[m], rank, single);
    if (status == HOT_OK)
        status = save(writer, prefix, "lambda", lambda, 0, rank, single);
    if (status != HOT_OK)
        hot_context_fail(context, status, "%s", hot_context_message(writer));
    hot_context_destroy(&writer);
    return status;
}

/* The line with the fit, and warnings. */
static void print_report(hot_context *context, const hot_cpd_report *report, size_t rank, int quiet)
{
    if (!quiet)
        printf("rank %zu: fit %.6f after %d iteration%s%s\n", rank, report->fit, report->iterations,
               report->iterations == 1 ? "" : "s", report->converged ? "" : ", not converged");
    if (report->nulls)
        hot_context_log(context, HOT_LOG_WARNING, "%d of %zu terms %s weight 0: the data hold no more", report->nulls,
                        rank, report->nulls == 1 ? "has" : "have");
    if (report->congruence > .97)
        hot_context_log(context, HOT_LOG_WARNING,
                        "two terms are nearly collinear (cosine %.4f): only their sum is meaningful; a lower rank or "
                        "--non_negative may help",
                        report->congruence);
    else if (report->regularised)
        hot_context_log(context, HOT_LOG_NOTE, "%d of the least-squares problems were singular and were regularised",
                        report->regularised);
}

static hot_status decompose(hot_context *context, const hot_cpd_options *options, const size_t n[3], int single,
                            const double *x, double *lambda, double *const f[3], hot_cpd_report *report)
{
    if (!single)
        return hot_cpd_f64(context, options, n[0], n[1], n[2], x, lambda, f[0], f[1], f[2], report);
    const size_t total = n[0] * n[1] * n[2],
                 counts[4] = {n[0] * options->rank, n[1] * options->rank, n[2] * options->rank, options->rank};
    float *narrow = hot_context_alloc(context, total, sizeof *narrow), *results[4];
    hot_status status = narrow ? HOT_OK : HOT_ERROR_MEMORY;
    for (int m = 0; m < 4; m++) {
        results[m] = hot_context_alloc(context, counts[m], sizeof **results);
        status = results[m] ? status : HOT_ERROR_MEMORY;
    }
    for (size_t i = 0; i < total && status == HOT_OK; i++)
        narrow[i] = (float)x[i];
    if (status == HOT_OK)
        status = hot_cpd_f32(context, options, n[0], n[1], n[2], narrow, results[3], results[0], results[1], results[2],
                             report);
    for (int m = 0; m < 4; m++) {
        for (size_t i = 0; i < counts[m] && (status == HOT_OK || status == HOT_ERROR_CANCELLED); i++)
            (m < 3 ? f[m] : lambda)[i] = (double)results[m][i];
        hot_context_free(context, results[m]);
    }
    hot_context_free(context, narrow);
    return status;
}

int cli_cpd(int argc, char **argv)
{
    const char *input = "-", *prefix = NULL, *start = "random", *precision = "double";
    hot_cpd_options cpd = {.size = sizeof cpd};
    const cli_option options[] = {
        {"i", CLI_TEXT, &input, "FILE",
         "the array, NRRD with three axes, any scalar type; default -, standard input", 0, 0},
        {"o", CLI_TEXT, &prefix, "PREFIX", "the beginning of the names of the results", 0, 0},
        {"rank", CLI_SIZE, &cpd.rank, "R", "the number of terms", 1, 100000},
        {"iterations", CLI_INT, &cpd.iterations, "N", "at most; default 500", 1, 1000000},
        {"tolerance", CLI_DOUBLE, &cpd.tolerance, "T",
         "stop when the fit changes by less than this in an iteration; default "
         "1e-10, or 1e-6 where --precision is not double", 1e-300, 1},
        {"start", CLI_CHOICE, &start, "random|hosvd", "default random, from --seed", 0, 0},
        {"non_negative", CLI_FLAG, &cpd.non_negative, NULL, "all factors >= 0", 0, 0},
        {"precision", CLI_CHOICE, &precision, "double|single|split|tf32",
         "of products with the array: split and tf32 use a GPU's tensor cores, "
         "split with single's accuracy; default double", 0, 0},
        CLI_END,
    };
    CLI_PARSE(cpd, options);
    hot_context *context = common.context;
    if (!cpd.rank)
        return cli_refuse(&cli_cpd_command, &common, "--rank is needed: the number of terms");
    if (!prefix)
        return cli_refuse(&cli_cpd_command, &common, "-o is needed: the beginning of the names of the four results");
    const int single = strcmp(precision, "double") != 0;
    Nrrd *nrrd = NULL;
    double *x = NULL, *lambda = NULL, *f[3] = {NULL, NULL, NULL};
    size_t n[3] = {0, 0, 0};
    hot_cpd_report report = {0};
    cpd.start = strcmp(start, "hosvd") == 0 ? HOT_CPD_HOSVD : HOT_CPD_RANDOM;
    cpd.arithmetic = strcmp(precision, "tf32") == 0 ? HOT_CPD_TF32
                     : strcmp(precision, "split") == 0 ? HOT_CPD_SPLIT : HOT_CPD_FULL;
    hot_status status = check_place(context, prefix);
    if (status == HOT_OK)
        status = hot_nrrd_load(context, input, &nrrd);
    if (status == HOT_OK && nrrd->dim != 3)
        status = hot_context_fail(context, HOT_ERROR_DATA,
                                  "'%s' has %u axes: three are needed (unu axmerge, slice and axinsert make them)",
                                  input, nrrd->dim);
    if (status != HOT_OK)
        goto cleanup;
    for (int m = 0; m < 3; m++)
        n[m] = nrrd->axis[m].size;
    status = cli_array_double(context, nrrd, n[0] * n[1] * n[2], &x);
    if (status != HOT_OK)
        goto cleanup;
    hot_nrrd_free(context, nrrd);
    nrrd = NULL;
    lambda = hot_context_alloc(context, cpd.rank, sizeof *lambda);
    for (int m = 0; m < 3; m++)
        f[m] = hot_context_alloc(context, n[m], cpd.rank * sizeof **f);
    if (!lambda || !f[0] || !f[1] || !f[2]) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    const hot_status outcome = decompose(context, &cpd, n, single, x, lambda, f, &report);
    status = outcome;
    if (outcome == HOT_OK || outcome == HOT_ERROR_CANCELLED) {
        const hot_status saved = save_all(context, prefix, n, cpd.rank, single, lambda, f);
        if (saved == HOT_OK)
            print_report(context, &report, cpd.rank, common.quiet);
        status = saved != HOT_OK ? saved
            : outcome == HOT_OK
            ? HOT_OK
            : hot_context_fail(context, HOT_ERROR_CANCELLED,
                               "stopped after %d iterations; '%s_*.nrrd' hold the best so far, fit %.6f",
                               report.iterations, prefix, report.fit);
    }
cleanup:
    hot_nrrd_free(context, nrrd);
    HOT_FREE(context, x, lambda);
    for (int m = 0; m < 3; m++)
        hot_context_free(context, f[m]);
    return cli_finish(&cli_cpd_command, &common, status);
}
