#include "image_content.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dwi/frames.h"
#include "model/sh_basis.h"

/* ---- Layouts of tensors ---------------------------------------------------------------------------------------- */

static const char *const layout_names[HOT_LAYOUT_COUNT] = {
    [HOT_LAYOUT_FSL] = "tensor_fsl", [HOT_LAYOUT_MRTRIX] = "tensor_mrtrix", [HOT_LAYOUT_DIPY] = "tensor_dipy",
    [HOT_LAYOUT_ITK] = "tensor_itk",
};

const unsigned char *hot_tensor_layout_places(hot_tensor_layout layout)
{
    static const unsigned char rows[6] = {0, 1, 2, 3, 4, 5}, mrtrix[6] = {0, 3, 4, 1, 5, 2},
                               lower[6] = {0, 1, 3, 2, 4, 5};
    return layout == HOT_LAYOUT_MRTRIX ? mrtrix
           : layout == HOT_LAYOUT_DIPY || layout == HOT_LAYOUT_ITK ? lower : rows;
}

const char *hot_tensor_layout_words(hot_tensor_layout layout)
{
    static const char *const words[HOT_LAYOUT_COUNT] = {
        [HOT_LAYOUT_UNKNOWN] = "in the axes of the world", [HOT_LAYOUT_WORLD] = "in the axes of the world",
        [HOT_LAYOUT_FSL] = "xx xy xz yy yz zz in the axes of the bvecs, as FSL writes them",
        [HOT_LAYOUT_MRTRIX] = "xx yy zz xy xz yz in scanner axes, as MRtrix writes them",
        [HOT_LAYOUT_DIPY] = "xx xy yy xz yz zz in the axes of the bvecs, as DIPY writes them",
        [HOT_LAYOUT_ITK] = "xx xy yy xz yz zz in LPS axes, as ITK writes them",
    };
    return words[layout];
}

int hot_tensor_layout_frame(hot_tensor_layout layout, const hot_grid *grid, double frame[3][3])
{
    if (layout == HOT_LAYOUT_FSL || layout == HOT_LAYOUT_DIPY) {
        hot_grid_bvec_frame(grid, frame);
        return 1;
    }
    if (layout != HOT_LAYOUT_MRTRIX && layout != HOT_LAYOUT_ITK)
        return 0;
    double sign[3]; /* of scanner RAS in the grid's space; ITK's x and y point the other way */
    hot_space_ras_sign(grid->space, sign);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            frame[r][c] = r != c ? 0 : layout == HOT_LAYOUT_ITK && c < 2 ? -sign[r] : sign[r];
    return 1;
}

int hot_tensors_image_order(size_t values)
{
    for (int order = 2; order <= 8; order += 2)
        if (values == 1 + hot_symtensor_count(order, 3))
            return order;
    return 0;
}

/* ---- What the values show -------------------------------------------------------------------------------------- */

/* In how many voxels the values could be what. */
typedef struct tally {
    size_t live;      /* has a value that is a number and not 0 */
    size_t numbers;   /* all its values are */
    size_t ordered;   /* vectors: longest first and nothing behind the last; other values are not so by chance */
    size_t fewer;     /* some vectors are absent: all three values 0 or NaN */
    size_t unit;      /* the first vector has length 1 */
    size_t aligned;   /* within 20 degrees of the first voxel's */
    size_t positive;  /* no value is negative */
    size_t amounts;   /* none but by noise */
    size_t harmonic;  /* the first coefficient is positive, and no other one larger than that of a needle */
    size_t tensor[HOT_LAYOUT_COUNT]; /* positive definite */
    size_t symmetric; /* 9 values: a symmetric matrix */
    size_t confident; /* the first value is between 0 and 1 */
    double trace[HOT_LAYOUT_COUNT]; /* of these, summed */
    size_t fractional; /* has a value that is no whole number */
    double largest;
    double first[3];
} tally;

static void count_vectors(const float *row, size_t vectors, tally *to)
{
    double before = HUGE_VAL;
    int ordered = 1, absent = 0, unit = 0;
    for (size_t f = 0; f < vectors; f++) {
        const double x = row[3 * f], y = row[3 * f + 1], z = row[3 * f + 2], length = sqrt(x * x + y * y + z * z);
        if ((isnan(x) && isnan(y) && isnan(z)) || length == 0) {
            absent = 1;
            continue;
        }
        ordered &= !absent && length <= before * (1 + 1e-3);
        if (before == HUGE_VAL) { /* the first present vector */
            unit = fabs(length - 1) < 2e-3;
            if (to->live == 0)
                for (int d = 0; d < 3; d++)
                    to->first[d] = row[3 * f + (size_t)d] / length;
            to->aligned += fabs(to->first[0] * x + to->first[1] * y + to->first[2] * z) > 0.94 * length;
        }
        before = length;
    }
    to->ordered += ordered;
    to->fewer += absent;
    to->unit += unit;
}

