/* hotfiber phantom: data with known fibres. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "method_options.h"
#include "io/common/output.h"
#include "io/common/gradient_files.h"

const cli_command cli_phantom_command = {
    "phantom", "make data with known fibres", "-o DWI --truth FILE [options]",
    "Makes a diffusion data set whose fibres are known, for testing and scoring methods.\n"
    "Layout `conditions` (default): a row (axis 1) per condition, a slice (axis 2) per SNR, every voxel turned at "
    "random. Without --single, --angles, --three and --isotropic its rows are: single fibres, crossings at 30-40, "
    "45-55 and 60-90 degrees, three fibres, isotropic voxels (half grey matter, half CSF). `grid`: crossings at 30 40 "
    "... 90 degrees times first fractions .5 .6 .7 .8, slices of SNR 10, 20 and 30. `bundles`: a small head with "
    "straight, curved and crossing bundles, grey matter, a ventricle, and air around it. `mixture`: --size voxels, "
    "each with 0 to 3 fibres drawn by --shares (crossings: --angles, default 30-90); without fibres grey matter, "
    "CSF or both.\n"
    "--tissue: what a fibre is made of. `zeppelin`: one tensor (--along, --across). `ball-stick`: --intra of it a "
    "stick (nothing across), the rest a ball, both of diffusivity --along; the true fraction is the stick's. "
    "`stick-zeppelin`: a stick and a tensor of --along and --across. `noddi`: the same with the tensor averaged over "
    "the dispersed orientations.\n"
    "Ranges are written low-high and drawn uniformly in each voxel: --csf 0-.3. The same seed gives the same bytes.\n\n"
    "  hotfiber phantom -o dwi.nrrd --truth truth.nrrd -b 1000 --snr 20 --seed 7\n"
    "  hotfiber phantom | hotfiber fit --order 4 --model fod | hotfiber peaks | teem-unu head -\n"
    "  hotfiber phantom --layout mixture --tissue noddi --dispersion 0-20 --csf 0-.2 --grey 0-.2 --weights .4-1 "
    "--noise-slope .3 -b 1000,2000 -o dwi.nii.gz --truth truth.nrrd --tissue-map tissue.nii.gz",
    0};

enum { ROWS_MAX = 512, ITEMS_MAX = 64 };

/* "a", "a-b"; returns where it ended, or NULL. */
static const char *parse_range(const char *text, double range[2])
{
    char *end;
    range[0] = range[1] = strtod(text, &end);
    if (end == text || range[0] < 0 || !isfinite(range[0]))
        return NULL;
    if (*end == '-') {
        const char *second = end + 1;
        range[1] = strtod(second, &end);
        if (end == second || !isfinite(range[1]) || range[1] < range[0])
            return NULL;
    }
    return end;
}

/* "30-40,45,60-90"; returns how many, or -1. */
static int parse_ranges(const char *text, double ranges[ITEMS_MAX][2])
{
    for (int count = 0; count < ITEMS_MAX;) {
        text = parse_range(text, ranges[count++]);
        if (!text || (*text && *text != ','))
            return -1;
        if (!*text++)
            return count;
    }
    return -1;
}

static int wrong(const char *option, const char *what, const char *text)
{
    fprintf(stderr, "hotfiber phantom: --%s needs %s, not '%s'\n", option, what, cli_shown(text));
    return -1;
}

typedef struct settings {
    const char *output, *truth, *layout, *angles, *fractions, *three_angles, *csf, *dispersion, *noise, *type, *bval,
        *bvec;
    const char *tissue, *intra, *grey, *weights, *tissue_map;
    int single, three, isotropic, oblique, turned_frame, gzip;
    cli_list size, snr, shells, shares, diffusivities;
    hot_phantom_options phantom;
    hot_phantom_condition rows[ROWS_MAX];
} settings;

static int add_row(settings *s, hot_phantom_condition row)
{
    if (s->phantom.condition_count == ROWS_MAX) {
        fprintf(stderr, "hotfiber phantom: a phantom has at most %d conditions\n", ROWS_MAX);
        return -1;
    }
    s->rows[s->phantom.condition_count++] = row;
    return 0;
}

