/* The promises of hotfiber_check.h: on a phantom of bundles with the right table, one with an axis flipped, one with
 * two rows exchanged and one of another scheme. */
#include <hotfiber/hotfiber.h>

#include "threads.h"

enum { NX = 26, NY = 26, NZ = 8, VOXELS = NX * NY * NZ, VOLUMES = 4 + 40 };

static float data[VOLUMES * VOXELS];
static double b[VOLUMES], g[3 * VOLUMES], table[3 * VOLUMES];
static hot_grid grid;

/* Signals of a phantom, in the order that hot_dwi_create takes. */
static void set_up(hot_context *context)
{
    const hot_phantom_options o = {.size = sizeof o,
                                   .layout = HOT_PHANTOM_BUNDLES,
                                   .volume = {NX, NY, NZ},
                                   .b0 = 4,
                                   .directions = VOLUMES - 4,
                                   .shell_b = (double[]){1500},
                                   .shells = 1};
    hot_phantom *phantom = NULL;
    float *rows = malloc(sizeof data);
    CHECK(hot_phantom_create(context, &o, &phantom) == HOT_OK, "%s", hot_context_message(context));
    const hot_dwi *dwi = hot_phantom_dwi(phantom);
    CHECK(hot_dwi_read(context, dwi, 0, VOXELS, rows) == HOT_OK, "signals");
    grid = *hot_dwi_grid(dwi);
    memcpy(b, hot_dwi_b(dwi), sizeof b), memcpy(g, hot_dwi_gradients(dwi), sizeof g);
    for (int v = 0; v < VOLUMES; v++)
        for (int n = 0; n < VOXELS; n++)
            data[v * VOXELS + n] = rows[n * VOLUMES + v];
    free(rows);
    hot_phantom_destroy(&phantom);
}

static hot_dwi *make(hot_context *context, const float *signals, const double *gradients)
{
    hot_dwi *dwi = NULL;
    CHECK(hot_dwi_create(context, &grid, VOLUMES, b, gradients, signals, &dwi) == HOT_OK, "%s",
          hot_context_message(context));
    return dwi;
}

static hot_check_gradients compare(hot_context *context, const float *signals, const double *gradients, size_t most)
{
    hot_check_gradients result = HOT_CHECK_GRADIENTS_INIT;
    hot_dwi *dwi = make(context, signals, gradients);
    hot_mask *mask = NULL;
    CHECK(hot_mask_estimate(context, dwi, &mask) == HOT_OK &&
              hot_check_gradient_table(context, dwi, mask, most, &result) == HOT_OK,
          "%s", hot_context_message(context));
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    return result;
}

/* "x, -y, z" as rows of a matrix */
static void parse(const char *rows, int matrix[3][3])
{
    memset(matrix, 0, 9 * sizeof(int));
    for (int r = 0; r < 3; r++) {
        const int negative = *rows == '-';
        rows += negative;
        CHECK(*rows >= 'x' && *rows <= 'z', "rows '%s'", rows);
        matrix[r][*rows - 'x'] = negative ? -1 : 1;
        rows += r < 2 ? 3 : 1;
    }
    CHECK(*rows == '\0', "rows end with '%s'", rows);
}

