/* Simulated voxels for tuning and judging the rank-k kernels: Gaussian compartments, Rician noise, known fibres. */
#pragma once

#include "check.h"

#include <hotfiber/signal.h>

enum { PH_VOLUMES = 64, PH_B0 = 8, PH_GROUPS = 11, PH_SPREAD = 64, PH_TERMS = 5 };

/* The groups of voxels; the score is the mean over the first five. */
enum { PH_SINGLE, PH_30, PH_45, PH_60, PH_THREE, PH_GREY, PH_CSF, PH_40, PH_82_30, PH_82_45, PH_82_60 };
static const char *const ph_group_name[PH_GROUPS] = {"single",  "30-40", "45-55",    "60-90",    "three",   "grey",
                                                     "csf",     "40",    "82 30-40", "82 45-55", "82 60-90"};

typedef struct ph_settings {
    const char *name;
    double b;           /* 1000 or 3000; 0 = both, half of the directions each */
    double snr;
    double csf;         /* free water fraction uniform from 0 to this */
    double dispersion;  /* degrees, uniform from 0 to this: standard deviation along each tangent */
    double along, across; /* diffusivities, mm^2/s */
    double least;       /* smallest fraction of a two-fibre voxel; three: weights vary likewise */
    double three_angle; /* smallest angle between three fibres */
    double hindered;    /* an isotropic compartment in addition to the fibres, fraction uniform from 0 to this */
    double vary;        /* each voxel's diffusivities differ by up to this share */
} ph_settings;

typedef struct ph_scheme {
    double b[PH_VOLUMES + PH_B0], gradient[(PH_VOLUMES + PH_B0) * 3];
    size_t shells;
    double shell_b[2];
} ph_scheme;

typedef struct ph_voxel {
    int group, k;
    double v[3][3], fraction[3], csf, diffusivity, dispersion, hindered, along, across;
} ph_voxel;

/* Directions that repel each other and their mirror images. */
static inline void ph_directions(uint64_t *seed, int n, double *g)
{
    for (int i = 0; i < n; i++)
        check_random_unit(seed, g + 3 * i);
    for (int pass = 0; pass < 400; pass++)
        for (int i = 0; i < n; i++) {
            double force[3] = {0, 0, 0}, *x = g + 3 * i, dot = 0, size = 0, norm = 0;
            for (int j = 0; j < n; j++)
                for (int sign = -1; sign <= 1 && j != i; sign += 2) {
                    double d[3], r2 = 1e-9;
                    for (int a = 0; a < 3; a++)
                        d[a] = x[a] - sign * g[3 * j + a], r2 += d[a] * d[a];
                    for (int a = 0; a < 3; a++)
                        force[a] += d[a] / (r2 * sqrt(r2));
                }
            for (int a = 0; a < 3; a++)
                dot += force[a] * x[a];
            for (int a = 0; a < 3; a++)
                force[a] -= dot * x[a], size += force[a] * force[a];
            double step = fmin(0.1, 0.3 * sqrt(size) / (n * n)) / (1 + 0.01 * pass) / (sqrt(size) + 1e-12);
            for (int a = 0; a < 3; a++)
                x[a] += step * force[a], norm += x[a] * x[a];
            for (int a = 0; a < 3; a++)
                x[a] /= sqrt(norm);
        }
}

static inline void ph_make_scheme(const ph_settings *s, uint64_t seed, ph_scheme *scheme)
{
    memset(scheme, 0, sizeof *scheme);
    double *g = scheme->gradient + 3 * PH_B0, *b = scheme->b + PH_B0;
    if (s->b > 0) {
        scheme->shells = 1;
        scheme->shell_b[0] = s->b;
        ph_directions(&seed, PH_VOLUMES, g);
    } else {
        scheme->shells = 2;
        scheme->shell_b[0] = 1000;
        scheme->shell_b[1] = 3000;
        ph_directions(&seed, PH_VOLUMES / 2, g);
        ph_directions(&seed, PH_VOLUMES / 2, g + 3 * PH_VOLUMES / 2);
    }
    for (int i = 0; i < PH_VOLUMES; i++)
        b[i] = scheme->shell_b[i < PH_VOLUMES / 2 ? 0 : scheme->shells - 1];
}

static inline double ph_uniform(uint64_t *seed, double low, double high)
{
    return low + (high - low) * check_random(seed);
}

static inline void ph_perpendicular(uint64_t *seed, const double *v, double *e)
{
    double dot = 0, norm = 0;
    check_random_unit(seed, e);
    for (int d = 0; d < 3; d++)
        dot += e[d] * v[d];
    for (int d = 0; d < 3; d++)
        e[d] -= dot * v[d], norm += e[d] * e[d];
    for (int d = 0; d < 3; d++)
        e[d] /= sqrt(norm);
}

