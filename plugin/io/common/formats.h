/* The writers of the output formats. To add one: a file with its writer, a name here, an entry in io/formats.c. */
#pragma once

#include "core/fields.h"

typedef hot_status hot_fiber_writer(hot_context *context, const hot_fiber_field *fibers, const char *path);
typedef hot_status hot_tensor_writer(hot_context *context, const hot_tensor_field *tensors, const char *path);

hot_fiber_writer hot_write_amplitude, hot_write_bonndit, hot_write_dec, hot_write_dyads, hot_write_fiber,
    hot_write_fiber_sh, hot_write_fixels, hot_write_fz, hot_write_nfibers, hot_write_odx,
    hot_write_pam5 /* with HDF5 only */, hot_write_png, hot_write_tck, hot_write_vti, hot_write_vtp;
hot_tensor_writer hot_write_afd_max, hot_write_afd_sum, hot_write_afd_total, hot_write_fa, hot_write_glyphs,
    hot_write_md, hot_write_nufo, hot_write_ply, hot_write_sh;
