/* The structs behind the public opaque types: for the plugin's own files, never installed. */
#pragma once

#include <hotfiber/hotfiber.h>

#include "common/flow.h"
#include "common/free.h"

/* The memory layout of a DWI's samples: the file's type, with strides. */
typedef enum hot_sample {
    HOT_SAMPLE_I8, HOT_SAMPLE_U8, HOT_SAMPLE_I16, HOT_SAMPLE_U16, HOT_SAMPLE_I32, HOT_SAMPLE_U32,
    HOT_SAMPLE_I64, HOT_SAMPLE_U64, HOT_SAMPLE_F32, HOT_SAMPLE_F64
} hot_sample;
/* Which one a format's `type` is, of its types in our order; 0 = none of them. */
static inline int hot_sample_find(const int *types, int type, hot_sample *sample)
{
    for (int i = 0; i <= HOT_SAMPLE_F64; i++)
        if (types[i] == type) {
            *sample = (hot_sample)i;
            return 1;
        }
    return 0;
}
/* Bytes of one sample of a type. */
size_t hot_sample_bytes(hot_sample sample);

typedef struct hot_dwi_summary hot_dwi_summary;
typedef struct hot_dwi_paged hot_dwi_paged;

/* Where gradients were written, and so in which axes: a file of FSL's, a table of MRtrix's, an NRRD's header, a bvec
 * along the image's axes. */
typedef enum hot_gradients_in {
    HOT_GRADIENTS_IN_BVEC, HOT_GRADIENTS_IN_SCHEME, HOT_GRADIENTS_IN_NRRD, HOT_GRADIENTS_IN_IMAGE
} hot_gradients_in;

struct hot_dwi {
    hot_context *context; /* whose allocator made it */
    hot_grid grid;
    size_t volumes;
    double *b;               /* volumes */
    double *gradients;       /* volumes x 3, unit, world */
    hot_gradients_in gradients_in;
    double length_coded_b;   /* what all b-values of the table were, where b was multiplied by the squared lengths of
                                its vectors; else 0 */
    size_t shells;
    double *shell_b;         /* shells, ascending */
    int *shell_of;           /* volumes */
    int has_b0;
    char *source;
    char **inputs;           /* every file it was read from (headers, data files, bval, bvec): never written over */
    size_t input_count;
    /* Sample of voxel (i, j, k) and volume v at data[i*stride[0] + j*stride[1] + k*stride[2] + position[v]], in
     * elements of `sample`, in the machine's byte order; value = slope * sample + intercept. */
    void *data;
    void (*release_data)(hot_context *context, void *data);
    hot_sample sample;
    size_t stride[3];
    size_t *position;        /* volumes */
    double slope, intercept;
    double frame[3][3];      /* the file's measurement frame (vectors as columns), for information: the gradients are
                                in world axes already; identity where the file has none */
    hot_dwi_paged *paged;     /* NULL, or where the samples are instead: data is NULL then (dwi/paged.h) */
    hot_dwi_summary *summary; /* owned; NULL until hot_dwi_keep_summary */
};

/* Its name in messages: the file's, or "the data set". */
const char *hot_dwi_name(const hot_dwi *dwi);

struct hot_mask {
    hot_context *context;
    hot_grid grid;
    uint8_t *bytes;
    size_t inside;
};

struct hot_response {
    hot_context *context;
    size_t shells;
    int lmax;
    double *b;    /* shells; NaN = not said */
    double *rows; /* shells x (lmax / 2 + 1) */
    double typical; /* the strength of the data's average single fibre, of which the response is 1; 1 if not known */
    double noise;   /* of the voxels that it is the mean of: deviation, over their b=0 signal; 0 if not known */
};

struct hot_tensor_field {
    hot_context *context;
    hot_grid grid;
    int order;
    char model[16];
    hot_response *response; /* owned; NULL unless fod */
    float *values;          /* voxels x (1 + unique) */
    float *extra;           /* voxels x extra_count: msmt's amounts of white matter and the other tissues, then the
                               residual of the optimality conditions; NULL = none */
    size_t extra_count;
    size_t fitted, flagged;
    float *simulated;    /* HOT_SIMULATED x (1 + unique): fits of voxels of one fibre and, in the second half, of two;
                            NULL = none */
    int judged;          /* 1: the next is known */
    double recovered[2]; /* shares of these with as many maxima as fibres */
    int warned;          /* that they are low */
};
enum { HOT_SIMULATED = 400 };

