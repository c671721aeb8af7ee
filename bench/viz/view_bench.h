/* The renderer's benchmark: frames per second of a field of glyphs, without a window. Run by `hotfiber-view --bench`
 * and by viz_bench.c. */
#pragma once

#include "render/headless.h"
#include "render/render.h"

/* A field of `glyphs` voxels with 1 to 3 fibres each, as spherical deconvolution of this order shows them, in a square
 * of one slice (volume 0) or a cube. Tensors: context memory in *tensors, which the scene borrows. */
hot_status hot_bench_field(hot_context *context, size_t glyphs, int order, int volume, float **tensors,
                           hot_scene **scene);

/* Draws `frames` pictures without overlay, the camera turned a little from each to the next, and prints one line:
 * frames per second, glyphs, triangles, and what drew them. path (may be NULL): the last picture is written there as
 * PPM. */
hot_status hot_bench_run(hot_context *context, const hot_scene *scene, const hot_view_state *state, int width,
                         int height, int samples, int frames, const char *path);
