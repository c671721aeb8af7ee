/* The promises of hotfiber_phantom.h: defaults, compartments and their ranges by the formulas of the header, shares,
 * files and their keys, refusals. */
#include <unistd.h>

#include <hotfiber/hotfiber.h>

#include "starve.h"
#include "threads.h"

enum { VOXELS = 120 };

static const double pi = 3.14159265358979323846, infinite = INFINITY;
static const hot_phantom_condition single = {1, {0, 0}, {0, 0}, {0, 0}};

static hot_phantom *make(hot_context *context, const hot_phantom_options *o)
{
    hot_phantom *phantom = NULL;
    CHECK(hot_phantom_create(context, o, &phantom) == HOT_OK, "%s", hot_context_message(context));
    return phantom;
}

static size_t voxels_of(const hot_phantom *phantom)
{
    const size_t *size = hot_dwi_grid(hot_phantom_dwi(phantom))->size;
    return size[0] * size[1] * size[2];
}

static float *signals_of(hot_context *context, const hot_phantom *phantom)
{
    const hot_dwi *dwi = hot_phantom_dwi(phantom);
    float *rows = malloc(voxels_of(phantom) * hot_dwi_volumes(dwi) * sizeof *rows);
    CHECK(hot_dwi_read(context, dwi, 0, voxels_of(phantom), rows) == HOT_OK, "signals");
    return rows;
}

static int same(hot_context *context, const hot_phantom_options *one, const hot_phantom_options *other)
{
    hot_phantom *phantoms[2] = {make(context, one), make(context, other)};
    const hot_dwi *dwi[2] = {hot_phantom_dwi(phantoms[0]), hot_phantom_dwi(phantoms[1])};
    const size_t volumes = hot_dwi_volumes(dwi[0]), voxels = voxels_of(phantoms[0]);
    int equal = hot_dwi_volumes(dwi[1]) == volumes && voxels_of(phantoms[1]) == voxels;
    if (equal) {
        float *rows[2] = {signals_of(context, phantoms[0]), signals_of(context, phantoms[1])};
        equal = memcmp(rows[0], rows[1], voxels * volumes * sizeof **rows) == 0 &&
                memcmp(hot_dwi_gradients(dwi[0]), hot_dwi_gradients(dwi[1]), 3 * volumes * sizeof(double)) == 0 &&
                memcmp(hot_phantom_tissue_map(phantoms[0]), hot_phantom_tissue_map(phantoms[1]),
                       voxels * HOT_PHANTOM_MAP * sizeof(float)) == 0;
        free(rows[0]), free(rows[1]);
    }
    hot_phantom_destroy(&phantoms[0]), hot_phantom_destroy(&phantoms[1]);
    return equal;
}

/* NULL, zeros and what the header says they are: the same numbers; and every one of these matters. */
static void test_defaults(hot_context *context)
{
    static const double close_snr = 30.01, close_b = 2999;
    hot_phantom_options zeros = HOT_PHANTOM_OPTIONS_INIT, said = HOT_PHANTOM_OPTIONS_INIT, other;
    said.conditions = hot_phantom_default_conditions(&said.condition_count);
    said.voxels = 200, said.snr = (double[]){30}, said.snr_count = 1, said.shell_b = (double[]){3000}, said.shells = 1;
    said.directions = 64, said.b0 = 8, said.s0 = 1000, said.axial = 1.7e-3, said.radial = .2e-3;
    CHECK(said.condition_count == 6 && same(context, NULL, &zeros) && same(context, &zeros, &said), "defaults");
    for (int which = 0; which < 9; which++) {
        other = said;
        switch (which) {
        case 0:
            other.conditions++, other.condition_count--;
            break;
        case 1:
            other.voxels--;
            break;
        case 2:
            other.snr = &close_snr;
            break;
        case 3:
            other.shell_b = &close_b;
            break;
        case 4:
            other.directions--;
            break;
        case 5:
            other.b0--;
            break;
        case 6:
            other.s0 = 1001;
            break;
        case 7:
            other.axial = 1.701e-3;
            break;
        default:
            other.radial = .201e-3;
        }
        CHECK(!same(context, &said, &other), "field %d does not matter", which);
    }
    hot_phantom_options noddi = {.size = sizeof noddi, .tissue = HOT_TISSUE_NODDI, .voxels = 20}, range = noddi;
    range.intra[0] = .4, range.intra[1] = .7;
    CHECK(same(context, &noddi, &range), "intra 0 is .4-.7");
    range.intra[1] = .71;
    CHECK(!same(context, &noddi, &range), "the range matters");
    hot_phantom_options bundles = {.size = sizeof bundles, .layout = HOT_PHANTOM_BUNDLES, .directions = 6, .b0 = 1};
    hot_phantom *phantom = make(context, &bundles);
    const size_t *size = hot_dwi_grid(hot_phantom_dwi(phantom))->size;
    CHECK(size[0] == 40 && size[1] == 40 && size[2] == 12, "%zu x %zu x %zu", size[0], size[1], size[2]);
    hot_phantom_destroy(&phantom);
}