/* The trace of a tensor that is positive definite, else 0. */
static double definite_trace(const float *row, hot_tensor_layout layout)
{
    const unsigned char *at = hot_tensor_layout_places(layout);
    const double xx = row[at[0]], xy = row[at[1]], xz = row[at[2]], yy = row[at[3]], yz = row[at[4]], zz = row[at[5]];
    const double minor = xx * yy - xy * xy;
    const double determinant = minor * zz - xx * yz * yz + 2 * xy * yz * xz - yy * xz * xz;
    return xx > 0 && yy > 0 && zz > 0 && minor > 0 && determinant > 0 ? xx + yy + zz : 0;
}

static void count_row(const float *row, size_t values, tally *to)
{
    const int lmax = hot_sh_lmax(values);
    int live = 0, numbers = 1, positive = 1, whole = 1;
    float least = 0, largest = 0;
    for (size_t i = 0; i < values; i++) {
        live |= isfinite(row[i]) && row[i] != 0;
        numbers &= isfinite(row[i]) != 0;
        positive &= !(row[i] < 0);
        least = row[i] < least ? row[i] : least;
        largest = row[i] > largest ? row[i] : largest;
        if (isfinite(row[i])) {
            whole &= row[i] == floorf(row[i]);
            to->largest = fmax(to->largest, fabs((double)row[i]));
        }
    }
    if (!live)
        return;
    if (values % 3 == 0)
        count_vectors(row, values / 3, to);
    to->live++;
    to->numbers += numbers != 0;
    to->positive += positive;
    to->amounts += least >= -0.05f * largest;
    to->fractional += !whole;
    to->confident += row[0] >= 0 && row[0] <= 1;
    if (lmax) { /* a needle along z has sqrt(2l + 1) times the first coefficient */
        int harmonic = numbers && row[0] > 0;
        for (int l = 2, i = 1; l <= lmax; l += 2)
            for (int m = 0; m < 2 * l + 1; m++, i++)
                harmonic &= fabs((double)row[i]) <= 2.5 * sqrt(2. * l + 1) * row[0];
        to->harmonic += harmonic;
    }
    if (values == 6 && numbers) {
        for (int layout = HOT_LAYOUT_FSL; layout <= HOT_LAYOUT_DIPY; layout++) {
            const double trace = definite_trace(row, (hot_tensor_layout)layout);
            to->tensor[layout] += trace > 0;
            to->trace[layout] += trace;
        }
    }
    if (values == 9 && numbers) {
        const double large = 1e-5 * fmax(fmax(fabs((double)row[0]), fabs((double)row[4])), fabs((double)row[8]));
        to->symmetric += fabs((double)row[1] - row[3]) <= large && fabs((double)row[2] - row[6]) <= large &&
                         fabs((double)row[5] - row[7]) <= large && row[0] >= 0 && row[4] >= 0 && row[8] >= 0;
    }
}

/* Over the whole image, or chunks of it that are spread evenly. */
static hot_status count_voxels(const hot_image *image, tally *to)
{
    enum { CHUNK = 256, CHUNKS = 512 };
    const size_t voxels = hot_grid_voxels(&image->grid), chunks = (voxels + CHUNK - 1) / CHUNK;
    const size_t step = chunks > CHUNKS ? chunks / CHUNKS : 1;
    float *rows = hot_context_alloc(image->context, CHUNK, image->values * sizeof *rows);
    hot_status status = rows ? HOT_OK : HOT_ERROR_MEMORY;
    memset(to, 0, sizeof *to);
    for (size_t chunk = 0; chunk < chunks && status == HOT_OK; chunk += step) {
        const size_t first = chunk * CHUNK, count = voxels - first < CHUNK ? voxels - first : CHUNK;
        status = hot_image_values(image, first, count, rows);
        for (size_t v = 0; v < count && status == HOT_OK; v++)
            count_row(rows + v * image->values, image->values, to);
    }
    hot_context_free(image->context, rows);
    return status;
}

