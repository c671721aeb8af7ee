/* The list of output formats. To add one: a file with a const struct, a line here, a line in formats.c. */
#ifndef HOT_PLUGIN_FORMATS_H
#define HOT_PLUGIN_FORMATS_H

#include "core/fields.h"

extern const hot_export_format hot_format_peaks;
extern const hot_export_format hot_format_nfibers;
extern const hot_export_format hot_format_fiber;
extern const hot_export_format hot_format_dec;
extern const hot_export_format hot_format_png;
extern const hot_export_format hot_format_vtp;
extern const hot_export_format hot_format_fixels;
extern const hot_export_format hot_format_sh;
extern const hot_export_format hot_format_tck;
extern const hot_export_format hot_format_dyads;
extern const hot_export_format hot_format_vti;
extern const hot_export_format hot_format_bonndit;
extern const hot_export_format hot_format_ply;
extern const hot_export_format hot_format_glyphs;
#ifdef HOT_HAVE_HDF5
extern const hot_export_format hot_format_pam5;
#endif

#endif