static void test_gradients(hot_context *context)
{
    const hot_check_gradients right = compare(context, data, g, 0);
    int told = 0;
    CHECK(right.verdict == HOT_CHECK_LIKELIEST && right.given == 0, "verdict %d, place %d: %s", (int)right.verdict,
          right.given, right.reason);
    for (int t = 0; t < HOT_CHECK_TABLES; t++) {
        int matrix[3][3];
        parse(right.table[t].rows, matrix);
        CHECK(memcmp(matrix, right.table[t].matrix, sizeof matrix) == 0, "table %d: %s", t, right.table[t].rows);
        CHECK(right.table[t].z <= 0, "table %d: more probable than the first: %g", t, right.table[t].z);
        CHECK(!right.table[t].told || (t > 0 && fabs(right.table[t].z) > right.limit), "table %d: z %g", t,
              right.table[t].z);
        told += right.table[t].told;
    }
    CHECK(2 * told >= HOT_CHECK_TABLES - 1, "%d of 23 are clearly less likely", told);
    CHECK(right.table[0].z == 0 && strcmp(right.table[0].name, "as given") == 0, "the one given: %s",
          right.table[0].name);
    /* the first axis of the table turned round: what rights it is that flip */
    for (int v = 0; v < VOLUMES; v++)
        for (int d = 0; d < 3; d++)
            table[3 * v + d] = d == 0 ? -g[3 * v] : g[3 * v + d];
    const hot_check_gradients flipped = compare(context, data, table, 0);
    const int mirror[3][3] = {{-1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    CHECK(flipped.verdict == HOT_CHECK_WRONG && memcmp(flipped.table[0].matrix, mirror, sizeof mirror) == 0 &&
              flipped.table[0].z > flipped.limit,
          "verdict %d: '%s'", (int)flipped.verdict, flipped.table[0].rows);
}

/* How many voxels, of a mask of 590,000 in 384 cubes that are drawn one by one: a quarter of these, +- 9 per cent. */
static void test_number(hot_context *context)
{
    enum { SIDE = 96, SLICES = 64, FEW = 8, ALL = SIDE * SIDE * SLICES };
    const hot_grid large = {.size = {SIDE, SIDE, SLICES}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}};
    float *signals = malloc((size_t)FEW * ALL * sizeof *signals);
    double few_b[FEW] = {0}, directions[3 * FEW] = {0};
    size_t voxels[3];
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    for (int v = 0; v < FEW; v++) {
        few_b[v] = v ? 1000 : 0;
        directions[3 * v + v % 3] = 1, directions[3 * v + (v + 1) % 3] = v < 4 ? 0 : v < 7 ? 1 : -1;
        for (size_t n = 0; n < ALL; n++)
            signals[(size_t)v * ALL + n] = v ? 400 + 20 * (float)((n * 7 + (size_t)v * 3) % 11) : 1000;
    }
    CHECK(hot_dwi_create(context, &large, FEW, few_b, directions, signals, &dwi) == HOT_OK &&
              hot_mask_full(context, &large, &mask) == HOT_OK,
          "%s", hot_context_message(context));
    for (int i = 0; i < 3; i++) {
        static const size_t most[3] = {0, 150000, 50000};
        hot_check_gradients result = HOT_CHECK_GRADIENTS_INIT;
        CHECK(hot_check_gradient_table(context, dwi, mask, most[i], &result) == HOT_OK, "%s",
              hot_context_message(context));
        voxels[i] = result.voxels;
    }
    CHECK(voxels[0] == voxels[1], "0 is 150000: %zu, %zu", voxels[0], voxels[1]);
    CHECK(fabs((double)voxels[1] / 150000 - 1) < .3 && fabs((double)voxels[2] / 50000 - 1) < .5, "%zu and %zu voxels",
          voxels[1], voxels[2]);
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    free(signals);
}

/* Fibres that do not run on from voxel to voxel say nothing about the table, whatever the signals. */
static void test_scattered(hot_context *context)
{
    float *scattered = malloc(sizeof data);
    uint64_t state = 3;
    int *place = malloc(VOXELS * sizeof *place);
    for (int n = 0; n < VOXELS; n++)
        place[n] = n;
    for (int n = VOXELS - 1; n > 0; n--) {
        const int other = (int)(check_random(&state) * (n + 1)), kept = place[n];
        place[n] = place[other], place[other] = kept;
    }
    for (int v = 0; v < VOLUMES; v++)
        for (int n = 0; n < VOXELS; n++)
            scattered[v * VOXELS + n] = data[v * VOXELS + place[n]];
    hot_check_gradients result = HOT_CHECK_GRADIENTS_INIT;
    hot_dwi *dwi = make(context, scattered, g);
    hot_mask *mask = NULL;
    CHECK(hot_mask_full(context, &grid, &mask) == HOT_OK &&
              hot_check_gradient_table(context, dwi, mask, 0, &result) == HOT_OK,
          "%s", hot_context_message(context));
    CHECK(result.verdict == HOT_CHECK_UNSURE && result.reason[0], "verdict %d", (int)result.verdict);
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    free(place), free(scattered);
}

static hot_check_rows rows_of(hot_context *context, const double *gradients, int masked, size_t most, int *row)
{
    hot_check_rows result = HOT_CHECK_ROWS_INIT;
    hot_dwi *dwi = make(context, data, gradients);
    hot_mask *mask = NULL;
    result.row = row;
    if (masked)
        CHECK(hot_mask_full(context, &grid, &mask) == HOT_OK, "mask");
    CHECK(hot_check_volume_rows(context, dwi, mask, most, &result) == HOT_OK, "%s", hot_context_message(context));
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    result.row = NULL;
    return result;
}

static void test_rows(hot_context *context)
{
    int row[VOLUMES];
    const hot_check_rows right = rows_of(context, g, 0, 0, row);
    CHECK(right.verdict == HOT_CHECK_ROWS_AGREE && right.z > 3 && right.gain > 0 && !right.text[0] && right.series == 0,
          "verdict %d, z %g, gain %g: %s", (int)right.verdict, right.z, right.gain, right.text);
    for (int v = 0; v < VOLUMES; v++)
        CHECK(row[v] == v, "volume %d looks like row %d", v, row[v]);
    /* no mask, a mask of all, 2000 voxels and no room for the rows: the same */
    const hot_check_rows masked = rows_of(context, g, 1, 2000, NULL);
    CHECK(memcmp(&masked, &right, sizeof right) == 0, "NULL = all, 0 = 2000");
    CHECK(right.voxels <= 2000 && right.voxels > 1000, "%zu voxels of 2000", right.voxels);
    const hot_check_rows few = rows_of(context, g, 0, 300, NULL);
    CHECK(few.voxels <= 300 && few.voxels > 100, "%zu voxels of 300", few.voxels);
    CHECK(few.gain > .3 * right.gain && few.gain < 3 * right.gain, "per voxel: %g of %zu, %g of %zu", few.gain,
          few.voxels, right.gain, right.voxels);
    /* axes exchanged and flipped do not matter */
    for (int v = 0; v < VOLUMES; v++)
        table[3 * v] = g[3 * v + 1], table[3 * v + 1] = -g[3 * v], table[3 * v + 2] = g[3 * v + 2];
    const hot_check_rows turned = rows_of(context, table, 0, 0, row);
    CHECK(turned.verdict == HOT_CHECK_ROWS_AGREE && fabs(turned.gain / right.gain - 1) < .01, "turned: verdict %d",
          (int)turned.verdict);
    /* two rows exchanged: those volumes, and what they look like */
    memcpy(table, g, sizeof table);
    memcpy(table + 3 * 10, g + 3 * 20, 3 * sizeof *g), memcpy(table + 3 * 20, g + 3 * 10, 3 * sizeof *g);
    const hot_check_rows changed = rows_of(context, table, 0, 0, row);
    CHECK(changed.verdict == HOT_CHECK_ROWS_VOLUMES && changed.text[0] && !strchr(changed.text, '\n'), "verdict %d: %s",
          (int)changed.verdict, changed.text);
    for (int v = 0; v < VOLUMES; v++)
        CHECK(row[v] == (v == 10 ? 20 : v == 20 ? 10 : v), "volume %d looks like row %d", v, row[v]);
    /* directions of something else explain no more than permuted ones */
    uint64_t state = 11;
    for (int v = 0; v < VOLUMES; v++)
        check_random_unit(&state, table + 3 * v);
    const hot_check_rows foreign = rows_of(context, table, 0, 0, row);
    CHECK(foreign.verdict >= HOT_CHECK_ROWS_ORDER && fabs(foreign.z) < 4 && foreign.gain < .2 * right.gain,
          "verdict %d, z %g, gain %g of %g", (int)foreign.verdict, foreign.z, foreign.gain, right.gain);
}

static hot_status both(hot_context *context, void *out)
{
    struct both {
        hot_check_gradients table;
        hot_check_rows rows;
    } *to = out;
    memset(out, 0, sizeof *to);
    to->table = compare(context, data, g, 1500);
    to->rows = rows_of(context, g, 0, 400, NULL);
    return HOT_OK;
}

/* The drift needs a line and one point more: three b=0 volumes, and not all at one end of the scan. */
static void test_drift(hot_context *context)
{
    static const double weighted[3] = {0, 0, 1};
    for (int b0 = 1; b0 <= 5; b0++) {
        double percent = 7, t = 7, table_b[VOLUMES], directions[3 * VOLUMES];
        float *signals = malloc(sizeof data);
        hot_check_findings *findings = NULL;
        hot_mask *mask = NULL;
        hot_dwi *dwi = NULL;
        for (int v = 0; v < VOLUMES; v++) { /* spread over the scan; with 5 they are the first ones */
            const int is_b0 = b0 < 5 ? v % (VOLUMES / b0) == 0 && v / (VOLUMES / b0) < b0 : v < b0;
            table_b[v] = is_b0 ? 0 : 1500;
            memcpy(directions + 3 * v, is_b0 || b[v] == 0 ? weighted : g + 3 * v, sizeof weighted);
            memcpy(signals + v * VOXELS, data + (is_b0 ? 0 : v < 4 ? 4 + v : v) * VOXELS, VOXELS * sizeof *data);
        }
        CHECK(hot_dwi_create(context, &grid, VOLUMES, table_b, directions, signals, &dwi) == HOT_OK &&
                  hot_mask_full(context, &grid, &mask) == HOT_OK &&
                  hot_check_volumes(context, dwi, mask, &findings) == HOT_OK,
              "%s", hot_context_message(context));
        hot_check_findings_drift(findings, &percent, &t);
        const int none = b0 < 3 || b0 == 5;
        CHECK(none ? isnan(percent) && isnan(t) : fabs(percent) < 1e-3 && isfinite(t), "%d b=0 volumes: %g %%, t %g",
              b0, percent, t);
        hot_check_findings_destroy(&findings);
        hot_mask_destroy(&mask);
        hot_dwi_destroy(&dwi);
        free(signals);
    }
}

static int warnings;

static void count_warnings(void *user, hot_log_level level, const char *text)
{
    (void)user, (void)text;
    warnings += level == HOT_LOG_WARNING;
}

/* hot_run_compute: rows in another order than the volumes: an error that names force_table, or with it a warning. */
static void test_table(void)
{
    static const double shell = 2500;
    const hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU, .threads = 2, .log = count_warnings};
    hot_context *context = NULL;
    CHECK(hot_context_create(&how, &context) == HOT_OK, "a context");
    const hot_phantom_options p = {.size = sizeof p,
                                   .layout = HOT_PHANTOM_BUNDLES,
                                   .volume = {20, 20, 8},
                                   .shell_b = &shell,
                                   .shells = 1,
                                   .directions = 45,
                                   .b0 = 3};
    hot_phantom *made = NULL;
    hot_dwi *shifted = NULL;
    CHECK(hot_phantom_create(context, &p, &made) == HOT_OK, "%s", hot_context_message(context));
    const hot_dwi *right = hot_phantom_dwi(made);
    const size_t volumes = hot_dwi_volumes(right), voxels = 20 * 20 * 8;
    float *rows = malloc(voxels * volumes * sizeof *rows), *signals = malloc(voxels * volumes * sizeof *data);
    double *moved = malloc(3 * volumes * sizeof *moved);
    CHECK(hot_dwi_read(context, right, 0, voxels, rows) == HOT_OK, "signals");
    for (size_t v = 0; v < volumes; v++) {
        memcpy(moved + 3 * v,
               hot_dwi_gradients(right) + 3 * (v < 3    ? v
                                               : v == 3 ? volumes - 1
                                                        : v - 1),
               3 * sizeof *moved);
        for (size_t n = 0; n < voxels; n++)
            signals[v * voxels + n] = rows[n * volumes + v];
    }
    CHECK(hot_dwi_create(context, hot_dwi_grid(right), volumes, hot_dwi_b(right), moved, signals, &shifted) == HOT_OK,
          "%s", hot_context_message(context));
    for (int force = 0; force < 2; force++) {
        const hot_fit_options fit = {.size = sizeof fit, .order = 4};
        const hot_peaks_options peaks = {.size = sizeof peaks, .method = "maxima"};
        const hot_run_options o = {.size = sizeof o,
                                   .fit = &fit,
                                   .peaks = &peaks,
                                   .axial_diffusivity = 1.7e-3,
                                   .radial_diffusivity = .2e-3,
                                   .force_table = force};
        hot_run_fields fields;
        warnings = 0;
        const hot_status status = hot_run_compute(context, shifted, &o, &fields, NULL);
        CHECK(force ? status == HOT_OK && warnings > 0
                    : status == HOT_ERROR_DATA && !fields.fibers &&
                          strcmp(hot_context_parameter(context), "force_table") == 0,
              "force %d: %d, '%s', %d warnings: %s", force, (int)status, hot_context_parameter(context), warnings,
              hot_context_message(context));
        hot_run_fields_free(&fields);
    }
    free(rows), free(signals), free(moved);
    hot_dwi_destroy(&shifted);
    hot_phantom_destroy(&made);
    hot_context_destroy(&context);
}

int main(void)
{
    hot_context *context = context_of(2);
    set_up(context);
    test_gradients(context);
    test_number(context);
    test_scattered(context);
    test_rows(context);
    check_threads("checks", both, sizeof(hot_check_gradients) + sizeof(hot_check_rows));
    test_drift(context);
    test_table();
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}