/* ---- The decision ---------------------------------------------------------------------------------------------- */

/* Whether so many values can be this. */
static int fits(hot_content content, size_t values)
{
    switch (content) {
    case HOT_CONTENT_PEAKS:
        return (values % 3 == 0 || values % 4 == 0) && values <= (size_t)4 * 255;
    case HOT_CONTENT_DYADS:
        return values == 3;
    case HOT_CONTENT_SH:
        return hot_sh_lmax(values) > 0;
    case HOT_CONTENT_TENSOR:
        return values == 9 || values == 10 || hot_tensors_image_order(values) || hot_tensors_image_order(values + 1);
    case HOT_CONTENT_RGB:
        return values == 3 || values == 4;
    default:
        return content != HOT_CONTENT_UNKNOWN;
    }
}

/* Parses the word of --as into *content and *layout; 0 = unknown word. */
static int read_word(const char *as, hot_content *content, hot_tensor_layout *layout)
{
    *layout = HOT_LAYOUT_UNKNOWN;
    *content = hot_content_find(as);
    for (int l = 0; l < HOT_LAYOUT_COUNT; l++)
        if (layout_names[l] && strcmp(layout_names[l], as) == 0) {
            *content = HOT_CONTENT_TENSOR;
            *layout = (hot_tensor_layout)l;
        }
    return *content != HOT_CONTENT_UNKNOWN && *content != HOT_CONTENT_MAP;
}

enum { MANY = 100 }; /* voxels of which not all are positive by chance */

/* Shares of voxels that make a property the rule: noise and partial voxels are exceptions. */
static int nearly_all(size_t count, const tally *of) { return (double)count >= 0.95 * (double)of->live; }

/* The layout in which 6 values are tensors: by far more voxels than in any other are positive definite. */
static hot_tensor_layout only_layout(const tally *of)
{
    int best = HOT_LAYOUT_FSL;
    size_t second = 0;
    for (int l = HOT_LAYOUT_FSL; l <= HOT_LAYOUT_DIPY; l++)
        best = of->tensor[l] > of->tensor[best] ? l : best;
    for (int l = HOT_LAYOUT_FSL; l <= HOT_LAYOUT_DIPY; l++)
        if (l != best && of->tensor[l] > second)
            second = of->tensor[l];
    const double share = (double)of->tensor[best] / (double)of->live, other = (double)second / (double)of->live;
    return share >= 0.6 && share - other >= 0.3 ? (hot_tensor_layout)best : HOT_LAYOUT_UNKNOWN;
}

/* Whether 6 values are tensors of mm^2/s in some order: from a thirtieth of the diffusivity of free water to several
 * times that. Amplitudes of fibres are larger by far. */
static int is_diffusive(const tally *of)
{
    int best = HOT_LAYOUT_FSL;
    for (int l = HOT_LAYOUT_FSL; l <= HOT_LAYOUT_DIPY; l++)
        best = of->tensor[l] > of->tensor[best] ? l : best;
    const double trace = of->tensor[best] ? of->trace[best] / (double)of->tensor[best] : 0;
    return (double)of->tensor[best] >= 0.6 * (double)of->live && trace > 3e-4 && trace < 3e-2;
}

#define BIT(content) (1u << HOT_CONTENT_##content)

/* The contents of values that may be vectors, as bits. *sure: the values decide. */
static unsigned vector_candidates(const tally *of, size_t vectors, int positive, int unit, int *sure)
{
    /* Vectors that are not sorted by length (but by bundle, say) are recognised by absent ones. Exact zeros of
     * harmonics come from directions in a plane. */
    const int ordered = nearly_all(of->ordered, of);
    *sure = 0;
    if (!vectors || !(ordered || (2 * of->fewer >= of->live && !nearly_all(of->harmonic, of))))
        return 0;
    /* Colours and amounts have no negative part; neither has a single bundle in one octant, whose unit vectors lie
     * close together. */
    const int aligned = nearly_all(of->aligned, of);
    if (vectors == 1 && ((positive && !(unit && aligned)) || (nearly_all(of->amounts, of) && !aligned)))
        return BIT(PEAKS) | BIT(RGB) | BIT(MAP);
    *sure = vectors == 1 || unit;
    if (!*sure && positive && !(of->fewer > 0 && of->live < MANY))
        return BIT(PEAKS) | BIT(DWI);
    return BIT(PEAKS);
}

