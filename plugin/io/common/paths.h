/* Parts of file names. */
#pragma once

#include <hotfiber/context.h>

/* folder/name; free it with hot_context_free. NULL: out of memory. */
HOT_API char *hot_path_join(hot_context *context, const char *folder, const char *name);
/* Whether a name ends in `suffix` and has something before it. */
HOT_API int hot_path_has_suffix(const char *path, const char *suffix);
/* The extension of a name, from its last dot on; "" without a dot. */
const char *hot_path_suffix(const char *path);
/* The suffixes under which images, and arrays of any kind, are written. */
#define HOT_IMAGE_SUFFIXES ".nrrd, .nhdr, .nii, .nii.gz, .mif, .mif.gz, .mih"
#define HOT_NRRD_SUFFIXES ".nrrd, .nhdr"
/* Whether a name ends in one of such a list. */
int hot_path_has_one_of(const char *path, const char *suffixes);
/* Refuses to write an image under a name with any other suffix; none is NRRD. Errors: HOT_ERROR_ARGUMENT. */
hot_status hot_path_check_image(hot_context *context, const char *path);
/* Whether it ends in .nii or .nii.gz. */
int hot_path_is_nifti(const char *path);
/* Whether it ends in .mif, .mif.gz or .mih. */
HOT_API int hot_path_is_mif(const char *path);
/* Whether it is of one of these, whose volumes follow each other, so that they are written by hot_image_save. */
int hot_path_has_volumes(const char *path);
/* The path with another suffix instead of .nii, .hdr, .img, .mif, .mih (these also with .gz) or .nhdr; free it
 * with hot_context_free. NULL: out of memory. */
char *hot_path_beside(hot_context *context, const char *path, const char *suffix);
