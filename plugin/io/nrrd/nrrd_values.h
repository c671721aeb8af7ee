/* Floats or bytes on a grid as NRRD, for formats that need not know Teem. */
#pragma once

#include "core/content.h"
#include "core/fields.h"

/* Says what the values are: a word of core/content.h. */
#define HOT_NRRD_CONTENT_KEY "hotfiber_content"

typedef enum hot_nrrd_kind { HOT_NRRD_LIST, HOT_NRRD_VECTOR, HOT_NRRD_COLOR } hot_nrrd_kind;

typedef struct hot_nrrd_values {
    const hot_grid *grid;
    const void *data;   /* voxels x per[1] x per[0] */
    int bytes;          /* uint8_t instead of float */
    size_t per[2];      /* sizes of the axes in front of i j k, the fastest first; 0 = no such axis */
    hot_nrrd_kind kind; /* of those axes */
    const char *label;  /* of the first of them; NULL = none */
    int in_world;       /* vectors or tensors: the identity is written as measurement frame */
    int compress;
    hot_content content; /* what the key hotfiber_content says; unknown = no such key */
    const char *key, *value; /* one more key with its value; NULL = none */
} hot_nrrd_values;

hot_status hot_nrrd_save_values(hot_context *context, const hot_nrrd_values *values, const char *path);
