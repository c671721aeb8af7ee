/* The header of MRtrix's image format, apart from the file, so that it can be fuzzed. */
#pragma once

#include "core/image.h"

enum { HOT_MIF_AXES = 16 };

typedef struct hot_mif_header {
    int axes, transforms;
    size_t size[HOT_MIF_AXES];
    double spacing[HOT_MIF_AXES];
    int rank[HOT_MIF_AXES], reversed[HOT_MIF_AXES]; /* layout: 0 = varies fastest; stored from the last sample on */
    double transform[3][4];  /* rotation and the position of voxel 0, 0, 0, for the image's axes, not storage order */
    double offset, scale;    /* value = offset + scale * sample */
    hot_sample sample;
    int bits, swapped;       /* packed bits (sample is U8 then); not the machine's byte order */
    hot_content content;     /* what our own line hotfiber_content says */
    char tensors[HOT_TENSORS_SAID]; /* and hotfiber_tensors */
    hot_content history;     /* what the commands in command_history have made of it since, */
    int changed;             /* if any of them made something else */
    char *scheme;            /* the lines of dw_scheme; NULL = none */
    char **file;             /* data files, "." = this file, with the byte at which the samples start */
    size_t *file_offset, files;
} hot_mif_header;

/* Parses the lines between "mrtrix image" and END; `text` is changed. Free it also after a failure. Errors:
 * HOT_ERROR_FORMAT, HOT_ERROR_MEMORY. */
hot_status hot_mif_header_parse(hot_context *context, const char *name, char *text, hot_mif_header *header);
void hot_mif_header_free(hot_context *context, hot_mif_header *header);
/* Grid, values per voxel and strides of an image with this header: axes in the order and sense in which they are
 * stored. Errors: HOT_ERROR_FORMAT (more than memory can address). */
hot_status hot_mif_header_apply(const hot_mif_header *header, hot_image *image);
/* Then, once the files are known to be large enough, the positions of its values. Errors: HOT_ERROR_MEMORY. */
hot_status hot_mif_header_place(const hot_mif_header *header, hot_image *image);
