/* Colours: the one place that says which; shaders and what is drawn over the scene take them from here. 0 to 1, as they
 * go to the screen. Free of GL. */
#ifndef HOT_VIZ_COLOR_H
#define HOT_VIZ_COLOR_H

#include <stdint.h>

/* |x| red, |y| green, |z| blue of the unit vector in scanner RAS; any length, black for 0. */
void hot_color_direction(const double ras[3], double rgb[3]);

/* A scalar, 0 to 1 (clamped; NaN is 0): purple, blue, green, sand, ever lighter. Green's cubehelix (Bull. Astr. Soc.
 * India 39, 289, 2011), start .38, rotations -.68, hue 1.8, lightness .25 to .86. */
void hot_color_map(double value, double rgb[3]);
/* The same as a row of a texture: 256 x RGB. */
void hot_color_map_bytes(uint8_t bytes[256][3]);

/* The colour of a fibre's number or count: 0, 1, 2 ...; grey from the fifth on. */
void hot_color_fiber(int fiber, double rgb[3]);

#endif
