/* Comparisons for qsort: numbers, the smallest first; numbers with their places, equal ones by these. */
#pragma once

#include <stddef.h>

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

typedef struct hot_numbered {
    double value;
    size_t at;
} hot_numbered;

static inline int hot_ascending_numbered(const void *left, const void *right)
{
    const hot_numbered *l = (const hot_numbered *)left, *r = (const hot_numbered *)right;
    return l->value != r->value ? (l->value < r->value ? -1 : 1) : (l->at > r->at) - (l->at < r->at);
}
