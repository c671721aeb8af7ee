/* The signal method's messages about voxels and noise after all fits. */
#include <math.h>
#include <stdio.h>

#include "dwi/summary.h"
#include "signal_field.h"

/* A given noise this many times too small or too large is remarked on. Real scans differ from their b=0 volumes' spread
 * by up to two. */
static const double far_off = 3;
/* With fewer diffusion-weighted volumes the fits leave nothing over to judge by. */
enum { MIN_VOLUMES = 20 };
/* From fewer voxels little is learned: priors keep the weight of 20 at the start (signal_priors.c), and each number
 * of fibres has but a share of them. */
enum { MIN_SAMPLED = 200 };
/* Of simulated voxels, those whose number of fibres is found: .9 and more with 30 directions and a usual noise, .75
 * with 12 directions, .69 at an SNR of 8. */
static const double min_recovered = 0.8;

/* The noise that was given: of a map, its mean in the mask. */
static double given_noise(const hot_signal_find_options *options, const hot_mask *mask)
{
    double sum = 0;
    size_t count = 0;
    if (!options->sigma_map)
        return options->sigma;
    for (size_t voxel = 0; voxel < hot_grid_voxels(&mask->grid); voxel++)
        if (mask->bytes[voxel] && options->sigma_map[voxel] > 0) {
            sum += (double)options->sigma_map[voxel];
            count++;
        }
    return count ? sum / (double)count : 0;
}

/* A mistake of that size is one of unit, or of the file it came from. The b=0 volumes show the noise, or else what the
 * fits left over. */
hot_status hot_signal_log_noise(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                                    const hot_signal_find_options *options, double least, const uint8_t *flags,
                                    float *residual)
{
    const char *where = "the b=0 volumes show";
    const double given = given_noise(options, mask);
    double seen, snr;
    size_t repeats, count = 0, weighted = 0;
    hot_status status = hot_dwi_noise(context, dwi, mask, &seen, &snr, &repeats);
    if (status != HOT_OK || !(least > 0) || !(given > 0))
        return status;
    for (size_t v = 0; v < dwi->volumes; v++)
        weighted += dwi->shell_of[v] > 0;
    if (!(seen > 1e-3 * least)) { /* one b=0 volume, or equal ones */
        where = "the fits leave over";
        for (size_t voxel = 0; voxel < hot_grid_voxels(&mask->grid); voxel++)
            if (mask->bytes[voxel] && !flags[voxel])
                residual[count++] = residual[voxel]; /* to the left, or where it is */
        if (count == 0 || weighted < MIN_VOLUMES)
            return HOT_OK;
        seen = given * (double)hot_sorted_at(residual, count, count / 2);
    }
    seen = fmax(seen, least);
    if (seen > far_off * given)
        hot_context_log(context, HOT_LOG_WARNING,
                        "the noise was given as %.3g, but %s about %.3g: with too little noise, spurious fibres are "
                        "found", given, where, seen);
    else if (given > far_off * seen && !options->denoised)
        hot_context_log(context, HOT_LOG_WARNING,
                        "the noise was given as %.3g, but %s about %.3g: with too much noise fibres are missed", given,
                        where, seen);
    return HOT_OK;
}

void hot_signal_log_priors(hot_context *context, const hot_signal_learned *learned, double typical)
{
    const hot_signal_priors *p = &learned->population;
    hot_context_log(context, HOT_LOG_NOTE,
                    "priors from %zu voxels: %.0f/%.0f/%.0f/%.0f %% with 0/1/2/3 fibres; noise %.2g of the b=0 "
                    "volumes'", learned->sampled, 100 * p->share[0], 100 * p->share[1], 100 * p->share[2],
                    100 * p->share[3], p->noise);
    if (typical < 1)
        hot_context_log(context, HOT_LOG_NOTE,
                        "fractions are relative to the typical single fibre (%.2g of the response)", typical);
    if (learned->sampled < MIN_SAMPLED)
        hot_context_log(context, HOT_LOG_NOTE,
                        "%zu voxel%s to learn from: the priors stay near their wide defaults", learned->sampled,
                        learned->sampled == 1 ? " is too few" : "s are few");
    if (p->recovered < min_recovered)
        hot_context_log(context, HOT_LOG_WARNING,
                        "the data hardly determine the number of fibres: it is right in %.0f %% of voxels simulated "
                        "from the priors; doubtful voxels get the smaller number (see the map probability)",
                        100 * p->recovered);
}

size_t hot_signal_log_flagged(hot_context *context, const hot_mask *mask, const uint8_t *flags)
{
    static const struct { int flag; const char *text; } reasons[] = {
        {HOT_VOXEL_NOT_FINITE, "NaN or infinite"}, {HOT_VOXEL_NO_B0, "b=0 signal not above 0"},
        {HOT_VOXEL_CLIPPED, "clipped"},
    };
    const size_t voxels = hot_grid_voxels(&mask->grid);
    char text[160] = "";
    size_t used = 0, unusable = 0, drowned = 0;
    for (size_t voxel = 0; voxel < voxels; voxel++)
        drowned += flags[voxel] == HOT_VOXEL_NOISE;
    for (size_t r = 0; r < sizeof reasons / sizeof *reasons; r++) {
        size_t count = 0;
        for (size_t voxel = 0; voxel < voxels; voxel++)
            count += flags[voxel] == reasons[r].flag;
        if (count > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu %s", used ? ", " : "", count,
                                     reasons[r].text);
        unusable += count;
    }
    if (unusable > 0)
        hot_context_log(context, HOT_LOG_WARNING, "%zu of %zu voxels are not usable and have no fibre (%s)", unusable,
                        mask->inside, text);
    if (drowned > 0)
        hot_context_log(context, 2 * drowned > mask->inside ? HOT_LOG_WARNING : HOT_LOG_NOTE,
                        "%zu of %zu voxels are nothing but noise (b=0 signal below 3 times it) and have no fibre",
                        drowned, mask->inside);
    return unusable;
}