/* The mean of exp(-b (across + (along - across) (g.u)^2)) over u tilted from v: by normal angles about two axes, or by
 * Watson's distribution. */
static double dispersed(double b, double along, double across, double cosine, double degrees, int watson)
{
    enum { TILTS = 1500, TURNS = 60 };
    const double s = degrees * pi / 180, sine = sqrt(fmax(0, 1 - cosine * cosine)),
                 far = fmin(8 * s, watson ? pi / 2 : pi);
    double sum = 0, weights = 0;
    if (degrees == 0)
        return exp(-b * (across + (along - across) * cosine * cosine));
    for (int i = 0; i < TILTS; i++)
        for (int j = 0; j < TURNS; j++) {
            const double tilt = far * (i + .5) / TILTS, turn = 2 * pi * (j + .5) / TURNS;
            const double u = cos(tilt) * cosine + sin(tilt) * cos(turn) * sine;
            const double w = watson ? exp(cos(tilt) * cos(tilt) / (2 * s * s) - 1 / (2 * s * s)) * sin(tilt)
                                    : tilt * exp(-tilt * tilt / (2 * s * s));
            sum += w * exp(-b * (across + (along - across) * u * u)), weights += w;
        }
    return sum / weights;
}

/* Fibres, grey matter and free water of a voxel by its map, against its signals without noise. */
static void test_compartments(hot_context *context)
{
    static const struct {
        hot_phantom_tissue tissue;
        double low, high; /* dispersion */
    } cases[] = {{HOT_TISSUE_ZEPPELIN, 0, 0},
                 {HOT_TISSUE_ZEPPELIN, 5, 20},
                 {HOT_TISSUE_BALL_STICK, 8, 25},
                 {HOT_TISSUE_STICK_ZEPPELIN, 0, 0},
                 {HOT_TISSUE_STICK_ZEPPELIN, 3, 12}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const hot_phantom_options o = {.size = sizeof o,
                                       .conditions = &single,
                                       .condition_count = 1,
                                       .voxels = VOXELS,
                                       .snr = &infinite,
                                       .snr_count = 1,
                                       .shell_b = (double[]){2000},
                                       .shells = 1,
                                       .directions = 10,
                                       .b0 = 1,
                                       .tissue = cases[c].tissue,
                                       .csf = {.1, .3},
                                       .grey = {.05, .2},
                                       .dispersion = {cases[c].low, cases[c].high},
                                       .radial = .3e-3};
        hot_phantom *phantom = make(context, &o);
        const hot_dwi *dwi = hot_phantom_dwi(phantom);
        float *rows = signals_of(context, phantom), low[12], high[12];
        for (size_t n = 0; n < VOXELS; n++) {
            const float *map = hot_phantom_tissue_map(phantom) + HOT_PHANTOM_MAP * n;
            const float *t = hot_fiber_field_peaks(hot_phantom_truth(phantom)) + 9 * n;
            const double w = hypot(hypot((double)t[0], (double)t[1]), (double)t[2]);
            for (int i = 0; i < 12; i++)
                low[i] = n ? fminf(low[i], map[i]) : map[i], high[i] = n ? fmaxf(high[i], map[i]) : map[i];
            CHECK_NEAR(map[0], w, 1e-6, "case %zu: the true fraction is the direction's length", c);
            const double fibre = 1 - (double)map[9] - (double)map[10], inside = cases[c].tissue ? (double)map[6] : 1;
            CHECK_NEAR(w, cases[c].tissue == HOT_TISSUE_BALL_STICK ? fibre * inside : fibre, 1e-6, "case %zu: %g", c,
                       w);
            for (size_t v = 1; v < hot_dwi_volumes(dwi) && n % 20 == 0; v++) {
                const double *g = hot_dwi_gradients(dwi) + 3 * v;
                const double u = (t[0] * g[0] + t[1] * g[1] + t[2] * g[2]) / w, d = 1.7e-3, b = 2000;
                const double stick = dispersed(b, d, cases[c].tissue ? 0 : .3e-3, u, (double)map[3],
                                               cases[c].tissue != 0);
                double s = (double)map[9] * exp(-b * .8e-3) + (double)map[10] * exp(-b * 3e-3) + fibre * inside * stick;
                if (cases[c].tissue)
                    s += fibre * (1 - inside) *
                         (cases[c].tissue == HOT_TISSUE_BALL_STICK ? exp(-b * d)
                                                                   : dispersed(b, d, .3e-3, u, (double)map[3], 1));
                CHECK_NEAR(rows[n * 11 + v], 1000 * s, .5, "case %zu, voxel %zu, volume %zu: %g, not %g", c, n, v,
                           (double)rows[n * 11 + v], 1000 * s);
            }
            CHECK_NEAR(rows[n * 11], 1000, 1e-3, "b=0");
            CHECK(map[1] == 0 && map[2] == 0 && map[4] == 0 && map[8] == 0 && map[11] == 0,
                  "no second fibre, no noise");
        }
        static const double csf[2] = {.1, .3}, grey[2] = {.05, .2};
        CHECK(low[10] >= csf[0] && high[10] <= csf[1] && low[10] < .11 && high[10] > .29, "free water %g-%g",
              (double)low[10], (double)high[10]);
        CHECK(low[9] >= .0499999f && high[9] <= grey[1] && low[9] < .06 && high[9] > .19, "grey matter %g-%g",
              (double)low[9], (double)high[9]);
        const double span = cases[c].high - cases[c].low;
        CHECK(low[3] >= cases[c].low - 1e-4 && high[3] <= cases[c].high + 1e-4 && high[3] - low[3] >= .9 * span,
              "dispersion %g-%g degrees", (double)low[3], (double)high[3]);
        CHECK(cases[c].tissue ? low[6] >= .4f && low[6] < .43f && high[6] <= .7f && high[6] > .67f : high[6] == 0,
              "intra-axonal %g-%g", (double)low[6], (double)high[6]);
        free(rows);
        hot_phantom_destroy(&phantom);
    }
    /* for small angles Watson's distribution is that of the angles */
    for (int i = 0; i <= 8; i++)
        CHECK_NEAR(dispersed(2000, 1.7e-3, 0, i / 8., 3, 1), dispersed(2000, 1.7e-3, 0, i / 8., 3, 0), 2e-3, "small");
}

