/* How well the signal method finds fibres on simulated voxels: right count, and rightly solved (right count and every
 * fibre within 15 degrees), per group; score = mean rightly solved of the first five groups.
 *
 *   bench_kernel_accuracy [--seed N] [--voxels N per group]
 *
 * With the priors of hot_signal_priors_default: nothing is learned here. */
#include "simulated_response.h"

#include <time.h>

static const ph_settings conditions[] = {
    {"b=3000 SNR 30", 3000, 30, 0, 0, 1.7e-3, 0.3e-3, 0.4, 60, 0, 0},
    {"b=3000 SNR 20", 3000, 20, 0, 0, 1.7e-3, 0.3e-3, 0.4, 60, 0, 0},
    {"b=1000 SNR 30", 1000, 30, 0, 0, 1.7e-3, 0.3e-3, 0.4, 60, 0, 0},
    {"b=1000 SNR 20", 1000, 20, 0, 0, 1.7e-3, 0.3e-3, 0.4, 60, 0, 0},
    {"CSF 0-30 %, b=3000 SNR 30", 3000, 30, 0.3, 0, 1.7e-3, 0.3e-3, 0.4, 60, 0, 0},
    {"CSF 0-30 %, b=3000 SNR 20", 3000, 20, 0.3, 0, 1.7e-3, 0.3e-3, 0.4, 60, 0, 0},
    {"dispersion 0-15, b=3000 SNR 30", 3000, 30, 0, 15, 1.7e-3, 0.3e-3, 0.4, 60, 0, 0},
    {"dispersion 0-15, b=3000 SNR 20", 3000, 20, 0, 15, 1.7e-3, 0.3e-3, 0.4, 60, 0, 0},
    {"b=1000+3000 SNR 30", 0, 30, 0, 0, 1.7e-3, 0.3e-3, 0.4, 60, 0, 0},
    {"b=1000+3000 SNR 20", 0, 20, 0, 0, 1.7e-3, 0.3e-3, 0.4, 60, 0, 0},
    {"dispersion 0-15, b=1000 SNR 30", 1000, 30, 0, 15, 1.7e-3, 0.3e-3, 0.4, 60, 0, 0},
};
enum { CONDITIONS = sizeof conditions / sizeof conditions[0] };

typedef struct sample {
    size_t count;
    ph_voxel *voxels;
    float *signals;
    ph_scheme scheme;
    double rows[2 * PH_TERMS];
} sample;

static int make_sample(hot_context *context, const ph_settings *s, uint64_t seed, size_t per_group, sample *out)
{
    out->count = per_group * PH_GROUPS;
    out->voxels = malloc(out->count * sizeof *out->voxels);
    out->signals = malloc(out->count * (PH_B0 + PH_VOLUMES) * sizeof *out->signals);
    if (!out->voxels || !out->signals)
        return 0;
    ph_make_scheme(s, seed ^ 0x5ca1ab1e, &out->scheme);
    if (!ph_response_estimate(context, s, &out->scheme, seed ^ 0xfeed, 300, out->rows))
        return 0;
    for (size_t i = 0; i < out->count; i++) {
        ph_draw(&seed, s, (int)(i % PH_GROUPS), &out->voxels[i]);
        ph_simulate(&seed, s, &out->scheme, &out->voxels[i], out->signals + i * (PH_B0 + PH_VOLUMES));
    }
    return 1;
}

static void free_sample(sample *s)
{
    free(s->voxels);
    free(s->signals);
}

static double cosine(const double *a, const float *b)
{
    double n = sqrt((double)b[0] * b[0] + (double)b[1] * b[1] + (double)b[2] * b[2]);
    return n > 0 ? fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / n : 0;
}

/* Whether the k directions found match the truth one to one within 15 degrees. */
static int solved(const ph_voxel *v, const float *found)
{
    static const int orders[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const double limit = 0.9659258262890683;
    for (int o = 0; o < 6; o++) {
        int all = 1;
        for (int i = 0; i < v->k; i++)
            all &= orders[o][i] < v->k && cosine(v->v[i], found + 3 * orders[o][i]) >= limit;
        if (all)
            return 1;
    }
    return 0;
}

static double score(hot_context *context, const ph_settings *s, uint64_t seed, size_t per_group)
{
    sample data;
    int right[PH_GROUPS] = {0}, good[PH_GROUPS] = {0}, total[PH_GROUPS] = {0};
    if (!make_sample(context, s, seed, per_group, &data))
        return NAN;
    float *directions = malloc(data.count * 9 * sizeof *directions);
    uint8_t *found = malloc(data.count);
    hot_signal_scheme scheme = ph_signal_scheme(&data.scheme, data.rows);
    hot_signal_options options = {.size = sizeof options, .sigma = 1 / s->snr};
    hot_signal_result result = {.size = sizeof result, .directions = directions, .found = found};
    struct timespec begin, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    hot_status status = hot_signal_fibers_f32(context, &options, &scheme, data.count, data.signals, NULL, NULL, NULL,
                                              &result);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    if (status != HOT_OK)
        printf("failed: %s\n", hot_context_message(context));
    for (size_t i = 0; i < data.count; i++) {
        const ph_voxel *v = &data.voxels[i];
        total[v->group]++;
        right[v->group] += found[i] == v->k;
        good[v->group] += found[i] == v->k && solved(v, directions + 9 * i);
    }
    double mean = 0;
    for (int g = 0; g < 5; g++)
        mean += 0.2 * good[g] / total[g];
    printf("%-32s %.4f |", s->name, mean);
    for (int g = 0; g < PH_GROUPS; g++)
        printf(" %.3f/%.3f", (double)right[g] / total[g], (double)good[g] / total[g]);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    printf(" | %.0f voxels/s of CPU time\n", (double)data.count / seconds);
    free(directions);
    free(found);
    free_sample(&data);
    return mean;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    size_t per_group = 200;
    hot_context *context;
    hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU, .threads = 1};
    for (int i = 1; i < argc; i++) {
        if (i + 1 < argc && !strcmp(argv[i], "--seed"))
            seed = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && !strcmp(argv[i], "--voxels"))
            per_group = strtoull(argv[++i], NULL, 10);
        else
            return printf("%s: [--seed N] [--voxels N]\n", argv[0]), 2;
    }
    if (hot_context_create(&how, &context) != HOT_OK)
        return 1;
    printf("%-32s score  | right count/solved:", "");
    for (int g = 0; g < PH_GROUPS; g++)
        printf(" %s", ph_group_name[g]);
    printf("\n");
    for (int c = 0; c < CONDITIONS; c++)
        score(context, &conditions[c], seed * 1000 + (uint64_t)c, per_group);
    hot_context_destroy(&context);
    return 0;
}