/* BIT(TENSOR) if most voxels' six values are tensors in one layout. */
static unsigned tensor_candidate(const tally *of)
{
    size_t most = 0;
    for (int l = HOT_LAYOUT_FSL; l <= HOT_LAYOUT_DIPY; l++)
        most = of->tensor[l] > most ? of->tensor[l] : most;
    return (double)most >= 0.6 * (double)of->live ? BIT(TENSOR) : 0;
}

/* The contents that fit the values, as bits; a single bit if the values decide. */
static unsigned candidates(const hot_image *image, const tally *of, hot_tensor_layout *layout)
{
    const size_t values = image->values, vectors = values % 3 == 0 ? values / 3 : 0;
    const int positive = nearly_all(of->positive, of), unit = nearly_all(of->unit, of);
    unsigned may = 0;
    *layout = HOT_LAYOUT_UNKNOWN;
    if (hot_tensors_image_order(values)) {
        *layout = HOT_LAYOUT_WORLD;
        return nearly_all(of->confident, of) ? BIT(TENSOR) : BIT(TENSOR) | BIT(DWI);
    }
    if (values == 6)
        *layout = only_layout(of);
    if (values == 6 && is_diffusive(of))
        return BIT(TENSOR);
    if (image->layout == HOT_LAYOUT_WORLD && values > 6 && hot_tensors_image_order(values + 1)) {
        *layout = HOT_LAYOUT_WORLD; /* NRRD without a label: packed values in Teem's order */
        may |= BIT(TENSOR);
    }
    if (values == 9 && nearly_all(of->symmetric, of)) /* the values do not show in which axes */
        return unit ? BIT(TENSOR) | BIT(PEAKS) : BIT(TENSOR);
    int sure;
    const unsigned of_vectors = vector_candidates(of, vectors, positive, unit, &sure);
    if (sure)
        return of_vectors;
    may |= of_vectors;
    /* Absent directions may be NaN, harmonics are NaN only in a few bad voxels. Outside white matter the first
     * coefficient is noise: a few may be negative, unless the values may be directions. */
    const int harmonic = hot_sh_lmax(values) && (double)of->numbers >= 0.8 * (double)of->live &&
                         (double)of->harmonic >= (may ? 0.95 : 0.8) * (double)of->numbers;
    if (harmonic && vectors >= 5 && of->fewer == 0 && !positive) /* no tool finds five fibres in every voxel */
        return BIT(SH);
    if (harmonic)
        may |= positive ? BIT(SH) | BIT(DWI) : BIT(SH);
    return values == 6 ? may | tensor_candidate(of) : may;
}

static int takes(int wanted, hot_content content)
{
    return wanted == HOT_TAKE_ANY                                       ? 1
           : content == HOT_CONTENT_PEAKS || content == HOT_CONTENT_DYADS ? wanted & HOT_TAKE_PEAKS
           : content == HOT_CONTENT_TENSOR                              ? wanted & HOT_TAKE_TENSOR
           : content == HOT_CONTENT_SH                                  ? wanted & HOT_TAKE_SH
                                                                        : 0;
}

const char *hot_wanted_name(int wanted)
{
    return wanted & HOT_TAKE_PEAKS ? "directions" : wanted & HOT_TAKE_SH ? "tensors or harmonics" : "tensors";
}

/* The message about an image whose content is known but not supported by the call. */
static hot_status refuse(const hot_image *image, int wanted, const char *why)
{
    static const char *const advice[] = {
        [HOT_CONTENT_PEAKS] = "directions%s, not %s; --as names what it holds otherwise",
        [HOT_CONTENT_DYADS] = "directions%s, not %s; --as names what it holds otherwise",
        [HOT_CONTENT_SH] = "spherical harmonics%s, not %s: `hotfiber peaks` finds directions in them (--as peaks if it "
                           "holds directions after all)",
        [HOT_CONTENT_TENSOR] = "tensors%s, not %s: `hotfiber peaks` finds these in them, and `hotfiber export --format "
                               "glyphs` (or ply, sh) takes them as they are",
        [HOT_CONTENT_RGB] = "colours%s, not %s, which cannot be had from them: give the folder of the run, or its "
                            "peaks.nrrd",
        [HOT_CONTENT_DWI] = "diffusion-weighted data%s, not %s; `hotfiber run` goes from one to the other",
        [HOT_CONTENT_MAP] = "a map%s, not %s (--as peaks if it holds directions after all)",
    };
    char because[128] = "", text[512];
    if (why)
        snprintf(because, sizeof because, " (%s says so)", why);
    snprintf(text, sizeof text, advice[image->content], because, hot_wanted_name(wanted));
    return hot_context_fail(image->context, HOT_ERROR_FORMAT, "'%s' holds %s", image->name, text);
}