/* Warns, and returns 1, if a method finds the right number in too few of the voxels with one and with two fibres. */
int hot_recovered_warn(hot_context *context, const char *method, int order, const double recovered[2]);
/* The same, once, of the field's maxima. */
void hot_tensor_field_warn(hot_context *context, hot_tensor_field *field);

struct hot_fiber_field {
    hot_context *context;
    hot_grid grid;
    int max_fibers;
    float *peaks;    /* voxels x 3 * max_fibers */
    uint8_t *counts; /* voxels */
    hot_response *response; /* owned: what the lengths are relative to, or `typical` of it; NULL = not known */
    float *certainty; /* voxels x max_fibers, 0 to 1; NULL = not known, everything is shown as if it were 1 */
    float *probability, *cone; /* likewise, for fixels: that there are so many fibres or more; of hot_signal_maps */
};

/* How strongly a fibre of a voxel is shown, 0 to 1: by its certainty. */
static inline double hot_fiber_field_shown(const hot_fiber_field *fibers, size_t voxel, size_t fiber)
{
    return fibers->certainty ? (double)fibers->certainty[voxel * (size_t)fibers->max_fibers + fiber] : 1;
}

/* size[0] * size[1] * size[2]; 0 when that overflows. */
size_t hot_grid_voxels(const hot_grid *grid);

/* Checks a caller's grid: sizes above 0 whose product fits, a finite invertible matrix, a known space. Errors:
 * HOT_ERROR_ARGUMENT with the parameter "grid". */
hot_status hot_grid_check(hot_context *context, const hot_grid *grid);

/* Sorts volumes into shells from dwi->b (fills shells, shell_b, shell_of, has_b0). Called by every reader. */
hot_status hot_dwi_find_shells(hot_context *context, hot_dwi *dwi);

/* HOT_ERROR_DATA when a mask has other sizes than the grid. */
hot_status hot_mask_check(hot_context *context, const hot_mask *mask, const hot_grid *grid);
/* The rule of a mask that a function is given: of the grid's sizes, or NULL, which becomes a mask of all voxels, *made:
 * to be destroyed with the rest. */
hot_status hot_mask_take(hot_context *context, const hot_mask **mask, const hot_grid *grid, hot_mask **made);
/* The same for a whole function: returns the value of `call`, in which `all` is such a mask. */
#define HOT_RETURN_WITH_ALL(context, grid, call)                                                                       \
    do {                                                                                                               \
        hot_mask *all = NULL;                                                                                          \
        hot_status status_ = hot_mask_full(context, grid, &all);                                                       \
        if (status_ == HOT_OK)                                                                                         \
            status_ = (call);                                                                                          \
        hot_mask_destroy(&all);                                                                                        \
        return status_;                                                                                                \
    } while (0)
/* A copy of a mask, of the grid's sizes. Errors: HOT_ERROR_DATA (other sizes), HOT_ERROR_MEMORY. */
hot_status hot_mask_copy(hot_context *context, const hot_mask *from, const hot_grid *grid, hot_mask **mask);

/* As hot_fiber_field_create, but takes the vectors over: *peaks, memory of this context, is the field's then, and NULL.
 * After a failure it may still be the caller's to free. */
hot_status hot_fiber_field_adopt(hot_context *context, const hot_grid *grid, int max_fibers, float **peaks,
                                 hot_fiber_field **fibers);

/* Keeps a copy of the response that the lengths are relative to, if there is one. typical: 0 = to the response itself;
 * 1 = to the average single fibre, which has response->typical of it. */
hot_status hot_fiber_field_keep_response(hot_fiber_field *fibers, const hot_response *response, int typical);

/* The highest order of a field: that of the harmonics that other programs write. Ours fit 8 at most. */
enum { HOT_FIELD_ORDER_MAX = 12, HOT_FIELD_TERMS_MAX = 91 };
/* A field without values yet: voxels x (1 + unique), to be filled. Errors: HOT_ERROR_ARGUMENT (order, grid or name),
 * HOT_ERROR_MEMORY. */
hot_status hot_tensor_field_make(hot_context *context, const hot_grid *grid, int order, const char *model,
                                 hot_tensor_field **field);

/* A copy of a NUL-terminated string in the context's memory. */
char *hot_string_copy(hot_context *context, const char *text);