/* Crossings of two fibres: every angle with every fraction. */
static int add_crossings(settings *s, double (*angles)[2], int angle_count, double (*fractions)[2], int fraction_count)
{
    for (int f = 0; f < fraction_count; f++)
        for (int a = 0; a < angle_count; a++) {
            hot_phantom_condition row = {.fibers = 2};
            memcpy(row.angle, angles[a], sizeof row.angle);
            memcpy(row.fraction, fractions[f], sizeof row.fraction);
            if (add_row(s, row))
                return -1;
        }
    return 0;
}

/* The requested rows, in the order single, crossings (every angle with every fraction), three, isotropic. */
static int choose_rows(settings *s)
{
    static double angles[ITEMS_MAX][2], fractions[ITEMS_MAX][2];
    size_t known;
    const hot_phantom_condition *usual = hot_phantom_default_conditions(&known);
    int angle_count = 0, fraction_count = 0, grid = strcmp(s->layout, "grid") == 0, all;
    hot_phantom_condition three = usual[4];
    if (grid && !s->angles)
        s->angles = "30,40,50,60,70,80,90";
    if (grid && !s->fractions)
        s->fractions = ".5,.6,.7,.8";
    if (s->angles && (angle_count = parse_ranges(s->angles, angles)) < 0)
        return wrong("angles", "up to 64 angles or ranges in degrees (30-40,50)", s->angles);
    if (s->fractions && (fraction_count = parse_ranges(s->fractions, fractions)) < 0)
        return wrong("fractions", "up to 64 fractions or ranges (.5,.6-.8)", s->fractions);
    if (s->three_angles) {
        const char *end = parse_range(s->three_angles, three.angle);
        if (!end || *end)
            return wrong("three-angles", "an angle or a range in degrees (60-90)", s->three_angles);
    }
    all = !s->single && !s->angles && !s->three && !s->isotropic;
    if ((all || s->single) && add_row(s, usual[0]))
        return -1;
    if (all)
        for (; angle_count < 3; angle_count++)
            memcpy(angles[angle_count], usual[1 + angle_count].angle, sizeof angles[0]);
    if (!fraction_count)
        memcpy(fractions[fraction_count++], usual[1].fraction, sizeof fractions[0]);
    return add_crossings(s, angles, angle_count, fractions, fraction_count) ||
        ((all || s->three) && add_row(s, three)) || ((all || s->isotropic) && add_row(s, usual[5]));
}

/* The mixture's four conditions, by their number of fibres, and how often each occurs. */
static int choose_mixture(settings *s)
{
    static double typical_shares[4] = {0.15, 0.40, 0.35, 0.10};
    hot_phantom_condition two = {.fibers = 2, .angle = {30, 90}, .fraction = {0.5, 0.7}};
    size_t known;
    const hot_phantom_condition *usual = hot_phantom_default_conditions(&known);
    hot_phantom_condition three = usual[4];
    const struct { const char *name, *what, *text; double *range; } ranges[] = {
        {"angles", "an angle or a range in degrees (30-90)", s->angles, two.angle},
        {"fractions", "a fraction or a range (.5-.7)", s->fractions, two.fraction},
        {"three-angles", "an angle or a range in degrees (60-90)", s->three_angles, three.angle},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const char *end = ranges[i].text ? parse_range(ranges[i].text, ranges[i].range) : "";
        if (!end || *end)
            return wrong(ranges[i].name, ranges[i].what, ranges[i].text);
    }
    if (s->single || s->three || s->isotropic) {
        fprintf(stderr, "hotfiber phantom: --single, --three and --isotropic are rows of other layouts; a mixture's "
                        "voxels are drawn by --shares\n");
        return -1;
    }
    if (s->shares.count && s->shares.count != 4) {
        fprintf(stderr, "hotfiber phantom: --shares needs four numbers, for 0, 1, 2 and 3 fibres "
                        "(.15,.4,.35,.1), not %zu\n", s->shares.count);
        return -1;
    }
    s->phantom.share = s->shares.count ? s->shares.values : typical_shares;
    return add_row(s, usual[5]) || add_row(s, usual[0]) || add_row(s, two) || add_row(s, three);
}