/* The line about an image that could be several things. */
static hot_status ask(const hot_image *image, int wanted, unsigned may)
{
    static const struct { hot_content content; const char *name, *word; } all[] = {
        {HOT_CONTENT_PEAKS, "directions", "peaks"}, {HOT_CONTENT_SH, "spherical harmonics", "sh"},
        {HOT_CONTENT_TENSOR, "tensors", "tensor"},  {HOT_CONTENT_RGB, "colours", "rgb"},
        {HOT_CONTENT_DWI, "signals", "dwi"},
    };
    char names[160] = "", words[80] = "";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (may >> all[i].content & 1) {
            const size_t a = strlen(names), b = strlen(words);
            snprintf(names + a, sizeof names - a, "%s%s", a ? " or " : "", all[i].name);
            snprintf(words + b, sizeof words - b, "%s%s", b ? "|" : "", all[i].word);
        }
    return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                            "'%s' does not say what its %zu values per voxel are: %s%s could be; --as %s says it",
                            image->name, image->values, names, may >> HOT_CONTENT_MAP & 1 ? " or a map" : "",
                            words[0] ? words : wanted & HOT_TAKE_PEAKS ? "peaks" : "sh");
}

/* No directions: too few or too many values for any, or values that none have. */
static hot_status refuse_values(const hot_image *image, int wanted)
{
    if ((wanted & HOT_TAKE_PEAKS) && image->values % 3 == 0)
        return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                                "'%s' holds no %s that can be recognised: of directions the longest comes first and "
                                "nothing behind the last, harmonics begin with a positive one, tensors are positive "
                                "definite; --as peaks|sh|tensor|rgb|dwi says what its %zu values per voxel are",
                                image->name, hot_wanted_name(wanted), image->values);
    return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                            "'%s' holds no %s that can be recognised; --as sh|tensor|dwi says what its %zu values per "
                            "voxel are", image->name, hot_wanted_name(wanted), image->values);
}

static int is_whole(const tally *of) { return of->fractional == 0 && of->largest > 1; }

static int looks_like_signals(const tally *of)
{
    return is_whole(of) || (of->live >= MANY && (double)of->positive > 0.9 * (double)of->live);
}

static hot_status refuse_signals(const hot_image *image, const tally *of)
{
    static const char otherwise[] = "--as peaks takes them as directions all the same";
    if (is_whole(of))
        return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                                "'%s' holds no directions: all its values are whole numbers, up to %.9g, as signals "
                                "and colours are; %s", image->name, of->largest, otherwise);
    char count[24] = "three";
    if (image->values != 3)
        snprintf(count, sizeof count, "%zu", image->values);
    return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                            "'%s' holds no directions: all %s values are positive in %zu of %zu voxels, as signals, "
                            "colours and maps are; %s", image->name, count, of->positive, of->live, otherwise);
}

static hot_status ask_layout(const hot_image *image)
{
    return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                            "'%s' does not say in which order and axes its tensors are: --as tensor_fsl (xx xy xz yy "
                            "yz zz, axes of the bvecs), tensor_mrtrix (xx yy zz xy xz yz, scanner), tensor_dipy (xx xy "
                            "yy xz yz zz, axes of the bvecs) or tensor_itk (the same order, LPS) says it", image->name);
}

/* The layout of tensors whose header does not tell it: from the values, if there are the 6 of a symmetric matrix. */
static hot_status settle_layout(hot_image *image, const tally *of)
{
    if (image->layout == HOT_LAYOUT_UNKNOWN && image->values == 6)
        image->layout = only_layout(of);
    if (image->layout == HOT_LAYOUT_UNKNOWN && image->values != 9)
        image->layout = image->values == 6 ? HOT_LAYOUT_UNKNOWN : HOT_LAYOUT_WORLD;
    return image->layout == HOT_LAYOUT_UNKNOWN && of->live ? ask_layout(image) : HOT_OK;
}

