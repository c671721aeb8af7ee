/* Fibres as a function on the sphere in spherical harmonics: a lobe for each, whose maxima are the fibres. */
#pragma once

#include <stddef.h>

enum { HOT_LOBES_LMAX = 12, HOT_LOBES_TERMS = 91 };

/* The lobe: K(t) of the cosine t to its axis, and its coefficients by degree. */
typedef struct hot_lobe {
    double stretch, height;
    double gain[HOT_LOBES_LMAX / 2 + 1];
} hot_lobe;

void hot_lobe_make(hot_lobe *lobe);

/* The coefficients (HOT_LOBES_TERMS, basis of symtensor.h) of a sum of lobes that has its maxima at the fibres, each as
 * high as its fibre is long. peaks: `count` (up to 255) vectors, 0 = absent; axes: rows, by which they are turned into
 * the axes of the harmonics. Returns 0 where fibres are too close for that: they then share a maximum or have theirs a
 * little off. */
int hot_lobe_sum(const hot_lobe *lobe, const double axes[3][3], const float *peaks, size_t count, float *coefficients);
