/* How well the signal method finds fibres on simulated voxels: right count, and rightly solved (right count and every
 * fibre within 15 degrees), per group; score = mean rightly solved of the first five groups.
 *
 *   bench_kernel_accuracy [--seed N] [--voxels N per group] [--features DIR]
 *
 * --features writes what the rules of signal_rule.h are made from (signal_rule.py reads it) instead of scoring. */
#include "signal/signal_rule.h"

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

/* What the rule for varied contrast is made from. The last but one are like a phantom of fibres in water: little
 * difference along and across. */
static const ph_settings varied[] = {
    {"b=1000 SNR 30", 1000, 30, 0.2, 20, 1.7e-3, 0.3e-3, 0.4, 55, 0.5, 0.2},
    {"b=1000 SNR 15", 1000, 15, 0.2, 20, 1.7e-3, 0.3e-3, 0.4, 55, 0.5, 0.2},
    {"b=2000 SNR 25", 2000, 25, 0.2, 20, 1.7e-3, 0.3e-3, 0.4, 50, 0.5, 0.2},
    {"b=3000 SNR 30", 3000, 30, 0.2, 20, 1.7e-3, 0.25e-3, 0.4, 50, 0.5, 0.2},
    {"b=3000 SNR 15", 3000, 15, 0.2, 20, 1.7e-3, 0.3e-3, 0.4, 55, 0.5, 0.2},
    {"b=1000+3000 SNR 30", 0, 30, 0.2, 20, 1.7e-3, 0.3e-3, 0.4, 50, 0.5, 0.2},
    {"b=1000+3000 SNR 20", 0, 20, 0.2, 20, 1.7e-3, 0.25e-3, 0.4, 55, 0.5, 0.2},
    {"b=1500 SNR 60, little contrast", 1500, 60, 0.2, 15, 2.1e-3, 1.4e-3, 0.4, 60, 0.4, 0.15},
    {"b=1500 SNR 40, little contrast", 1500, 40, 0.2, 15, 1.9e-3, 1.1e-3, 0.4, 60, 0.4, 0.15},
    {"b=3000 SNR 20, alike", 3000, 20, 0, 5, 1.7e-3, 0.3e-3, 0.4, 55, 0.05, 0.05},
};
enum { VARIED = sizeof varied / sizeof varied[0] };

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

