/* The accuracy of the pipeline's signal method on hot_phantom's data, with the response estimated by
 * hot_response_estimate from a separate phantom of single fibres of equal b and SNR: the table of BENCHMARKS.md.
 *
 *   bench_signal_accuracy [--seed N] [--voxels N per condition] [--own-response] [--across D] [--only N]
 *
 * --own-response estimates the response from the very data that are analysed. */
#include "check.h"

#include <hotfiber/hotfiber.h>

typedef struct condition {
    const char *name;
    size_t shells, directions;
    double b[2], snr, csf, dispersion, share; /* share: of the first of two fibres; 0 = the phantom's default */
    double factor;                            /* > 0: diffusivities of the response given, times this */
} condition;

static const condition conditions[] = {
    {"b=3000 SNR 30", 1, 64, {3000}, 30, 0, 0, 0, 0},
    {"b=3000 SNR 20", 1, 64, {3000}, 20, 0, 0, 0, 0},
    {"b=1000 SNR 30", 1, 64, {1000}, 30, 0, 0, 0, 0},
    {"b=1000 SNR 20", 1, 64, {1000}, 20, 0, 0, 0, 0},
    {"CSF 0-30 %, b=3000 SNR 30", 1, 64, {3000}, 30, 0.3, 0, 0, 0},
    {"CSF 0-30 %, b=3000 SNR 20", 1, 64, {3000}, 20, 0.3, 0, 0, 0},
    {"dispersion 0-15, b=3000 SNR 30", 1, 64, {3000}, 30, 0, 15, 0, 0},
    {"dispersion 0-15, b=3000 SNR 20", 1, 64, {3000}, 20, 0, 15, 0, 0},
    {"b=1000+3000 SNR 30", 2, 32, {1000, 3000}, 30, 0, 0, 0, 0},
    {"b=1000+3000 SNR 20", 2, 32, {1000, 3000}, 20, 0, 0, 0, 0},
    {".8/.2, b=3000 SNR 30", 1, 64, {3000}, 30, 0, 0, 0.8, 0},
    {".8/.2, b=1000 SNR 30", 1, 64, {1000}, 30, 0, 0, 0.8, 0},
    {"response 25 % low, b=3000 SNR 30", 1, 64, {3000}, 30, 0, 0, 0, 0.75},
    {"response 25 % high, b=3000 SNR 30", 1, 64, {3000}, 30, 0, 0, 0, 1.25},
};
enum { CONDITIONS = sizeof conditions / sizeof conditions[0] };

static hot_context *make_context(uint64_t seed)
{
    hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .threads = 1, .seed = seed};
    hot_context *context = NULL;
    if (hot_context_create(&options, &context) != HOT_OK)
        exit(1);
    return context;
}

