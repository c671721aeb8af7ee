/* The signal method on a data set: fibres found, maps, the noise with and without repeated b=0 volumes, repeated
 * volumes, flagged voxels, refusals. */
#include "check.h"

#include <hotfiber/hotfiber.h>

static int warnings;

static void count_warnings(void *user, hot_log_level level, const char *line)
{
    (void)user;
    warnings += level == HOT_LOG_WARNING && line[0] != 0;
}

static hot_context *make_context(void)
{
    hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .threads = 1, .seed = 11,
                                   .log = count_warnings};
    hot_context *context = NULL;
    CHECK(hot_context_create(&options, &context) == HOT_OK, "no context");
    return context;
}

static hot_phantom *make_phantom(hot_context *context, size_t b0)
{
    const double snr = 30;
    hot_phantom_options options = {.size = sizeof options, .voxels = 40, .snr = &snr, .snr_count = 1, .b0 = b0};
    hot_phantom *phantom = NULL;
    CHECK(hot_phantom_create(context, &options, &phantom) == HOT_OK, "%s", hot_context_message(context));
    return phantom;
}

static double score_of(hot_context *context, const hot_fiber_field *fibers, const hot_phantom *phantom)
{
    hot_score *score = NULL;
    CHECK(hot_score_create(context, fibers, hot_phantom_truth(phantom), NULL, &score) == HOT_OK, "%s",
          hot_context_message(context));
    double mean = score ? hot_score_mean(score, NULL) : NAN;
    hot_score_destroy(&score);
    return mean;
}

/* The phantom's data as a new data set: volumes[i] of it; change may alter the signals ([volume][voxel]). */
static hot_dwi *copy_dwi(hot_context *context, const hot_dwi *from, size_t count, const size_t *volumes, int spoil)
{
    const size_t voxels = from ? 240 : 0, all = hot_dwi_volumes(from);
    float *read = malloc(voxels * all * sizeof *read), *signals = malloc(voxels * count * sizeof *signals);
    double *b = malloc(count * sizeof *b), *g = malloc(3 * count * sizeof *g);
    hot_dwi *made = NULL;
    CHECK(hot_dwi_read(context, from, 0, voxels, read) == HOT_OK, "%s", hot_context_message(context));
    for (size_t i = 0; i < count; i++) {
        b[i] = hot_dwi_b(from)[volumes[i]];
        memcpy(g + 3 * i, hot_dwi_gradients(from) + 3 * volumes[i], 3 * sizeof *g);
        for (size_t v = 0; v < voxels; v++)
            signals[i * voxels + v] = read[v * all + volumes[i]];
    }
    if (spoil) {
        signals[10 * voxels + 3] = NAN;
        signals[11 * voxels + 5] = -1;
        for (size_t i = 0; i < count; i++)
            signals[i * voxels + 7] = b[i] == 0 ? 0 : signals[i * voxels + 7];
    }
    CHECK(hot_dwi_create(context, hot_dwi_grid(from), count, b, g, signals, &made) == HOT_OK, "%s",
          hot_context_message(context));
    free(read), free(signals), free(b), free(g);
    return made;
}

static hot_fiber_field *find(hot_context *context, const hot_dwi *dwi, const hot_response *response,
                             const hot_signal_find_options *options, hot_signal_maps *maps)
{
    hot_mask *mask = NULL;
    hot_fiber_field *fibers = NULL;
    CHECK(hot_mask_full(context, hot_dwi_grid(dwi), &mask) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_fiber_field_signal(context, dwi, mask, response, options, maps, &fibers) == HOT_OK, "%s",
          hot_context_message(context));
    hot_mask_destroy(&mask);
    return fibers;
}

/* The share of voxels whose fibres are the same to within `tolerance` per component. */
static double same(const hot_fiber_field *a, const hot_fiber_field *b, double tolerance)
{
    size_t equal = 0, voxels = 240;
    for (size_t v = 0; v < voxels; v++) {
        int all = 1;
        for (size_t d = 0; d < 9; d++)
            all &= fabs(hot_fiber_field_peaks(a)[9 * v + d] - hot_fiber_field_peaks(b)[9 * v + d]) <= tolerance;
        equal += (size_t)all;
    }
    return (double)equal / (double)voxels;
}

