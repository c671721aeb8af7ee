/* See signal_response.h. */
#include "signal_response.h"

#include <math.h>

/* sqrt(pi/2) L_1/2(-t^2/2), the mean of a magnitude of underlying signal t and sigma = 1: the rational approximation of
 * signal_math.h. */
static double magnitude_mean(double t)
{
    double x = t * t;
    return sqrt(x + 1 + 0.570796327 * (1 + 0.07506814 * x) / (1 + x * (0.42645009 + x * 0.11427747)));
}

/* The signal whose magnitude has this mean. */
static double without_bias(double mean, double sigma)
{
    double low = 0, high = mean / sigma;
    for (int i = 0; i < 50; i++) {
        double middle = 0.5 * (low + high);
        if (magnitude_mean(middle) < mean / sigma)
            low = middle;
        else
            high = middle;
    }
    return sigma * high;
}

void hot_signal_clean_response(const hot_signal_options *options, const hot_signal_scheme *scheme, size_t shell,
                               int order, double *amplitude)
{
    enum { POINTS = 400, LMAX = 16 };
    const double pi = 3.14159265358979323846;
    const double sigma = options->noise_model == HOT_NOISE_GAUSSIAN ? 0 : options->response_sigma;
    const int lmax = scheme->lmax, highest = order > lmax ? order : lmax;
    const double *given = scheme->response + shell * (size_t)(lmax / 2 + 1);
    double row[LMAX / 2 + 1];
    for (int l = 0; l <= lmax / 2; l++)
        row[l] = given[l] * sqrt((4 * l + 1) / (4 * pi));
    for (int l = 0; l <= order / 2; l++)
        amplitude[l] = 2 * l <= lmax && sigma == 0 ? row[l] : 0;
    for (int i = 0; i < POINTS && sigma > 0; i++) {
        double u = (i + 0.5) / POINTS, p[LMAX + 1] = {1, u}, value = 0;
        for (int l = 2; l <= highest; l++)
            p[l] = ((2 * l - 1) * u * p[l - 1] - (l - 1) * p[l - 2]) / l;
        for (int l = 0; l <= lmax; l += 2)
            value += row[l / 2] * p[l];
        value = without_bias(value, sigma);
        for (int l = 0; l <= order / 2; l++)
            amplitude[l] += (4 * l + 1) * value * p[2 * l] / POINTS;
    }
}