/* How often each condition occurs: as told, or equally. */
static void test_shares(hot_context *context)
{
    const hot_phantom_condition conditions[3] = {
        single, {2, {60, 90}, {.5, .6}, {0, 0}}, {3, {60, 90}, {.35, .4}, {0, 0}}};
    static const double shares[3][3] = {{1, 1, 1}, {0, 3, 1}, {5, 0, 0}};
    for (int way = 0; way < 4; way++) {
        const double *share = way ? shares[way - 1] : NULL, all = way == 0 || way == 1 ? 3 : way == 2 ? 4 : 5;
        const hot_phantom_options o = {.size = sizeof o,
                                       .layout = HOT_PHANTOM_MIXTURE,
                                       .volume = {20, 20, 10},
                                       .conditions = conditions,
                                       .condition_count = 3,
                                       .share = share,
                                       .directions = 6,
                                       .b0 = 1,
                                       .snr = (double[]){20},
                                       .snr_count = 1,
                                       .noise_slope = .5};
        hot_phantom *phantom = make(context, &o);
        double counts[4] = {0};
        for (int n = 0; n < 4000; n++)
            counts[hot_fiber_field_counts(hot_phantom_truth(phantom))[n]]++;
        for (int k = 0; k < 3; k++) { /* four standard deviations */
            const double p = (share ? share[k] : 1) / all;
            CHECK_NEAR(counts[k + 1] / 4000, p, 4 * sqrt(p * (1 - p) / 4000), "way %d: condition %d: %g of 4000", way,
                       k, counts[k + 1]);
        }
        /* the noise in the map: linear along the first axis, from half to one and a half of 50 */
        for (int n = 0; n < 4000; n++)
            CHECK_NEAR(hot_phantom_tissue_map(phantom)[HOT_PHANTOM_MAP * n + 11], 50 * (.5 + n % 20 / 19.), 1e-3,
                       "the noise of voxel %d", n);
        hot_phantom_destroy(&phantom);
    }
}