int main(void)
{
    hot_context *context = make_context();
    hot_phantom *phantom = make_phantom(context, 8), *lone = make_phantom(context, 1);
    const hot_dwi *dwi = hot_phantom_dwi(phantom);
    hot_response *response = NULL;
    hot_signal_maps maps;
    hot_signal_find_options keep = {.size = sizeof keep, .keep_maps = 1};
    CHECK(hot_response_tensor(context, dwi, 1.7e-3, 0.2e-3, 1000, 8, &response) == HOT_OK, "%s",
          hot_context_message(context));

    hot_fiber_field *plain = find(context, dwi, response, &keep, &maps);
    double score = score_of(context, plain, phantom);
    CHECK(score >= 0.97, "score %g", score);
    CHECK_NEAR(maps.sigma, hot_phantom_sigma(phantom, 0), 0.1 * hot_phantom_sigma(phantom, 0), "sigma %g", maps.sigma);
    CHECK(maps.voxels == 240 && maps.flagged == 0, "%zu of %zu flagged", maps.flagged, maps.voxels);
    double residual = 0, certain = 0;
    for (size_t v = 0; v < 240; v++) {
        const float *p = maps.probability + 4 * v;
        residual += maps.residual[v] / 240;
        certain += p[hot_fiber_field_counts(plain)[v]] / 240;
        CHECK_NEAR(p[0] + p[1] + p[2] + p[3], 1, 1e-5, "probabilities of voxel %zu", v);
        CHECK(maps.margin[v] >= 0, "margin %g", (double)maps.margin[v]);
    }
    CHECK(residual > 0.85 && residual < 1.05, "mean residual %g sigma", residual);
    CHECK(certain > 0.9, "mean probability of the chosen number %g", certain);
    hot_signal_maps_free(&maps);

    /* repeated volumes */
    size_t order[76], volumes = hot_dwi_volumes(dwi);
    for (size_t i = 0; i < volumes + 2; i++)
        order[i] = i < volumes ? i : i - 40;
    warnings = 0;
    hot_dwi *other = copy_dwi(context, dwi, volumes + 2, order, 0);
    hot_fiber_field *again = find(context, other, response, NULL, NULL);
    CHECK(same(plain, again, 0) == 1, "repeated volumes change %g of voxels", 1 - same(plain, again, 0));
    CHECK(warnings == 1, "%d warnings about repeated volumes", warnings);
    hot_fiber_field_destroy(&again);
    hot_dwi_destroy(&other);
    /* voxels that cannot be used; the others do not notice */
    warnings = 0;
    other = copy_dwi(context, dwi, volumes, order, 1);
    again = find(context, other, response, &keep, &maps);
    CHECK(maps.flags[3] == HOT_VOXEL_NOT_FINITE && maps.flags[5] == 0 && maps.flags[7] == HOT_VOXEL_NO_B0,
          "flags %d %d %d", maps.flags[3], maps.flags[5], maps.flags[7]);
    CHECK(maps.flagged == 2 && warnings == 1, "%zu flagged, %d warnings", maps.flagged, warnings);
    CHECK(maps.noise_model == HOT_NOISE_RICIAN, "one negative sample makes the noise Gaussian");
    CHECK(hot_fiber_field_counts(again)[3] + hot_fiber_field_counts(again)[7] == 0, "flagged voxels have fibres");
    CHECK(hot_fiber_field_counts(again)[5] > 0, "a negative sample costs the fibres");
    CHECK(same(plain, again, 0.02) >= 236.0 / 240, "spoiled voxels change others");
    hot_signal_maps_free(&maps);
    hot_fiber_field_destroy(&again);
    hot_dwi_destroy(&other);

    /* one b=0 volume: the noise comes from the residuals */
    again = find(context, hot_phantom_dwi(lone), response, &keep, &maps);
    CHECK_NEAR(maps.sigma, hot_phantom_sigma(lone, 0), 0.1 * hot_phantom_sigma(lone, 0), "sigma %g from residuals",
               maps.sigma);
    score = score_of(context, again, lone);
    CHECK(score >= 0.95, "score %g with one b=0 volume", score);
    hot_signal_maps_free(&maps);
    hot_fiber_field_destroy(&again);

    /* no b=0 volume is refused with a message */
    hot_mask *mask = NULL;
    hot_fiber_field *none = NULL;
    other = copy_dwi(context, dwi, volumes - 8, order + 8, 0);
    CHECK(hot_mask_full(context, hot_dwi_grid(other), &mask) == HOT_OK, "no mask");
    CHECK(hot_fiber_field_signal(context, other, mask, response, NULL, NULL, &none) == HOT_ERROR_DATA && !none,
          "not refused");
    CHECK(strstr(hot_context_message(context), "b=0"), "message: %s", hot_context_message(context));
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&other);

    hot_fiber_field_destroy(&plain);
    hot_response_destroy(&response);
    hot_phantom_destroy(&phantom);
    hot_phantom_destroy(&lone);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
