/* Colours of glyphs, text and shaders, defined in this one place. Values from 0 to 1, as displayed. No OpenGL. */
#pragma once

#include <stdint.h>

/* Direction-encoded colour: |x| red, |y| green, |z| blue of the unit vector in scanner RAS. The vector may have any
 * length; 0 is black. */
void hot_color_direction(const double ras[3], double rgb[3]);

/* Fades the colour of a fibre into nearly the one behind it: a dark stick would stand out from a bright image.
 * shown: its certainty (hot_fiber_field_certainty), 1: not at all. */
void hot_color_fade(double shown, const double behind[3], double rgb[3]);

/* Colour map of a scalar from 0 to 1 (clamped; NaN counts as 0): purple, blue, green, sand, of rising lightness.
 * Green's cubehelix (Bull. Astr. Soc. India 39, 289, 2011) with start .38, rotations -.68, hue 1.8, lightness .25 to
 * .86. */
void hot_color_map(double value, double rgb[3]);
/* The colour map as a texture row: 256 x RGB. */
void hot_color_map_bytes(uint8_t bytes[256][3]);

/* Colour of a fibre's number or of a count: 0, 1, 2, ...; grey from the fifth on. */
void hot_color_fiber(int fiber, double rgb[3]);
