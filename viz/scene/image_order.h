/* Voxels in the order in which MRtrix counts them. A .mif file may store its axes in any order and direction; MRtrix
 * numbers voxels along the axes nearest to x, y and z of the scanner, towards right, anterior and superior. */
#pragma once

#include <stddef.h>

#include <hotfiber/hotfiber.h>

typedef struct hot_image_order {
    hot_grid grid;            /* with MRtrix's voxels */
    ptrdiff_t start, step[3]; /* voxel (i, j, k) of it is the file's start + i step[0] + j step[1] + k step[2] */
    int same;                 /* 1: the file's own order */
} hot_image_order;

void hot_image_order_find(const hot_grid *grid, hot_image_order *order);
/* Copies `row` floats of each voxel into the new order. */
void hot_image_order_apply(const hot_image_order *order, size_t row, const float *from, float *to);
