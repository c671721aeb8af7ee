/* An image file of any format: any number of values for each voxel (one in a mask, coefficients, volumes), in the
 * file's type. DWI data, masks, noise maps, harmonics and directions are read through it. */
#pragma once

#include "content.h"
#include "fields.h"

enum { HOT_TENSORS_SAID = 40 };

typedef struct hot_image {
    hot_context *context; /* whose allocator made it */
    char *name;           /* the file, for messages; "standard input" */
    hot_grid grid;        /* i, j, k in the order in which they are stored, as the file's own tools count them; scanner
                             RAS in NIfTI and MIF, the file's space in NRRD */
    size_t values;        /* per voxel */
    int value_axes;       /* how many axes of more than one sample these lie along; 0 = one value */
    size_t last_values;   /* how many lie along the last of these axes; 1 = there is none */
    /* The content by the header, the header's word for it, and the layout of tensors. */
    hot_content content;
    hot_tensor_layout layout;
    const char *content_said; /* static; NULL = the header does not tell */
    char tensors[HOT_TENSORS_SAID]; /* what our own header says of tensors (io/tensors_file.c); "" = nothing */
    /* Value n of voxel (i, j, k) at data[i*stride[0] + j*stride[1] + k*stride[2] + position[n]], in elements of
     * `sample`, in the machine's byte order; value = slope * sample + intercept. */
    hot_sample sample;
    size_t stride[3], *position;
    double slope, intercept;
    size_t samples;       /* in data */
    void *data;           /* NULL until hot_image_read */
    char *scheme;         /* the text of MIF's dw_scheme: lines of x y z b, directions in scanner RAS; NULL = none. The
                             reader's */
    char **files;         /* every file that it was read from */
    size_t file_count;
    /* How its format reads the samples. */
    hot_status (*read)(struct hot_image *image, void *data);
    void (*close)(struct hot_image *image);
    /* Reads a part: `bytes` bytes from byte `at` of the samples, in the file's order; NULL if the format cannot. seeks:
     * spans can be in any order; else in ascending order. */
    hot_status (*read_span)(void *image, size_t at, void *to, size_t bytes);
    int seeks, swapped;
    void *reader;
} hot_image;

/* Most values of a voxel: each has its place in memory, before the samples are read. */
enum { HOT_IMAGE_VALUES_MAX = 1 << 20 };

/* Opens an image: NIfTI (.nii, .nii.gz, .hdr + .img), MIF (.mif, .mif.gz, .mih) or NRRD by the file's name;
 * other names, pipes and standard input ("-") by their first bytes. The header is read and checked, and nothing large
 * allocated. hot_image_close it also after a failure. Errors: HOT_ERROR_FILE, HOT_ERROR_FORMAT, HOT_ERROR_MEMORY. */
hot_status hot_image_open(hot_context *context, const char *path, hot_image *image);
/* The same of a file whose format is known (io/common/input.h). */
struct hot_input;
hot_status hot_image_open_input(hot_context *context, struct hot_input *input, hot_image *image);
/* Refuses what cannot be in this machine's memory. Errors: HOT_ERROR_FORMAT. */
hot_status hot_image_fits(const hot_image *image);
/* Reads the samples unless they were read. Errors: those, and HOT_ERROR_CANCELLED. */
hot_status hot_image_read(hot_image *image);
/* Both. */
hot_status hot_image_load_all(hot_context *context, const char *path, hot_image *image);
/* Safe on a zeroed struct and twice. */
void hot_image_close(hot_image *image);

/* Values of voxels first ... first + count - 1 as floats, scaling applied: to[voxel][value]. By several threads where
 * the context has them. In plugin/dwi. */
hot_status hot_image_values(const hot_image *image, size_t first, size_t count, float *to);

/* Refuses an image whose values lie along several axes, where `what` (coefficients, ...) are one list: 3 x 15 are not
 * 45. Errors: HOT_ERROR_FORMAT. */
hot_status hot_image_check_one_list(const hot_image *image, const char *what);

/* Warns where an image does not say where its voxels are, once the caller has a use for that. */
void hot_image_warn_unplaced(const hot_image *image);

/* For readers: refuses more values per voxel than those; notes a file; sets `samples`, the strides and positions of an
 * array that lies i, j, k, value. */
hot_status hot_image_check_values(const hot_image *image);
hot_status hot_image_add_file(hot_image *image, const char *path);
hot_status hot_image_is_contiguous(hot_image *image);
