#include "color.h"

#include <math.h>
#include <string.h>

void hot_color_direction(const double ras[3], double rgb[3])
{
    const double length = sqrt(ras[0] * ras[0] + ras[1] * ras[1] + ras[2] * ras[2]);
    for (int d = 0; d < 3; d++)
        rgb[d] = length > 0 ? fabs(ras[d]) / length : 0;
}

void hot_color_fade(double shown, const double behind[3], double rgb[3])
{
    static const double contrast = 0.15; /* of the faintest stick on black and on white */
    for (int d = 0; d < 3; d++)
        rgb[d] = shown * rgb[d] + (1 - shown) * (contrast + (1 - 2 * contrast) * behind[d]);
}

void hot_color_map(double value, double rgb[3])
{
    /* coefficients of red, green and blue along the two axes of the plane of equal lightness */
    static const double plane[3][2] = {{-0.14861, 1.78277}, {-0.29227, -0.90649}, {1.97294, 0}};
    const double x = value > 0 ? fmin(value, 1) : 0, light = 0.25 + (0.86 - 0.25) * x;
    const double angle = 6.283185307179586 * (0.38 / 3 - 0.68 * x), hue = 1.8 * light * (1 - light) / 2;
    for (int c = 0; c < 3; c++)
        rgb[c] = fmin(fmax(light + hue * (plane[c][0] * cos(angle) + plane[c][1] * sin(angle)), 0), 1);
}

void hot_color_map_bytes(uint8_t bytes[256][3])
{
    for (int i = 0; i < 256; i++) {
        double rgb[3];
        hot_color_map(i / 255., rgb);
        for (int c = 0; c < 3; c++)
            bytes[i][c] = (uint8_t)lround(255 * rgb[c]);
    }
}

void hot_color_fiber(int fiber, double rgb[3])
{
    /* Distinguishable with most colour vision deficiencies (after Okabe and Ito's orange, sky blue, yellow, pink). */
    static const double palette[5][3] = {
        {0.95, 0.58, 0.08}, {0.34, 0.70, 0.93}, {0.95, 0.90, 0.30}, {0.93, 0.42, 0.70}, {0.70, 0.70, 0.70}};
    memcpy(rgb, palette[fiber >= 0 && fiber < 4 ? fiber : 4], 3 * sizeof *rgb);
}
