/* Comparisons for qsort: numbers, the smallest first. */
#ifndef HOT_COMMON_COMPARE_H
#define HOT_COMMON_COMPARE_H

static inline int hot_ascending_f32(const void *left, const void *right)
{
    const float l = *(const float *)left, r = *(const float *)right;
    return (l > r) - (l < r);
}

static inline int hot_ascending_f64(const void *left, const void *right)
{
    const double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

#endif
