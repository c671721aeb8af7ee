/* Files out (and tensor fields and directions back in). Included by hotfiber.h.
 *
 * Every writer makes a temporary file and renames it when it is complete: an interrupted call leaves no partial file.
 * path "-" = standard output, if the format can be streamed (NRRD). */
/* First of all, so that this header, too, can be included alone. */
#include <hotfiber/hotfiber.h>

#ifndef HOTFIBER_EXPORT_H
#define HOTFIBER_EXPORT_H

/* Tensor fields, by the file's name: NRRD in the grid's own space, with the model and its response; NIfTI in scanner
 * RAS, one volume for the confidence and then one per unique value in the order xxxx xxxy xxxz xxyy ..., without the
 * model. Read from .mif too. */
HOT_API hot_status hot_tensor_field_save(hot_context *context, const hot_tensor_field *field, const char *path);
HOT_API hot_status hot_tensor_field_load(hot_context *context, const char *path, hot_tensor_field **field);
/* The same where the caller says what the file holds. Without that (content NULL, and hot_tensor_field_load) the header
 * says it (NRRD's kinds, NIfTI's intent, MRtrix's history, our own key hotfiber_content), or else the values show it; a
 * file that could hold several things is refused. content: "peaks" (directions), "dyads" (vectors in the axes of FSL's
 * bvec files), "sh" (spherical harmonics), "tensor", "rgb" or "dwi"; tensors of order 2 of other programs also
 * "tensor_fsl", "tensor_mrtrix", "tensor_dipy" or "tensor_itk", for the order and the axes of their values. Errors:
 * HOT_ERROR_ARGUMENT (parameter "content"), HOT_ERROR_FILE, HOT_ERROR_FORMAT (also where it holds something else),
 * HOT_ERROR_MEMORY. */
HOT_API hot_status hot_tensor_field_load_as(hot_context *context, const char *path, const char *content,
                                            hot_tensor_field **field);
/* The content of an image file: *content is one of these words, or "map" for any other image; static storage. The
 * samples are read if the header does not tell it. Errors: HOT_ERROR_FILE, HOT_ERROR_FORMAT (also for an ambiguous
 * image), HOT_ERROR_MEMORY. */
HOT_API hot_status hot_file_content(hot_context *context, const char *path, const char **content);

/* How to read an image of spherical harmonics. */
typedef struct hot_sh_options {
    size_t size;       /* sizeof(hot_sh_options) */
    const char *basis; /* "tournier07" (MRtrix; NULL), "descoteaux07" or "descoteaux07_legacy" (DIPY, legacy=False and
                          True; the second is its default) */
    const char *frame; /* the axes that the harmonics are in: "scanner" (RAS; NULL with tournier07), "bvec" (those of
                          FSL's bvec files, as in DIPY; NULL with the others) or "image" (i, j, k) */
    const char *content; /* what the file holds, see hot_tensor_field_load_as; NULL = find out, or with basis or frame
                            "sh" */
} hot_sh_options;
#define HOT_SH_OPTIONS_INIT HOT_SIZED(hot_sh_options)

/* Reads the coefficients of an image of real, even spherical harmonics (NIfTI, .mif; one volume each, lmax 2 to 12) as
 * tensors of order lmax, model "sh": hot_fiber_field_find then finds their maxima. Voxels whose coefficients are all 0,
 * or NaN or Inf, have confidence 0. A note in the log names the assumptions. With neither basis nor frame
 * given, files of tensors are read as hot_tensor_field_load does. options: NULL = defaults. Owner of *field: the
 * caller. Errors: HOT_ERROR_ARGUMENT (hot_context_parameter: basis, frame), HOT_ERROR_FILE, HOT_ERROR_FORMAT,
 * HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_tensor_field_load_sh(hot_context *context, const char *path, const hot_sh_options *options,
                                            hot_tensor_field **field);

/* Directions as NRRD (3N values per voxel, the grid's own space) or NIfTI (.nii, .nii.gz: 3N volumes, scanner RAS),
 * by the file's name. A folder of hot_run can be loaded like a file: its directions, with their certainty
 * (hot_fiber_field_certainty) if it has certainty.nii.gz. */
HOT_API hot_status hot_fiber_field_save(hot_context *context, const hot_fiber_field *fibers, const char *path);
HOT_API hot_status hot_fiber_field_load(hot_context *context, const char *path, hot_fiber_field **fibers);
/* See hot_tensor_field_load_as. */
HOT_API hot_status hot_fiber_field_load_as(hot_context *context, const char *path, const char *content,
                                           hot_fiber_field **fibers);

