/* The strength of the selected voxels' average relative to the response, which is made from the sharpest of them. */
#include <math.h>

#include "response_estimate.h"

/* How much wider than the response the average fibre may be, rad^2: half normal, and at most that. The noise of few
 * voxels would otherwise pass for width. */
static const double width_sd = .004, max_width = .03;
enum { STEPS = 300 };
/* What the average lacks is taken by free water beside the fibres, or by fibres with fewer axons, whose signal beyond
 * that of the sharper ones is isotropic, nearly. Diffusivities of both, mm^2/s: the second is what is left at b=1000 on
 * simulated tissue of sticks and zeppelins (docs/decisions/010-signal-fractions.md). Before: none is water, give or
 * take this share. */
static const double water_diffusivity = 3e-3, fewer_axons_diffusivity = 1.6e-3, water_sd = .5;

/* Mean square of the response's residual over the selected voxels, for signals relative to b=0. */
static double mean_misfit(const hot_response_search *search)
{
    double sum = 0;
    for (size_t i = 0; i < search->chosen; i++)
        sum += search->candidates[search->merits[i].place].misfit;
    return sum / (double)search->chosen;
}

/* Variance of a coefficient of mean - sharp, b=0 signals being 1: 4 pi over the samples'; the third that is sharp has
 * three times that, and is part of all. */
static double variance_of(const hot_response_search *search, size_t shell, double noise)
{
    size_t volumes = 0;
    for (size_t v = 0; v < search->volumes; v++)
        volumes += search->shell_of[v] == (int)shell;
    return 2 * 4 * M_PI * noise / (double)(volumes * search->chosen);
}

/* The share of free water in the average's deficit, by the coefficients of degree 0. */
static double share_of_water(const hot_response_search *search, const hot_response *mean, const hot_response *sharp,
                             double typical, double noise)
{
    const size_t terms = (size_t)sharp->lmax / 2 + 1;
    double own = 1 / (water_sd * water_sd), both = 0;
    for (size_t shell = 1; shell < sharp->shells; shell++) {
        const double b = sharp->b[shell], variance = variance_of(search, shell, noise);
        const double lacks = (1 - typical) * sqrt(4 * M_PI);
        const double slope = lacks * (exp(-b * water_diffusivity) - exp(-b * fewer_axons_diffusivity));
        const double is = (mean->rows[shell * terms] - typical * sharp->rows[shell * terms]) / mean->rows[0] *
                          sqrt(4 * M_PI);
        own += slope * slope / variance;
        both += slope * (is - lacks * exp(-b * fewer_axons_diffusivity)) / variance;
    }
    return fmin(fmax(both / own, 0), 1);
}

double hot_response_find_typical(const hot_response_search *search, const hot_response *mean,
                                 const hot_response *sharp)
{
    const size_t terms = (size_t)sharp->lmax / 2 + 1;
    const double unit = mean->rows[0] / sqrt(4 * M_PI), noise = mean_misfit(search);
    double least = INFINITY, typical = 1;
    if (!(unit > 0) || !(noise > 0))
        return 1;
    for (int step = 0; step <= STEPS; step++) {
        const double width = max_width * step / STEPS;
        double own = 0, both = 0, squares = 0;
        for (size_t shell = 1; shell < sharp->shells; shell++) {
            const double variance = variance_of(search, shell, noise) * unit * unit;
            for (size_t l = 1; l < terms; l++) { /* degree 0 is the isotropic part's */
                const double is = mean->rows[shell * terms + l];
                const double as = sharp->rows[shell * terms + l] * exp(-(double)(2 * l * (2 * l + 1)) * width);
                own += as * as / variance, both += as * is / variance, squares += is * is / variance;
            }
        }
        const double cost = squares - both * both / own + width * width / (width_sd * width_sd);
        if (own > 0 && cost < least) {
            least = cost;
            typical = both / own;
        }
    }
    typical = fmin(fmax(typical, .5), 1);
    return 1 - (1 - typical) * (1 - share_of_water(search, mean, sharp, typical, noise));
}