/* Every invalid range or size, and a word of the message that says which. */
static void test_refusals(hot_context *context)
{
    static const double negative = -1, none = 0;
    static const hot_phantom_condition bad[4] = {{4, {0, 0}, {0, 0}, {0, 0}},
                                                 {2, {40, 30}, {.5, .6}, {0, 0}},
                                                 {2, {60, 90}, {0, .6}, {0, 0}},
                                                 {0, {0, 0}, {0, 0}, {-1e-3, 0}}};
    static const char *const words[] = {"SNR",       "b-values", "S0",     "axial",      "radial",
                                        "variation", "CSF",      "grey",   "dispersion", "intra",
                                        "weights",   "slope",    "shares", "layout",     "tissue",
                                        "voxels",    "fibres",   "angles", "fractions",  "diffusivities"};
    for (int which = 0; which < 20; which++) {
        hot_phantom_options o = HOT_PHANTOM_OPTIONS_INIT;
        hot_phantom *phantom = (hot_phantom *)&o;
        switch (which) {
        case 0:
            o.snr = &negative, o.snr_count = 1;
            break;
        case 1:
            o.shell_b = &negative, o.shells = 1;
            break;
        case 2:
            o.s0 = -1;
            break;
        case 3:
            o.axial = NAN;
            break;
        case 4:
            o.radial = -1e-9;
            break;
        case 5:
            o.vary = .31;
            break;
        case 6:
            o.csf[0] = .2, o.csf[1] = .1;
            break;
        case 7:
            o.grey[1] = .5, o.csf[1] = .5;
            break;
        case 8:
            o.dispersion[1] = 46;
            break;
        case 9:
            o.tissue = HOT_TISSUE_NODDI, o.intra[0] = .5, o.intra[1] = 1.1;
            break;
        case 10:
            o.weight[1] = 1;
            break;
        case 11:
            o.noise_slope = .91;
            break;
        case 12:
            o.layout = HOT_PHANTOM_MIXTURE, o.share = &none, o.conditions = &single, o.condition_count = 1;
            break;
        case 13:
            o.layout = (hot_phantom_layout)3;
            break;
        case 14:
            o.tissue = (hot_phantom_tissue)4;
            break;
        case 15:
            o.voxels = (size_t)1 << 62;
            break;
        default:
            o.conditions = bad + which - 16, o.condition_count = 1;
        }
        CHECK(hot_phantom_create(context, &o, &phantom) == HOT_ERROR_ARGUMENT && !phantom, "%s: %s", words[which],
              hot_context_message(context));
        CHECK(strstr(hot_context_message(context), words[which]), "%s: %s", words[which], hot_context_message(context));
    }
}

static char *text_of(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    CHECK(file && size > 0, "%s", path);
    if (file)
        fclose(file);
    for (size_t i = 0; i < size; i++)
        text[i] = text[i] ? text[i] : ' ';
    text[size] = '\0';
    return text;
}