/* The compartments of the tissue; 0 on success. */
static int settle_tissue(settings *s)
{
    static const char *const names[] = {"zeppelin", "ball-stick", "stick-zeppelin", "noddi"};
    hot_phantom_options *o = &s->phantom;
    const struct { const char *name, *what, *text; double *range, highest; } ranges[] = {
        {"csf", "a fraction or a range from 0 to .95 (0-.3)", s->csf, o->csf, 0.95},
        {"grey", "a fraction or a range from 0 to .95 (0-.3)", s->grey, o->grey, 0.95},
        {"dispersion", "an angle or a range from 0 to 45 degrees (0-15)", s->dispersion, o->dispersion, 45},
        {"intra", "a fraction or a range from 0 to 1 (.4-.7)", s->intra, o->intra, 1},
        {"weights", "a weight or a range (.4-1)", s->weights, o->weight, HUGE_VAL},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const char *end = ranges[i].text ? parse_range(ranges[i].text, ranges[i].range) : "";
        if (!end || *end || (ranges[i].text && ranges[i].range[1] > ranges[i].highest))
            return wrong(ranges[i].name, ranges[i].what, ranges[i].text);
    }
    while (strcmp(names[o->tissue], s->tissue) != 0)
        o->tissue++;
    if (s->intra && o->tissue == HOT_TISSUE_ZEPPELIN) {
        fprintf(stderr, "hotfiber phantom: --intra goes with --tissue ball-stick, stick-zeppelin or noddi\n");
        return -1;
    }
    if (s->weights && s->fractions) {
        fprintf(stderr, "hotfiber phantom: --weights and --fractions say the same; give one of them\n");
        return -1;
    }
    if (s->shares.count && o->layout != HOT_PHANTOM_MIXTURE) {
        fprintf(stderr, "hotfiber phantom: --shares goes with --layout mixture\n");
        return -1;
    }
    return 0;
}

/* Everything that the option tables cannot check; 0 when fine. */
static int settle(settings *s)
{
    static const double grid_snr[3] = {10, 20, 30};
    hot_phantom_options *o = &s->phantom;
    o->layout = strcmp(s->layout, "bundles") == 0   ? HOT_PHANTOM_BUNDLES
                : strcmp(s->layout, "mixture") == 0 ? HOT_PHANTOM_MIXTURE
                                                    : HOT_PHANTOM_CONDITIONS;
    if (o->layout == HOT_PHANTOM_MIXTURE ? choose_mixture(s) : choose_rows(s))
        return -1;
    o->conditions = s->rows;
    if (s->size.count) {
        if (s->size.count != 3) {
            fprintf(stderr, "hotfiber phantom: --size needs three numbers (40,40,12), not %zu\n", s->size.count);
            return -1;
        }
        for (int d = 0; d < 3; d++)
            o->volume[d] = (size_t)s->size.values[d];
    }
    if (s->snr.count)
        o->snr = s->snr.values, o->snr_count = s->snr.count;
    else if (strcmp(s->layout, "grid") == 0)
        o->snr = grid_snr, o->snr_count = 3;
    if (s->shells.count)
        o->shell_b = s->shells.values, o->shells = s->shells.count;
    if (settle_tissue(s))
        return -1;
    if (!s->bval != !s->bvec) {
        fprintf(stderr, "hotfiber phantom: --bval and --bvec go together\n");
        return -1;
    }
    o->oblique = s->oblique;
    o->gaussian = strcmp(s->noise, "gaussian") == 0;
    return 0;
}

/* Neither the outputs nor the bval and bvec of a NIfTI output may be the scheme's files. */
static hot_status check_scheme_distinct(hot_context *context, const settings *s)
{
    char beside[2][4096] = {"", ""};
    size_t stem = strlen(s->output);
    if (stem > 7 && strcmp(s->output + stem - 7, ".nii.gz") == 0)
        stem -= 7;
    else if (stem > 4 && strcmp(s->output + stem - 4, ".nii") == 0)
        stem -= 4;
    for (int f = 0; f < 2 && s->output[stem]; f++)
        snprintf(beside[f], sizeof beside[f], "%.*s%s", (int)stem, s->output, f ? ".bvec" : ".bval");
    const char *const outputs[4] = {s->output, s->truth, beside[0], beside[1]};
    hot_status status = HOT_OK;
    for (int f = 0; f < 8 && status == HOT_OK; f++)
        if (outputs[f / 2] && outputs[f / 2][0])
            status = hot_output_check_distinct(context, f % 2 ? s->bvec : s->bval, outputs[f / 2]);
    return status;
}