static double score(hot_context *context, const ph_settings *s, uint64_t seed, size_t per_group, hot_select select)
{
    sample data;
    int right[PH_GROUPS] = {0}, good[PH_GROUPS] = {0}, total[PH_GROUPS] = {0};
    if (!make_sample(context, s, seed, per_group, &data))
        return NAN;
    float *directions = malloc(data.count * 9 * sizeof *directions);
    uint8_t *found = malloc(data.count);
    hot_signal_scheme scheme = ph_signal_scheme(&data.scheme, data.rows);
    hot_signal_options options = {.size = sizeof options, .sigma = 1 / s->snr, .select = select};
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

/* One row of floats per voxel: group, k, true directions (9); then per fit (iso, one, two, three): q, logdet, tau,
 * more, squared residuals, isotropic part, then per fibre weight and direction; last the isotropic part's limit and how
 * many volumes there are. */
enum { FEATURES = 11 + 4 * 6 + 4 * (1 + 1 + 2 + 3) + 2 };

static int put_fit(float *row, int at, const signal_fit *f, vf logdet, vf more, int k, int lane)
{
    row[at++] = f->q[lane];
    row[at++] = logdet[lane];
    row[at++] = f->tau[lane];
    row[at++] = more[lane];
    row[at++] = f->chi[lane];
    row[at++] = expf(f->lc[lane]);
    for (int i = 0; i < k; i++) {
        row[at++] = expf(f->lw[i][lane]);
        for (int d = 0; d < 3; d++)
            row[at++] = f->v[i][d][lane];
    }
    return at;
}

/* mixed: for signal_costs_mixed, with a sigma that is wrong by up to a quarter */
static int features(hot_context *context, const ph_settings *s, uint64_t seed, size_t per_group, int mixed,
                    const char *path)
{
    sample data;
    signal_plan plan;
    FILE *file = fopen(path, "wb");
    static float y[PH_VOLUMES * HOT_LANES_F32] __attribute__((aligned(64)));
    vf scratch[SIGNAL_GRID];
    if (!file || !make_sample(context, s, seed, per_group, &data))
        return 0;
    hot_signal_scheme scheme = ph_signal_scheme(&data.scheme, data.rows);
    hot_signal_options options = {.size = sizeof options, .max_fibers = 3, .order = 8, .sigma = 1 / s->snr,
                                  .tau_sd = mixed ? 0.02 : 0.015, .weight_sd = mixed ? 0.8 : 0.4,
                                  .contrast = mixed ? HOT_CONTRAST_VARIED : HOT_CONTRAST_ALIKE};
    if (hot_signal_plan_make(context, &options, &scheme, 0, &plan) != HOT_OK)
        return 0;
    for (size_t i = 0; i + HOT_LANES_F32 <= data.count; i += HOT_LANES_F32) {
        signal_data voxels = {y, HOT_LANES_F32, vset(0)};
        signal_fits fits;
        for (size_t lane = 0; lane < HOT_LANES_F32; lane++) {
            const float *signal = data.signals + (i + lane) * (PH_B0 + PH_VOLUMES);
            const float snr = (float)(s->snr * (mixed ? ph_uniform(&seed, 0.8, 1.25) : 1));
            for (int j = 0; j < PH_VOLUMES; j++)
                y[j * HOT_LANES_F32 + (int)lane] = signal[plan.order[j]] * snr;
            for (int j = 0; j < PH_B0; j++)
                voxels.snr[lane] += signal[j] / PH_B0 * snr;
        }
        if (mixed)
            signal_fit_all(1, &plan.scheme, &plan.grid, &plan.prior, 3, &voxels, scratch, &fits);
        else
            signal_fit_all(0, &plan.scheme, &plan.grid, &plan.prior, 3, &voxels, scratch, &fits);
        for (int lane = 0; lane < HOT_LANES_F32; lane++) {
            const ph_voxel *v = &data.voxels[i + (size_t)lane];
            float row[FEATURES] = {(float)v->group, (float)v->k};
            for (int d = 0; d < 9; d++)
                row[2 + d] = (float)v->v[d / 3][d % 3];
            int at = put_fit(row, 11, &fits.iso, fits.logdet[1], fits.more[1], 1, lane);
            at = put_fit(row, at, &fits.one, fits.logdet[0], fits.more[0], 1, lane);
            at = put_fit(row, at, &fits.two, fits.logdet[2], fits.more[2], 2, lane);
            at = put_fit(row, at, &fits.three, fits.logdet[3], fits.more[3], 3, lane);
            row[at++] = plan.prior.isotropic_limit;
            row[at] = PH_VOLUMES;
            fwrite(row, sizeof *row, FEATURES, file);
        }
    }
    hot_signal_plan_free(context, &plan);
    free_sample(&data);
    return fclose(file) == 0;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    size_t per_group = 200;
    const char *folder = NULL;
    hot_select select = HOT_SELECT_MAP;
    hot_context *context;
    hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU, .threads = 1};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--averaged"))
            select = HOT_SELECT_AVERAGED;
        else if (i + 1 < argc && !strcmp(argv[i], "--seed"))
            seed = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && !strcmp(argv[i], "--voxels"))
            per_group = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && !strcmp(argv[i], "--features"))
            folder = argv[++i];
        else
            return printf("%s: [--seed N] [--voxels N] [--averaged] [--features DIR]\n", argv[0]), 2;
    }
    if (hot_context_create(&how, &context) != HOT_OK)
        return 1;
    if (!folder) {
        printf("%-32s score  | right count/solved:", "");
        for (int g = 0; g < PH_GROUPS; g++)
            printf(" %s", ph_group_name[g]);
        printf("\n");
    }
    for (int c = 0; c < CONDITIONS; c++) {
        if (!folder) {
            score(context, &conditions[c], seed * 1000 + (uint64_t)c, per_group, select);
            continue;
        }
        /* three kinds of tissue, so that the rule fits none of them too well */
        static const double tissue[3][4] = {{1.7e-3, 0.3e-3, 0.4, 55}, {1.7e-3, 0.2e-3, 0.35, 48},
                                            {1.6e-3, 0.35e-3, 0.45, 60}};
        for (int t = 0; t < 3; t++) {
            ph_settings s = conditions[c];
            char path[1024];
            s.along = tissue[t][0], s.across = tissue[t][1], s.least = tissue[t][2], s.three_angle = tissue[t][3];
            snprintf(path, sizeof path, "%s/%s_%02d_%d.bin", folder, s.dispersion > 0 ? "dispersed" : "alike", c, t);
            if (!features(context, &s, seed * 1000 + (uint64_t)(c * 3 + t), per_group, 0, path))
                return printf("cannot make %s: %s\n", path, hot_context_message(context)), 1;
        }
    }
    for (int c = 0; folder && c < VARIED; c++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/varied_%02d.bin", folder, c);
        if (!features(context, &varied[c], seed * 1000 + 500 + (uint64_t)c, 2 * per_group, 1, path))
            return printf("cannot make %s: %s\n", path, hot_context_message(context)), 1;
    }
    hot_context_destroy(&context);
    return 0;
}