/* The content of an image of zeros, which cannot be misread: the wanted one. */
static void choose_wanted(hot_image *image, int wanted)
{
    image->content = (wanted & HOT_TAKE_PEAKS) && image->values % 3 == 0    ? HOT_CONTENT_PEAKS
                     : (wanted & HOT_TAKE_SH) && hot_sh_lmax(image->values) ? HOT_CONTENT_SH
                                                                            : HOT_CONTENT_TENSOR;
    image->layout = HOT_LAYOUT_WORLD;
}

/* The content by the values, if the header does not tell it. */
static hot_status from_values(hot_image *image, int wanted)
{
    tally of;
    hot_tensor_layout layout;
    const hot_tensor_layout known = image->layout; /* in NRRD: Teem's, in the measurement frame */
    hot_status status = hot_image_read(image);
    if (status == HOT_OK)
        status = count_voxels(image, &of);
    if (status != HOT_OK)
        return status;
    if (of.live == 0) {
        choose_wanted(image, wanted);
        return HOT_OK;
    }
    const unsigned may = candidates(image, &of, &layout);
    enum { SIGNALS = 1 << HOT_CONTENT_DWI | 1 << HOT_CONTENT_RGB | 1 << HOT_CONTENT_MAP };
    if ((may == 0 || may & SIGNALS) && looks_like_signals(&of)) {
        if (wanted != HOT_TAKE_ANY && wanted & HOT_TAKE_PEAKS)
            return refuse_signals(image, &of);
        if (wanted == HOT_TAKE_ANY && !(may >> HOT_CONTENT_SH & 1)) {
            image->content = HOT_CONTENT_MAP;
            return HOT_OK;
        }
    }
    if (may == 0)
        return refuse_values(image, wanted);
    if (wanted == HOT_TAKE_TENSOR && known == HOT_LAYOUT_WORLD && image->values > 9 &&
        may >> HOT_CONTENT_TENSOR & 1) {
        image->content = HOT_CONTENT_TENSOR; /* a caller that wants nothing else, and Teem's format */
        return HOT_OK;
    }
    if (may & (may - 1)) /* more than one */
        return ask(image, wanted, may);
    for (int c = HOT_CONTENT_UNKNOWN + 1; c <= HOT_CONTENT_MAP; c++)
        if (may >> c & 1)
            image->content = (hot_content)c;
    if (image->content == HOT_CONTENT_TENSOR) {
        image->layout = known && layout != HOT_LAYOUT_MRTRIX && layout != HOT_LAYOUT_DIPY ? known : layout;
        status = settle_layout(image, &of);
    }
    return status == HOT_OK && !takes(wanted, image->content) ? refuse(image, wanted, NULL) : status;
}

hot_status hot_image_find_content(hot_image *image, const char *as, int wanted)
{
    hot_content said;
    hot_tensor_layout layout;
    if (as) {
        if (!read_word(as, &said, &layout))
            return hot_context_fail_parameter(image->context, HOT_ERROR_ARGUMENT, "content",
                                              "there is no '%s'; there are peaks, dyads, sh, tensor, tensor_fsl, "
                                              "tensor_mrtrix, tensor_dipy, tensor_itk, rgb and dwi", as);
        if (layout)
            image->layout = layout;
        if (said != HOT_CONTENT_PEAKS || image->content != HOT_CONTENT_DYADS) /* these are directions, too */
            image->content = said;
        image->content_said = "--as";
    } else if (!fits(image->content, image->values))
        image->content = HOT_CONTENT_UNKNOWN;
    if (image->content == HOT_CONTENT_TENSOR && image->layout > HOT_LAYOUT_WORLD && image->values != 6 &&
        image->values != 9) {
        if (as)
            return hot_context_fail(image->context, HOT_ERROR_FORMAT, "'%s' has %zu values per voxel; %s has 6 or 9",
                                    image->name, image->values, as);
        image->content = HOT_CONTENT_UNKNOWN;
        image->layout = HOT_LAYOUT_UNKNOWN;
    }
    if (image->content == HOT_CONTENT_UNKNOWN)
        return from_values(image, wanted);
    if (!takes(wanted, image->content))
        return refuse(image, wanted, image->content_said);
    if (image->content != HOT_CONTENT_TENSOR || image->layout)
        return HOT_OK;
    tally of;
    hot_status status = hot_image_read(image);
    if (status == HOT_OK)
        status = count_voxels(image, &of);
    return status == HOT_OK ? settle_layout(image, &of) : status;
}