/* The scheme of --bval and --bvec. */
static hot_status load_scheme(hot_context *context, const settings *s, double **b, double **vectors, size_t *volumes)
{
    char *b_text = NULL, *g_text = NULL;
    size_t vector_count = 0;
    hot_status status = hot_text_load(context, s->bval, &b_text);
    if (status == HOT_OK)
        status = hot_text_load(context, s->bvec, &g_text);
    if (status == HOT_OK)
        status = hot_bval_parse(context, s->bval, b_text, b, volumes);
    if (status == HOT_OK)
        status = hot_bvec_parse(context, s->bvec, g_text, vectors, &vector_count);
    if (status == HOT_OK && vector_count != *volumes)
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has %zu b-values but '%s' %zu vectors", s->bval,
                                  *volumes, s->bvec, vector_count);
    if (status == HOT_OK)
        status = check_scheme_distinct(context, s);
    HOT_FREE(context, b_text, g_text);
    return status;
}

int cli_phantom(int argc, char **argv)
{
    static settings s; /* large, and there is one command per process */
    memset(&s, 0, sizeof s);
    s.output = "-", s.layout = "conditions", s.noise = "rician", s.type = "float", s.tissue = "zeppelin";
    s.phantom.size = sizeof s.phantom;
    hot_phantom_options *o = &s.phantom;
    const cli_option options[] = {
        {"o", CLI_OUTPUT_IMAGE, &s.output, "FILE",
         "the data: NRRD (default -, standard output), or NIfTI with .bval and .bvec", 0, 0},
        {"truth", CLI_OUTPUT_IMAGE, &s.truth, "FILE",
         "the true directions, length = volume fraction (NRRD or NIfTI)", 0, 0},
        {"tissue-map", CLI_OUTPUT_IMAGE, &s.tissue_map, "FILE",
         "what else is known of each voxel, 12 values (NRRD or NIfTI): of three fibres the fraction, dispersion "
         "(degrees) and intra-axonal fraction; grey matter, free water, sigma of the noise", 0, 0},
        {"layout", CLI_CHOICE, &s.layout, "conditions|grid|bundles|mixture", "what the volume looks like (above)", 0,
         0},
        {"tissue", CLI_CHOICE, &s.tissue, "zeppelin|ball-stick|stick-zeppelin|noddi",
         "what a fibre is made of (above); default zeppelin", 0, 0},
        {"voxels", CLI_SIZE, &o->voxels, "N", "voxels per condition and SNR; default 200", 1, 1e9},
        {"single", CLI_FLAG, &s.single, NULL, "a row of single fibres", 0, 0},
        {"angles", CLI_TEXT, &s.angles, "LIST",
         "rows of two fibres that cross at these angles or ranges, degrees: 30-40,50", 0, 0},
        {"fractions", CLI_TEXT, &s.fractions, "LIST",
         "first fibre's share in those rows: one row per angle and fraction; default .5-.7", 0, 0},
        {"three", CLI_FLAG, &s.three, NULL,
         "a row of three fibres, the first one third to .45 of them, the others equal", 0, 0},
        {"three-angles", CLI_TEXT, &s.three_angles, "RANGE",
         "angle between every two of the three, degrees; default 60-90", 0, 0},
        {"isotropic", CLI_FLAG, &s.isotropic, NULL,
         "a row without fibres: grey matter (D = .8e-3) and CSF (3e-3) in turn", 0, 0},
        {"shares", CLI_LIST, &s.shares, "N0,N1,N2,N3",
         "mixture: how often a voxel has 0, 1, 2, 3 fibres; default .15,.4,.35,.1", 0, 1e6},
        {"size", CLI_LIST, &s.size, "X,Y,Z", "bundles, mixture: voxels along each axis; default 40,40,12", 1, 4096},
        {"snr", CLI_LIST, &s.snr, "LIST",
         "S0 / sigma of the noise, a slice each; 0 = no noise; default 30", 0, 1e12},
        {"noise", CLI_CHOICE, &s.noise, "rician|gaussian",
         "that of magnitudes (default), or symmetric about the signal, so that samples may be negative", 0, 0},
        {"noise-slope", CLI_DOUBLE, &o->noise_slope, "R",
         "sigma rises linearly along the first axis, from 1-R to 1+R of that; default 0", 0, 0.9},
        {"b", CLI_LIST, &s.shells, "LIST", "b-values of the shells, s/mm^2; default 3000", 1, 1e6},
        {"directions", CLI_SIZE, &o->directions, "N",
         "directions per shell, spread by repulsion; default 64", 1, 100000},
        {"b0", CLI_SIZE, &o->b0, "N", "b=0 volumes; default 8", 1, 100000},
        {"bval", CLI_TEXT, &s.bval, "FILE", "b-values of a scheme to use instead, as FSL writes them", 0, 0},
        {"bvec", CLI_TEXT, &s.bvec, "FILE", "and its gradient vectors, in image axes", 0, 0},
        {"s0", CLI_DOUBLE, &o->s0, "S", "signal at b=0; default 1000", 1e-30, 1e30},
        {"diffusivities", CLI_LIST, &s.diffusivities, "AXIAL,RADIAL",
         "of a fibre, mm^2/s; default 1.7e-3,.2e-3", 1e-9, 1e-2},
        {"along", CLI_DOUBLE, &o->axial, "D", "the axial one alone", 1e-6, 1e-2},
        {"across", CLI_DOUBLE, &o->radial, "D",
         "the radial one alone: of the fibre (zeppelin), or of what surrounds its axons, there by default --along "
         "times 1 - the intra-axonal fraction", 1e-9, 1e-2},
        {"intra", CLI_TEXT, &s.intra, "RANGE",
         "intra-axonal volume fraction of each fibre; default .4-.7; not of zeppelins", 0, 0},
        {"weights", CLI_TEXT, &s.weights, "RANGE",
         "each fibre's weight before division by their sum, instead of --fractions and thirds", 0, 0},
        {"vary", CLI_DOUBLE, &o->vary, "R",
         "relative standard deviation of each fibre's diffusivities; default 0", 0, 0.3},
        {"csf", CLI_TEXT, &s.csf, "RANGE",
         "volume fraction of free water (D = 3e-3 mm^2/s) in voxels with fibres; default 0", 0, 0},
        {"grey", CLI_TEXT, &s.grey, "RANGE",
         "volume fraction of grey matter (D = .8e-3 mm^2/s) in voxels with fibres; default 0", 0, 0},
        {"dispersion", CLI_TEXT, &s.dispersion, "RANGE",
         "orientation dispersion, degrees: standard deviation of a "
         "normal tilt about each of two axes, s; other tissues than zeppelin: Watson's distribution of concentration "
         "1 / (2 s^2), s in radians; default 0", 0, 0},
        {"oblique", CLI_FLAG, &s.oblique, NULL,
         "an oblique LPS grid with unequal spacings and (NRRD) a measurement frame that is not the identity", 0, 0},
        {"type", CLI_CHOICE, &s.type, "float|uint16", "samples of the NRRD; default float", 0, 0},
        {"gzip", CLI_FLAG, &s.gzip, NULL, "compress the NRRD", 0, 0},
        CLI_END,
    };
    CLI_PARSE(phantom, options);
    if (s.diffusivities.count) {
        if (o->axial > 0 || o->radial > 0)
            return cli_refuse(&cli_phantom_command, &common, "--%s: --diffusivities says it already; give one of them",
                              o->axial > 0 ? "along" : "across");
        if ((ended = cli_diffusivities(&cli_phantom_command, &common, &s.diffusivities, &o->axial, &o->radial)) >= 0)
            return ended;
    }
    if (settle(&s)) {
        hot_context_destroy(&common.context);
        return HOT_EXIT_USAGE;
    }
    hot_phantom *phantom = NULL;
    hot_phantom_save_options save = {.size = sizeof save,
                                     .integers = strcmp(s.type, "uint16") == 0,
                                     .compress = s.gzip,
                                     .turned_frame = s.oblique};
    double *scheme_b = NULL, *scheme_vectors = NULL;
    hot_status status = HOT_OK;
    if (s.bval) {
        status = load_scheme(common.context, &s, &scheme_b, &scheme_vectors, &o->scheme_volumes);
        o->scheme_b = scheme_b, o->scheme_gradients = scheme_vectors, o->scheme_image_axes = 1;
    }
    if (status == HOT_OK)
        status = hot_phantom_create(common.context, o, &phantom);
    if (status == HOT_OK && s.truth)
        status = hot_phantom_save_truth(common.context, phantom, s.truth);
    if (status == HOT_OK && s.tissue_map)
        status = hot_phantom_save_tissue(common.context, phantom, s.tissue_map);
    if (status == HOT_OK)
        status = hot_phantom_save(common.context, phantom, &save, s.output);
    hot_phantom_destroy(&phantom);
    HOT_FREE(common.context, scheme_b, scheme_vectors);
    return cli_finish(&cli_phantom_command, &common, status);
}
