/* Lengths on the scale of MRtrix's fODF: what dwi2fod csd and sh2peaks give for the same fibre with the same response
 * (Tournier, Calamante, Connelly 2007). A fibre of fraction w in a voxel as bright as the response has the amplitude
 * w K, where K is the peak of the fODF that the constrained deconvolution makes of the response itself. By symmetry
 * that fODF is zonal, so K follows from a handful of zonal coefficients. */
#include <math.h>
#include <string.h>

#include "common/arguments.h"
#include "model/model.h"
#include "common/entry.h"

/* MRtrix's defaults: 300 directions in which the fODF must not be negative, with this weight; the weight of the minimum
 * norm; the degrees of the first guess; its default lmax; the directions of a shell if they are unknown. */
enum { CONSTRAINTS = 300, GUESS_LMAX = 4, ROUNDS = 50, LMAX = 8, TERMS = LMAX / 2 + 1, NODES = 400, USUAL = 60 };
static const double constraint_weight = 50, norm_weight = 2e-4;

static double zonal(int l, double cosine) { return sqrt((2 * l + 1) / (4 * M_PI)) * hot_model_legendre(l, cosine); }

/* The peak of the constrained fODF of a signal that is the response. row: its zonal coefficients at one shell. */
static hot_status peak_of_response(hot_context *context, const double *row, size_t terms, double directions,
                                   double *peak)
{
    const size_t rows = terms + NODES;
    double penalty[TERMS], f[TERMS] = {0}, root[TERMS], delta[TERMS];
    double *design = hot_context_alloc(context, rows, terms * sizeof *design);
    double *inverse = hot_context_alloc(context, rows, terms * sizeof *inverse);
    unsigned char negative[NODES] = {0};
    hot_status status = design && inverse ? HOT_OK : HOT_ERROR_MEMORY;
    /* Evenly spread gradients make the harmonics orthogonal: the equations of the zonal coefficients separate. */
    for (size_t t = 0; t < terms; t++) {
        delta[t] = zonal(2 * (int)t, 1);
        root[t] = sqrt(directions / (4 * M_PI)) * fabs(row[t] / delta[t]);
        penalty[t] = norm_weight * root[0] * root[0];
        if (2 * t <= GUESS_LMAX)
            f[t] = root[t] * root[t] * delta[t] / (root[t] * root[t] + penalty[t]);
    }
    const double weight = constraint_weight * row[0] / CONSTRAINTS * sqrt((double)CONSTRAINTS / NODES);
    for (int round = 0; round < ROUNDS && status == HOT_OK; round++) {
        int changed = 0;
        memset(design, 0, rows * terms * sizeof *design);
        for (size_t t = 0; t < terms; t++)
            design[t * terms + t] = root[t];
        for (size_t n = 0; n < NODES; n++) { /* even steps of the cosine are even steps of the area */
            const double cosine = ((double)n + .5) / NODES;
            double value = 0;
            for (size_t t = 0; t < terms; t++)
                value += f[t] * zonal(2 * (int)t, cosine);
            changed |= round == 0 || negative[n] != (value < 0);
            negative[n] = value < 0;
            for (size_t t = 0; negative[n] && t < terms; t++)
                design[(terms + n) * terms + t] = weight * zonal(2 * (int)t, cosine);
        }
        if (!changed)
            break;
        status = hot_fit_pseudo_inverse(context, rows, terms, design, penalty, inverse, NULL);
        for (size_t t = 0; t < terms && status == HOT_OK; t++) {
            f[t] = 0;
            for (size_t i = 0; i < terms; i++)
                f[t] += inverse[t * rows + i] * root[i] * delta[i];
        }
    }
    *peak = 0;
    for (size_t t = 0; t < terms; t++)
        *peak += f[t] * delta[t];
    HOT_FREE(context, inverse, design);
    return status;
}

/* K for the response's outermost shell, and the response's signal at b=0. */
static hot_status scale_of(hot_context *context, const hot_response *response, size_t directions, double *scale,
                           double *bright)
{
    size_t outer = response->shells - 1;
    *bright = 0;
    for (size_t s = 0; s < response->shells; s++) {
        if (response->b[s] > response->b[outer])
            outer = s;
        if (response->b[s] <= 50)
            *bright = hot_response_value(response, s, 0);
    }
    directions = directions ? directions : USUAL;
    int lmax = response->lmax < LMAX ? response->lmax : LMAX;
    while (lmax > 2 && (size_t)(lmax + 1) * (size_t)(lmax + 2) / 2 > directions)
        lmax -= 2;
    const double *row = hot_response_row(response, outer, NULL);
    if (!(row[0] > 0) || response->b[outer] <= 50)
        return hot_context_fail_parameter(context, HOT_ERROR_DATA, "response",
                                          "the response has no shell with diffusion weighting, or no signal there: it "
                                          "says nothing about amplitudes of an fODF");
    return peak_of_response(context, row, (size_t)lmax / 2 + 1, (double)directions, scale);
}

hot_status hot_fiber_field_fod_amplitude(hot_context *context, const hot_fiber_field *fibers,
                                         const hot_response *response, size_t directions, const float *b0,
                                         hot_fiber_field **scaled)
{
    HOT_ENTRY(context);
    HOT_CLEAR(scaled);
    HOT_NEED(context, fibers, scaled);
    const size_t voxels = hot_grid_voxels(&fibers->grid), row = 3 * (size_t)fibers->max_fibers;
    double scale = 0, bright = 0;
    response = response ? response : fibers->response;
    if (!response)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "response",
                                          "amplitudes of an fODF are relative to a response, which these directions do "
                                          "not come with; give the one that they were found with");
    hot_status status = scale_of(context, response, directions, &scale, &bright);
    /* from the average fibre, which fractions may be relative to, to the response */
    scale *= fibers->response ? fibers->response->typical : response->typical;
    if (status != HOT_OK)
        return status;
    b0 = bright > 0 ? b0 : NULL;
    float *peaks = hot_context_alloc(context, voxels, row * sizeof *peaks);
    if (!peaks)
        return HOT_ERROR_MEMORY;
    for (size_t voxel = 0; voxel < voxels; voxel++) {
        double factor = scale;
        if (b0)
            factor *= b0[voxel] > 0 && isfinite(b0[voxel]) ? (double)b0[voxel] / bright : 0;
        for (size_t i = 0; i < row; i++)
            peaks[voxel * row + i] = (float)(factor * fibers->peaks[voxel * row + i]);
    }
    status = hot_fiber_field_create(context, &fibers->grid, fibers->max_fibers, peaks, scaled);
    if (status == HOT_OK)
        hot_context_log(context, HOT_LOG_NOTE, "amplitudes as of MRtrix's fODF: %.3g times the volume fraction%s",
                        scale, b0 ? " and the voxel's b=0 signal over the response's" : "");
    hot_context_free(context, peaks);
    return status;
}
