/* How often hot_lowrank_f32 is exact. The tensors are sums of k rank-1 terms without noise, every pair of terms the
 * same angle apart. Prints, as a table in Markdown, the share of them for which it finds k terms, each within 0.1
 * degrees, and the largest error of those.
 *
 *   bench_lowrank_exact [--seed N] [--count N per entry] */
#include "check.h"

#include <hotfiber/lowrank.h>
#include <hotfiber/symtensor.h>

enum { TERMS_MAX = 45 };
static const double angles[] = {15, 20, 25, 30, 35, 40, 45, 60, 75, 90};
enum { ANGLES = sizeof angles / sizeof angles[0] };

/* k unit vectors, every pair `angle` apart, turned at random, each with a random sign. */
static void draw(uint64_t *seed, int k, double angle, double v[3][3])
{
    double frame[3][3], length = 0, dot = 0;
    check_random_unit(seed, frame[2]);
    check_random_unit(seed, frame[0]);
    for (int d = 0; d < 3; d++)
        dot += frame[0][d] * frame[2][d];
    for (int d = 0; d < 3; d++)
        frame[0][d] -= dot * frame[2][d], length += frame[0][d] * frame[0][d];
    for (int d = 0; d < 3; d++)
        frame[0][d] /= sqrt(length);
    for (int d = 0; d < 3; d++)
        frame[1][d] = frame[2][(d + 1) % 3] * frame[0][(d + 2) % 3] - frame[2][(d + 2) % 3] * frame[0][(d + 1) % 3];
    /* on a cone about the third axis: their chord, 2 sin(angle / 2), is that of a circle of radius r over
     * 180 or 120 degrees */
    const double r = k == 1 ? 0 : sin(angle / 114.59155902616465) / (k == 2 ? 1 : sqrt(3) / 2);
    for (int i = 0; i < k; i++) {
        const double turn = 2 * 3.14159265358979323846 * i / (k == 1 ? 1 : k), sign = check_random(seed) < 0.5 ? -1 : 1;
        for (int d = 0; d < 3; d++)
            v[i][d] = sign *
                (r * cos(turn) * frame[0][d] + r * sin(turn) * frame[1][d] + sqrt(1 - r * r) * frame[2][d]);
    }
}

static double degrees_between(const double *a, const float *b)
{
    const double w[3] = {(double)b[0], (double)b[1], (double)b[2]};
    const double cross[3] = {a[1] * w[2] - a[2] * w[1], a[2] * w[0] - a[0] * w[2], a[0] * w[1] - a[1] * w[0]};
    return 57.29577951308232 * atan2(sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]),
                                     fabs(a[0] * w[0] + a[1] * w[1] + a[2] * w[2]));
}

/* The largest angle between a true direction and the nearest found one. */
static double worst(int k, double v[3][3], const float *found)
{
    double most = 0;
    for (int i = 0; i < k; i++) {
        double least = 90;
        for (int j = 0; j < k; j++)
            least = fmin(least, degrees_between(v[i], found + 3 * j));
        most = fmax(most, least);
    }
    return most;
}

static void entry(hot_context *context, uint64_t seed, int order, int k, double angle, size_t count)
{
    const size_t unique = hot_symtensor_count(order, 3);
    int exponents[3 * TERMS_MAX];
    float *tensors = malloc(count * unique * sizeof *tensors), *found = malloc(count * 9 * sizeof *found);
    double(*truth)[3][3] = malloc(count * sizeof *truth);
    uint8_t *terms = malloc(count);
    size_t right = 0;
    double most = 0;
    if (!tensors || !found || !truth || !terms)
        exit(1);
    hot_symtensor_exponents(order, 3, exponents);
    for (size_t n = 0; n < count; n++) {
        double weight[3];
        draw(&seed, k, angle, truth[n]);
        for (int i = 0; i < k; i++)
            weight[i] = 0.3 + 0.7 * check_random(&seed);
        for (size_t u = 0; u < unique; u++) {
            double sum = 0;
            for (int i = 0; i < k; i++)
                sum += weight[i] * pow(truth[n][i][0], exponents[3 * u]) * pow(truth[n][i][1], exponents[3 * u + 1]) *
                       pow(truth[n][i][2], exponents[3 * u + 2]);
            tensors[n * unique + u] = (float)sum;
        }
    }
    hot_lowrank_options options = {.size = sizeof options, .min_weight = 0.1, .min_angle = 10};
    if (hot_lowrank_f32(context, &options, order, count, tensors, unique, NULL, found, terms, NULL) != HOT_OK) {
        printf("%s\n", hot_context_message(context));
        exit(1);
    }
    for (size_t n = 0; n < count; n++) {
        const double off = terms[n] == k ? worst(k, truth[n], found + 9 * n) : 90;
        right += off <= 0.1;
        most = off <= 0.1 ? fmax(most, off) : most;
    }
    printf(" %.3f (%.3f) |", (double)right / (double)count, most);
    fflush(stdout);
    free(terms), free(truth), free(found), free(tensors);
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    size_t count = 1000;
    hot_context *context = NULL;
    hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU, .threads = 1};
    for (int i = 1; i < argc; i++) {
        if (i + 1 < argc && !strcmp(argv[i], "--seed"))
            seed = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && !strcmp(argv[i], "--count"))
            count = strtoull(argv[++i], NULL, 10);
        else
            return printf("%s: [--seed N] [--count N]\n", argv[0]), 2;
    }
    if (hot_context_create(&how, &context) != HOT_OK)
        return 1;
    printf("| order, terms |");
    for (int a = 0; a < ANGLES; a++)
        printf(" %g degrees |", angles[a]);
    printf("\n| --- |");
    for (int a = 0; a < ANGLES; a++)
        printf(" --- |");
    printf("\n");
    for (int order = 4; order <= 8; order += 2)
        for (int k = 1; k <= 3; k++) {
            printf("| %d, %d |", order, k);
            for (int a = 0; a < ANGLES; a++)
                if (k > 1 || a == 0) /* one term has no angle */
                    entry(context, seed * 1000 + (uint64_t)(order * 100 + k * 20 + a), order, k, angles[a], count);
                else
                    printf(" |");
            printf("\n");
        }
    hot_context_destroy(&context);
    return 0;
}
