/* Inside the check of a gradient table. */
#pragma once

#include "core/fields.h"

/* Edges of two scalars and of the tensor's shape run along fibres; and what a tensor gains at an edge. */
enum { HOT_CHECK_KINDS = 4 };

/* The fit of a voxel; all 0 without one. */
typedef struct hot_check_voxel {
    float axis[3];    /* unit: of fastest diffusion, along the image's axes */
    float anisotropy; /* FA */
    float log_s0;
    float tensor[6];  /* deviatoric part over the mean: xx yy zz, and sqrt(2) times xy xz yz */
} hot_check_voxel;

/* Fits `count` voxels, given by their numbers. *determined: 0 when the directions determine no tensor (nothing is
 * fitted then). */
hot_status hot_check_fit(hot_context *context, const hot_dwi *dwi, const size_t *voxel, size_t count,
                         hot_check_voxel *about, int *determined);

/* Table `number` as a matrix in image axes: right = matrix given. 0 is the identity; at most one element is -1. */
void hot_check_table_matrix(int number, int matrix[3][3]);
/* Its name, rows and matrix in the axes of the gradients' file; returns 0 if these are so oblique to the image's that
 * it is not a flip or permutation there: then in a bvec's. */
int hot_check_describe(const hot_dwi *dwi, int number, hot_check_table *table);

/* The likeliest table and those that tie with it: "x flipped; or y flipped" (rows: "-x, y, z or x, -y, z"); of more
 * than four the rest is counted. Returns how many. */
int hot_check_name_ties(const hot_check_gradients *check, int rows, char *text, size_t size);

/* Likewise those that these data do not separate from the table given, without it. */
int hot_check_name_alike(const hot_check_gradients *check, char *text, size_t size);

/* As hot_check_volumes, from some lines of each slice, in which about `least` voxels of the mask are; 0: from all. */
hot_status hot_check_volumes_sampled(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, size_t least,
                                     hot_check_findings **findings);

/* How coherent the voxels of each block are under each table: *evidence[block][kind][table]; blocks without a pair of
 * neighbours are all 0. Free *evidence with hot_context_free. */
typedef double hot_check_evidence[HOT_CHECK_KINDS][HOT_CHECK_TABLES];
hot_status hot_check_coherence(hot_context *context, const hot_grid *grid, const size_t *voxel, size_t count,
                               const hot_check_voxel *about, hot_check_evidence **evidence, size_t *blocks);
