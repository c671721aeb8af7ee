/* Checks for C tests. CHECK goes on after a failure and counts it, in any thread; HOT_TEST_END returns the verdict.
 * Comparisons are written so that NaN fails: !(error <= tolerance). */
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures __attribute__((unused)), check_total __attribute__((unused));

#define CHECK(condition, ...)                                                  \
    do {                                                                       \
        __atomic_add_fetch(&check_total, 1, __ATOMIC_RELAXED);                 \
        if (!(condition)) {                                                    \
            if (__atomic_fetch_add(&check_failures, 1, __ATOMIC_RELAXED) < 20) { \
                printf("%s:%d: not so: %s: ", __FILE__, __LINE__, #condition); \
                printf(__VA_ARGS__);                                           \
                printf("\n");                                                  \
            }                                                                  \
        }                                                                      \
    } while (0)

/* |a - b| <= tolerance, false for NaN */
#define CHECK_NEAR(a, b, tolerance, ...) CHECK(fabs((double)(a) - (double)(b)) <= (tolerance), __VA_ARGS__)

#define HOT_TEST_END()                                                             \
    do {                                                                           \
        printf("%d passed, %d failed\n", check_total - check_failures, check_failures); \
        return check_failures ? 1 : 0;                                             \
    } while (0)

/* FREE(signals, directions); of malloc, in this order */
#define FREE(...)                                                              \
    do {                                                                       \
        void *const freed_[] = {__VA_ARGS__};                                  \
        for (size_t at_ = 0; at_ < sizeof freed_ / sizeof *freed_; at_++)      \
            free(freed_[at_]);                                                 \
    } while (0)

/* A file of this text. */
static inline void check_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s is not written", path);
}

/* splitmix64: the same numbers on every machine */
static inline uint64_t check_random_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
/* uniform in [0, 1) */
static inline double check_random(uint64_t *state) { return (double)(check_random_bits(state) >> 11) * 0x1p-53; }
/* standard normal */
static inline double check_random_normal(uint64_t *state)
{
    double u = 1 - check_random(state), v = check_random(state);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}
/* uniform on the sphere */
static inline void check_random_unit(uint64_t *state, double x[3])
{
    double n = 0;
    for (int d = 0; d < 3; d++) {
        x[d] = check_random_normal(state);
        n += x[d] * x[d];
    }
    for (int d = 0; d < 3; d++)
        x[d] /= sqrt(n);
}

/* three axes at right angles, right-handed, turned at random */
static inline void check_random_axes(uint64_t *state, double x[3], double y[3], double z[3])
{
    check_random_unit(state, x);
    check_random_unit(state, y);
    for (int d = 0; d < 3; d++)
        z[d] = x[(d + 1) % 3] * y[(d + 2) % 3] - x[(d + 2) % 3] * y[(d + 1) % 3];
    const double length = sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
    for (int d = 0; d < 3; d++)
        z[d] /= length;
    for (int d = 0; d < 3; d++)
        y[d] = z[(d + 1) % 3] * x[(d + 2) % 3] - z[(d + 2) % 3] * x[(d + 1) % 3];
}
