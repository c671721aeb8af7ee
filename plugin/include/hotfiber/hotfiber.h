/* hotfiber: from diffusion MRI data to fibre directions. The pipeline's public interface.
 *
 *   hot_context -> hot_dwi -> hot_tensor_field -> hot_fiber_field -> files
 *
 * Frames: everything inside is in world coordinates (mm) of the input file's own space. Writers convert where their
 * format demands another frame (NIfTI: scanner RAS; .vtp: LPS).
 * Every function that can fail returns hot_status and leaves its message in the context. */
#ifndef HOTFIBER_HOTFIBER_H
#define HOTFIBER_HOTFIBER_H

#include <hotfiber/context.h>
#include <hotfiber/denoise.h>
#include <hotfiber/device.h>
#include <hotfiber/directions.h>
#include <hotfiber/fit.h>
#include <hotfiber/lowrank.h>
#include <hotfiber/msmt.h>
#include <hotfiber/signal.h>
#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>
#include <hotfiber/version.h>

HOT_C_BEGIN

/* The orientation of world axes. */
typedef enum hot_space {
    HOT_SPACE_UNKNOWN = 0, /* no anatomical meaning known (no `space:` field); treated as RAS on export */
    HOT_SPACE_RAS,         /* right, anterior, superior: NIfTI's and MRtrix's scanner axes */
    HOT_SPACE_LAS,
    HOT_SPACE_LPS
} hot_space;

/* A regular lattice of voxels in the world. Index order everywhere: i fastest, voxel = i + size[0] *
 * (j + size[1] * k). */
typedef struct hot_grid {
    size_t size[3];
    double to_world[3][4]; /* rows x y z: world = to_world * (i, j, k, 1), mm, voxel centres */
    hot_space space;
} hot_grid;

typedef struct hot_dwi hot_dwi;
typedef struct hot_mask hot_mask;
typedef struct hot_response hot_response;
typedef struct hot_tensor_field hot_tensor_field;
typedef struct hot_fiber_field hot_fiber_field;

/* The version of the library, "major.minor.patch"; static storage. That of the headers: hotfiber/version.h. */
HOT_API const char *hot_version(void);

#include <hotfiber/hotfiber_dwi.h>
#include <hotfiber/hotfiber_model.h>
#include <hotfiber/hotfiber_fibers.h>
#include <hotfiber/hotfiber_signal.h>
#include <hotfiber/hotfiber_export.h>
#include <hotfiber/hotfiber_phantom.h>
#include <hotfiber/hotfiber_run.h>
#include <hotfiber/hotfiber_check.h>

HOT_C_END
#endif