static inline void ph_draw(uint64_t *seed, const ph_settings *s, int group, ph_voxel *v)
{
    static const double low[PH_GROUPS] = {0, 30, 45, 60, 0, 0, 0, 40, 30, 45, 60};
    static const double high[PH_GROUPS] = {0, 40, 55, 90, 0, 0, 0, 40, 40, 55, 90};
    const double radian = 0.017453292519943295;
    memset(v, 0, sizeof *v);
    v->group = group;
    v->csf = ph_uniform(seed, 0, s->csf);
    v->dispersion = ph_uniform(seed, 0, s->dispersion) * radian;
    v->along = s->along * ph_uniform(seed, 1 - s->vary, 1 + s->vary);
    v->across = s->across * ph_uniform(seed, 1 - s->vary, 1 + s->vary);
    v->hindered = ph_uniform(seed, 0, s->hindered);
    if (s->hindered > 0)
        v->diffusivity = ph_uniform(seed, 0.6e-3, 1.5e-3);
    if (group == PH_GREY || group == PH_CSF) {
        v->diffusivity = group == PH_GREY ? 0.8e-3 : 3e-3;
    } else if (group == PH_SINGLE) {
        v->k = 1;
        v->fraction[0] = 1;
        check_random_unit(seed, v->v[0]);
    } else if (group == PH_THREE) {
        double near, sum = 0;
        v->k = 3;
        do {
            near = 0;
            for (int i = 0; i < 3; i++) {
                check_random_unit(seed, v->v[i]);
                for (int j = 0; j < i; j++)
                    near = fmax(near,
                                fabs(v->v[i][0] * v->v[j][0] + v->v[i][1] * v->v[j][1] + v->v[i][2] * v->v[j][2]));
            }
        } while (near > cos(s->three_angle * radian));
        for (int i = 0; i < 3; i++)
            sum += v->fraction[i] = ph_uniform(seed, s->least, 1 - s->least);
        for (int i = 0; i < 3; i++)
            v->fraction[i] /= sum;
    } else {
        double side[3], angle = ph_uniform(seed, low[group], high[group]) * radian;
        v->k = 2;
        check_random_unit(seed, v->v[0]);
        ph_perpendicular(seed, v->v[0], side);
        for (int d = 0; d < 3; d++)
            v->v[1][d] = cos(angle) * v->v[0][d] + sin(angle) * side[d];
        v->fraction[0] = group >= PH_82_30 ? 0.8 : ph_uniform(seed, s->least, 1 - s->least);
        v->fraction[1] = 1 - v->fraction[0];
    }
}

/* signal: PH_B0 + PH_VOLUMES values, S0 = 1. */
static inline void ph_simulate(uint64_t *seed, const ph_settings *s, const ph_scheme *scheme, const ph_voxel *v,
                               float *signal)
{
    static _Thread_local double stick[3][PH_SPREAD][3];
    const int spread = v->dispersion > 0 ? PH_SPREAD : 1;
    for (int i = 0; i < v->k; i++)
        for (int q = 0; q < spread; q++) {
            double e1[3], e2[3], a = 0, b = 0;
            ph_perpendicular(seed, v->v[i], e1);
            e2[0] = v->v[i][1] * e1[2] - v->v[i][2] * e1[1];
            e2[1] = v->v[i][2] * e1[0] - v->v[i][0] * e1[2];
            e2[2] = v->v[i][0] * e1[1] - v->v[i][1] * e1[0];
            if (spread > 1)
                a = v->dispersion * check_random_normal(seed), b = v->dispersion * check_random_normal(seed);
            double r = sqrt(a * a + b * b), sinc = r > 0 ? sin(r) / r : 1;
            for (int d = 0; d < 3; d++)
                stick[i][q][d] = cos(r) * v->v[i][d] + sinc * (a * e1[d] + b * e2[d]);
        }
    for (int j = 0; j < PH_B0 + PH_VOLUMES; j++) {
        const double b = scheme->b[j], *g = scheme->gradient + 3 * j;
        double clean = v->k ? v->csf * exp(-b * 3e-3) + v->hindered * exp(-b * v->diffusivity)
                            : exp(-b * v->diffusivity);
        for (int i = 0; i < v->k; i++) {
            double sum = 0;
            for (int q = 0; q < spread; q++) {
                double u = g[0] * stick[i][q][0] + g[1] * stick[i][q][1] + g[2] * stick[i][q][2];
                sum += exp(-b * (v->across + (v->along - v->across) * u * u));
            }
            clean += (1 - v->csf - v->hindered) * v->fraction[i] * sum / spread;
        }
        double re = clean + check_random_normal(seed) / s->snr, im = check_random_normal(seed) / s->snr;
        signal[j] = (float)(s->snr > 1e6 ? clean : sqrt(re * re + im * im));
    }
}

static inline double ph_legendre(int l, double u)
{
    double before = 1, now = u;
    for (int i = 2; i <= l; i++) {
        double next = ((2 * i - 1) * u * now - (i - 1) * before) / i;
        before = now;
        now = next;
    }
    return l == 0 ? 1 : now;
}

/* The zonal SH rows of the response of given diffusivities, shells x PH_TERMS. */
static inline void ph_response_exact(const ph_scheme *scheme, double along, double across, double *rows)
{
    const int points = 2000;
    for (size_t s = 0; s < scheme->shells; s++)
        for (int l = 0; l < PH_TERMS; l++) {
            double sum = 0;
            for (int i = 0; i < points; i++) {
                double u = (i + 0.5) / points;
                sum += exp(-scheme->shell_b[s] * (across + (along - across) * u * u)) * ph_legendre(2 * l, u) / points;
            }
            rows[s * PH_TERMS + (size_t)l] = sum * sqrt((4 * l + 1) * 4 * 3.14159265358979323846);
        }
}
