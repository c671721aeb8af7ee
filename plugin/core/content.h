/* The content of a voxel's values, by a file's header or by its values. */
#pragma once

typedef enum hot_content {
    HOT_CONTENT_UNKNOWN,
    HOT_CONTENT_PEAKS,  /* x y z per fibre, longest first, in world axes */
    HOT_CONTENT_DYADS,  /* one vector in the axes of FSL's bvec files */
    HOT_CONTENT_SH,     /* coefficients of even spherical harmonics */
    HOT_CONTENT_TENSOR,
    HOT_CONTENT_RGB,    /* colours */
    HOT_CONTENT_DWI,    /* signals */
    HOT_CONTENT_MAP     /* anything else: amounts, probabilities, samples, displacements */
} hot_content;

/* Order and axes of the values of a tensor. */
typedef enum hot_tensor_layout {
    HOT_LAYOUT_UNKNOWN,
    HOT_LAYOUT_WORLD,  /* ours and Teem's: a confidence or none, then xx xy xz yy yz zz (or a higher order), in world
                          axes; in NRRD the measurement frame counts */
    HOT_LAYOUT_FSL,    /* xx xy xz yy yz zz, axes of the bvec files */
    HOT_LAYOUT_MRTRIX, /* xx yy zz xy xz yz, scanner axes */
    HOT_LAYOUT_DIPY,   /* xx xy yy xz yz zz, axes of the bvec files */
    HOT_LAYOUT_ITK,    /* xx xy yy xz yz zz, scanner LPS */
    HOT_LAYOUT_COUNT
} hot_tensor_layout;

/* The word that our own files have for a content: the NRRD key and the MIF line hotfiber_content, and, behind
 * "hotfiber ", NIfTI's intent_name. */
const char *hot_content_word(hot_content content);
/* HOT_CONTENT_UNKNOWN for an unknown word or NULL. */
hot_content hot_content_find(const char *word);