/* An image of any scalar type on its own grid (NRRD, NIfTI, MIF), such as a T1-weighted image of the same person; of
 * several volumes the first. *grid: its geometry; *values: one float per voxel, i fastest, free with
 * hot_context_free. Errors: HOT_ERROR_FILE, HOT_ERROR_FORMAT, HOT_ERROR_MEMORY. */
HOT_API hot_status hot_image_load(hot_context *context, const char *path, hot_grid *grid, float **values);
/* The same with all values: *count of each voxel, side by side. */
HOT_API hot_status hot_image_load_values(hot_context *context, const char *path, hot_grid *grid, float **values,
                                         size_t *count);

/* One output format. It is written from directions, from tensors or from either; a function that there is not is
 * NULL. */
typedef struct hot_export_format {
    const char *name;   /* "peaks", "nfibers", "fiber", "dec", "vtp", "fixels", "png" ... */
    const char *suffix; /* what file names of this format end in, the usual one first: ".vtp", ".nii.gz|.nii|.nrrd"; ""
                           = a folder */
    const char *help;   /* one line: what it is and what it is for */
    hot_status (*write)(hot_context *context, const hot_fiber_field *fibers, const char *path);
    hot_status (*write_tensors)(hot_context *context, const hot_tensor_field *tensors, const char *path);
} hot_export_format;

/* All of them, count of them in *count; static storage. */
HOT_API const hot_export_format *const *hot_export_formats(size_t *count);
/* The format of this name, or (name NULL) of `path`: a base name that begins with a format's name and ends in one of
 * its suffixes (nfibers.nii.gz), else the first format with such a suffix. NULL if there is none. */
HOT_API const hot_export_format *hot_export_format_find(const char *name, const char *path);

/* The default background of pictures: the mean of the b=0 volumes (of all volumes without b=0), one float
 * per voxel of the dwi's grid. Errors: HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_export_background(hot_context *context, const hot_dwi *dwi, float *background);

/* The three middle slices, fibres drawn over the background (one float per voxel, window from its 2nd to 98th
 * percentile; NULL = the sum of the fibres' amplitudes, window from 0). */
HOT_API hot_status hot_export_picture(hot_context *context, const hot_fiber_field *fibers, const float *background,
                                      const char *path);

/* ---- As arrays, for hosts that draw or hand on themselves ------------------------------------------------------ */

/* Every fibre as a line segment about its voxel's centre, in the order of voxels, the longest of a voxel first; the
 * largest amplitude of the field is as long as a voxel's smallest side. Returns how many segments there are; arrays may
 * be NULL.
 * points: count x 2 x 3, mm of `space`. directions: count x 3, unit. amplitudes: count. numbers: count, 1 = the
 * longest. Any thread. */
HOT_API size_t hot_fiber_field_segments(const hot_fiber_field *fibers, hot_space space, float *points,
                                        float *directions, float *amplitudes, uint8_t *numbers);

/* Tensors as surfaces: r(x) = A x^m over a sphere of triangles, one closed mesh per fitted voxel, all with the same
 * triangles. The sphere is finer when there are few; the 95th percentile of the largest radii is .45 of a voxel's
 * smallest side. Where the form is negative the surface touches the centre. */
typedef struct hot_glyphs hot_glyphs;

/* Positions will be mm of `space`. `tensors` must outlive *glyphs. Owner: the caller. Errors: HOT_ERROR_MEMORY. */
HOT_API hot_status hot_glyphs_create(hot_context *context, const hot_tensor_field *tensors, hot_space space,
                                     hot_glyphs **glyphs);
HOT_API void hot_glyphs_destroy(hot_glyphs **glyphs);
/* How many glyphs there are, and how many vertices and triangles each of them has. */
HOT_API size_t hot_glyphs_count(const hot_glyphs *glyphs);
HOT_API size_t hot_glyphs_vertices(const hot_glyphs *glyphs);
HOT_API size_t hot_glyphs_triangles(const hot_glyphs *glyphs);
/* triangles x 3 vertex numbers, counter-clockwise seen from outside in a right-handed space. Owned by the glyphs. */
HOT_API const uint32_t *hot_glyphs_faces(const hot_glyphs *glyphs);
/* vertices x 3: 255 times |x| |y| |z| of the direction. Owned by the glyphs. */
HOT_API const uint8_t *hot_glyphs_colors(const hot_glyphs *glyphs);
/* Fills positions (vertices x 3, mm) with the surface of one voxel's glyph and returns 1; 0 when the voxel has none.
 * Any number of threads. */
HOT_API int hot_glyphs_surface(const hot_glyphs *glyphs, size_t voxel, float *positions);

#endif