/* Files hold the same data; NRRD's have the requested type and say how the phantom was made. */
static void test_files(hot_context *context)
{
    static const char *const names[] = {"promised.nrrd", "promised.nii.gz", "promised.nii"};
    static const char *const keys[] = {"hotfiber_phantom_seed:=0", "hotfiber_phantom_snr:=20",
                                       "hotfiber_phantom_dispersion:=3-7", "hotfiber_phantom_csf:=0-0.25"};
    const hot_phantom_options o = {.size = sizeof o,
                                   .conditions = &single,
                                   .condition_count = 1,
                                   .voxels = 30,
                                   .snr = (double[]){20},
                                   .snr_count = 1,
                                   .directions = 7,
                                   .b0 = 2,
                                   .oblique = 1,
                                   .dispersion = {3, 7},
                                   .csf = {0, .25}};
    hot_phantom *phantom = make(context, &o);
    float *rows = signals_of(context, phantom), again[30 * 9];
    double sign[2][3];
    hot_space_ras_sign(hot_dwi_grid(hot_phantom_dwi(phantom))->space, sign[0]);
    for (int f = 0; f < 3; f++)
        for (int way = 0; way < 8; way++) {
            const hot_phantom_save_options s = {
                .size = sizeof s, .integers = way & 1, .compress = way >> 1 & 1, .turned_frame = way >> 2 & 1};
            hot_dwi *dwi = NULL;
            CHECK(hot_phantom_save(context, phantom, way ? &s : NULL, names[f]) == HOT_OK &&
                      hot_dwi_load(context, names[f], NULL, NULL, &dwi) == HOT_OK &&
                      hot_dwi_read(context, dwi, 0, 30, again) == HOT_OK,
                  "%s", hot_context_message(context));
            hot_space_ras_sign(hot_dwi_grid(dwi)->space, sign[1]);
            for (int i = 0; i < 30 * 9; i++)
                CHECK(again[i] == (f == 0 && s.integers ? rintf(rows[i]) : rows[i]), "%s, way %d: %g, not %g", names[f],
                      way, (double)again[i], (double)rows[i]);
            for (int i = 0; i < 27; i++)
                CHECK_NEAR(sign[1][i % 3] * hot_dwi_gradients(dwi)[i],
                           sign[0][i % 3] * hot_dwi_gradients(hot_phantom_dwi(phantom))[i], 1e-6, "%s, way %d",
                           names[f], way);
            hot_dwi_destroy(&dwi);
            const char *text = f == 0 ? text_of(names[f]) : NULL;
            for (int k = 0; k < 4 && text; k++)
                CHECK(strstr(text, keys[k]), "no %s", keys[k]);
            CHECK(!text || ((strstr(text, "encoding: gz") != NULL) == s.compress &&
                            (strstr(text, "type: float") == NULL) == s.integers),
                  "way %d", way);
        }
    CHECK(access("promised.bval", R_OK) == 0 && access("promised.bvec", R_OK) == 0, "tables beside NIfTI");
    unlink("promised.bval"), unlink("promised.bvec"); /* or they say that the truth is data, too */
    for (int f = 0; f < 3; f++) {
        hot_fiber_field *truth = NULL;
        CHECK(hot_phantom_save_truth(context, phantom, names[f]) == HOT_OK &&
                  hot_fiber_field_load(context, names[f], &truth) == HOT_OK && hot_fiber_field_max(truth) == 3,
              "%s: %s", names[f], hot_context_message(context));
        hot_space_ras_sign(hot_fiber_field_grid(truth)->space, sign[1]);
        for (int n = 0; n < 30; n++) {
            const float *is = hot_fiber_field_peaks(truth) + 9 * n;
            const float *was = hot_fiber_field_peaks(hot_phantom_truth(phantom)) + 9 * n;
            double dot = 0, square = 0;
            for (int d = 0; d < 3; d++) {
                dot += (double)is[d] * sign[1][d] * (double)was[d] * sign[0][d];
                square += (double)was[d] * (double)was[d];
            }
            CHECK_NEAR(fabs(dot), square, 1e-5, "%s: voxel %d", names[f], n);
        }
        CHECK(f == 0 || hot_fiber_field_grid(truth)->space == HOT_SPACE_RAS, "NIfTI is in scanner RAS");
        hot_fiber_field_destroy(&truth);
        for (int k = 0; k < 4 && f == 0; k++)
            CHECK(strstr(text_of(names[f]), keys[k]), "no %s with the truth", keys[k]);
        unlink(names[f]);
    }
    free(rows);
    hot_phantom_destroy(&phantom);
}

/* Directions need memory: without it an error, and nothing is lost. */
static void test_memory(void)
{
    double directions[3 * 30];
    int failed = 0;
    for (long k = 1; k < 20; k++) {
        starved s = {.fail_at = k};
        const hot_context_options how = {.size = sizeof how,
                                         .device = HOT_DEVICE_CPU,
                                         .allocate = starved_take,
                                         .release = starved_give,
                                         .allocator_user = &s};
        hot_context *context = NULL;
        CHECK(hot_context_create(&how, &context) == HOT_OK, "context");
        const hot_status status = hot_scheme_directions(context, 30, 0, directions);
        CHECK(status == HOT_OK || (status == HOT_ERROR_MEMORY && hot_context_message(context)[0]), "%d", (int)status);
        failed += status == HOT_ERROR_MEMORY;
        hot_context_destroy(&context);
        CHECK(s.live == 0, "%ld pieces lost", s.live);
    }
    CHECK(failed > 0, "it needs no memory");
}

int main(void)
{
    hot_context *context = context_of(2);
    test_defaults(context);
    test_compartments(context);
    test_shares(context);
    test_refusals(context);
    test_files(context);
    test_memory();
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}
