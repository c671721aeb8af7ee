/* Draws the module's logo at build time: two bundles of fibres that cross, in the colours of their directions. Prints
 * the pixels as C numbers, 4 bytes (red green blue alpha) each, top row first. */
#include <math.h>
#include <stdio.h>

enum { SIZE = 48, STEPS = 4 };

/* How much of a bundle covers a point, 0 to 1, with the lighting of its round strands. The bundle
 * runs along `angle`. */
static double strand(double x, double y, double angle, double bend)
{
    double along = cos(angle) * x + sin(angle) * y, across = -sin(angle) * x + cos(angle) * y + bend * along * along;
    double turn = fmod(across + 20, 5.5) - 2.75;
    if (fabs(across) > 8.25 || fabs(turn) > 2.2)
        return 0;
    return 0.35 + 0.65 * sqrt(1 - turn * turn / (2.2 * 2.2));
}

int main(void)
{
    const double tilt[2] = {-0.75, 0.62}, bend[2] = {-0.004, 0.006};
    for (int row = 0; row < SIZE; row++) {
        for (int column = 0; column < SIZE; column++) {
            double sum[4] = {0};
            for (int s = 0; s < STEPS * STEPS; s++) {
                double x = column + (s % STEPS + 0.5) / STEPS - SIZE / 2.0,
                       y = SIZE / 2.0 - row - (s / STEPS + 0.5) / STEPS;
                if (x * x + y * y > (SIZE / 2.0 - 0.5) * (SIZE / 2.0 - 0.5))
                    continue;
                double color[3] = {0.07, 0.08, 0.11};
                for (int bundle = 0; bundle < 2; bundle++) {
                    const double hue[2][3] = {{0.25, 0.85, 0.55}, {1, 0.42, 0.2}};
                    double light = strand(x, y, tilt[bundle], bend[bundle]);
                    for (int d = 0; light > 0 && d < 3; d++)
                        color[d] = light * hue[bundle][d];
                }
                for (int d = 0; d < 3; d++)
                    sum[d] += color[d];
                sum[3] += 1;
            }
            for (int d = 0; d < 3; d++)
                printf("%d, ", sum[3] > 0 ? (int)lround(255 * sum[d] / sum[3]) : 0);
            printf("%d,%s", (int)lround(255 * sum[3] / (STEPS * STEPS)), column % 8 == 7 ? "\n" : " ");
        }
    }
    return 0;
}