#define TRY(call) \
    do { \
        if ((call) != HOT_OK) { \
            printf("%s: %s\n", #call, hot_context_message(context)); \
            exit(1); \
        } \
    } while (0)

static void one(const condition *c, uint64_t seed, size_t voxels, int own, double across)
{
    static const hot_phantom_condition singles = {.fibers = 1};
    hot_phantom_condition rows[9];
    size_t count, groups;
    memcpy(rows, hot_phantom_default_conditions(&count), sizeof rows[0] * 6);
    rows[6] = (hot_phantom_condition){.fibers = 2, .angle = {40, 40}, .fraction = {0.5, 0.5}};
    rows[6].fraction[0] = rows[1].fraction[0], rows[6].fraction[1] = rows[1].fraction[1];
    for (int i = 1; i < 4; i++)
        if (c->share > 0)
            rows[i].fraction[0] = rows[i].fraction[1] = c->share;
    hot_phantom_options options = {.size = sizeof options, .voxels = voxels, .snr = &c->snr, .snr_count = 1,
                                   .shell_b = c->b, .shells = c->shells, .directions = c->directions,
                                   .csf = {0, c->csf}, .dispersion = {0, c->dispersion}, .radial = across,
                                   .conditions = rows, .condition_count = 6};
    hot_context *context = make_context(seed);
    hot_phantom *phantom, *single;
    hot_response *response = NULL;
    hot_mask *mask;
    hot_fiber_field *fibers;
    hot_score *score;
    int groups_scored;
    TRY(hot_phantom_create(context, &options, &phantom));
    TRY(hot_mask_full(context, hot_dwi_grid(hot_phantom_dwi(phantom)), &mask));
    if (c->factor > 0) {
        TRY(hot_response_tensor(context, hot_phantom_dwi(phantom), 1.7e-3 * c->factor, across * c->factor, 1000, 8,
                                &response));
    } else if (own) {
        TRY(hot_response_estimate(context, hot_phantom_dwi(phantom), mask, 8, &response, NULL));
    } else {
        hot_context *other = make_context(seed + 1000000);
        hot_phantom_options plain = options;
        hot_mask *all;
        plain.conditions = &singles;
        plain.condition_count = 1;
        plain.csf[1] = plain.dispersion[1] = 0;
        plain.voxels = 300;
        TRY(hot_phantom_create(other, &plain, &single));
        TRY(hot_mask_full(other, hot_dwi_grid(hot_phantom_dwi(single)), &all));
        TRY(hot_response_estimate(other, hot_phantom_dwi(single), all, 8, &response, NULL));
        hot_mask_destroy(&all);
        hot_phantom_destroy(&single);
        /* the response keeps its maker: `other` lives on */
    }
    hot_signal_find_options find = {.size = sizeof find, .clean_response = c->factor > 0};
    TRY(hot_fiber_field_signal(context, hot_phantom_dwi(phantom), mask, response, &find, NULL, &fibers));
    TRY(hot_score_create(context, fibers, hot_phantom_truth(phantom), NULL, &score));
    const hot_score_group *g = hot_score_groups(score, &groups);
    printf("%-34s %.4f |", c->name, hot_score_mean(score, &groups_scored));
    for (size_t i = 0; i < groups; i++)
        if (!strcmp(g[i].table, "condition"))
            printf(" %s %.3f/%.3f", g[i].name, (double)g[i].right_count / (double)g[i].voxels,
                   (double)g[i].solved / (double)g[i].voxels);
    /* the 40 degree crossing alone */
    hot_score_destroy(&score);
    hot_fiber_field_destroy(&fibers);
    hot_mask_destroy(&mask);
    hot_phantom_destroy(&phantom);
    options.conditions = rows + 6;
    options.condition_count = 1;
    TRY(hot_phantom_create(context, &options, &phantom));
    TRY(hot_mask_full(context, hot_dwi_grid(hot_phantom_dwi(phantom)), &mask));
    TRY(hot_fiber_field_signal(context, hot_phantom_dwi(phantom), mask, response, &find, NULL, &fibers));
    size_t right = 0;
    for (size_t i = 0; i < voxels; i++)
        right += hot_fiber_field_counts(fibers)[i] == 2;
    printf(" | 40 deg count %.3f\n", (double)right / (double)voxels);
    hot_fiber_field_destroy(&fibers);
    hot_mask_destroy(&mask);
    hot_phantom_destroy(&phantom);
    hot_response_destroy(&response);
    hot_context_destroy(&context);
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    size_t voxels = 200;
    int own = 0, only = -1;
    double across = 0.2e-3;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--own-response"))
            own = 1;
        else if (i + 1 < argc && !strcmp(argv[i], "--seed"))
            seed = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && !strcmp(argv[i], "--voxels"))
            voxels = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && !strcmp(argv[i], "--across"))
            across = atof(argv[++i]);
        else if (i + 1 < argc && !strcmp(argv[i], "--only"))
            only = atoi(argv[++i]);
        else
            return printf("%s: [--seed N] [--voxels N] [--own-response] [--across D] [--only N]\n",
                          argv[0]),
                   2;
    }
    for (int c = 0; c < CONDITIONS; c++)
        if (only < 0 || only == c)
            one(&conditions[c], seed * 100 + (uint64_t)c, voxels, own, across);
    return 0;
}
