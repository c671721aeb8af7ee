/* The writers of the output formats. To add one: a file with its writer, a line here, an entry in io/formats.c. */
#ifndef HOT_PLUGIN_FORMATS_H
#define HOT_PLUGIN_FORMATS_H

#include "core/fields.h"

hot_status hot_write_nfibers(hot_context *context, const hot_fiber_field *fibers, const char *path);
hot_status hot_write_fiber(hot_context *context, const hot_fiber_field *fibers, const char *path);
hot_status hot_write_png(hot_context *context, const hot_fiber_field *fibers, const char *path);
hot_status hot_write_dec(hot_context *context, const hot_fiber_field *fibers, const char *path);
hot_status hot_write_vtp(hot_context *context, const hot_fiber_field *fibers, const char *path);
hot_status hot_write_fixels(hot_context *context, const hot_fiber_field *fibers, const char *path);
hot_status hot_write_sh(hot_context *context, const hot_tensor_field *tensors, const char *path);
hot_status hot_write_tck(hot_context *context, const hot_fiber_field *fibers, const char *path);
hot_status hot_write_dyads(hot_context *context, const hot_fiber_field *fibers, const char *path);
hot_status hot_write_vti(hot_context *context, const hot_fiber_field *fibers, const char *path);
hot_status hot_write_bonndit(hot_context *context, const hot_fiber_field *fibers, const char *path);
hot_status hot_write_ply(hot_context *context, const hot_tensor_field *tensors, const char *path);
hot_status hot_write_glyphs(hot_context *context, const hot_tensor_field *tensors, const char *path);
#ifdef HOT_HAVE_HDF5
hot_status hot_write_pam5(hot_context *context, const hot_fiber_field *fibers, const char *path);
#endif

#endif
