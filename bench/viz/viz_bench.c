/* The renderer's benchmark without files: for machines that have a GPU and little else (cmake --preset kernels-only).
 * Where the viewer is built, `hotfiber-view --bench` is the same.
 *
 *   viz_bench GLYPHS ORDER square|cube DETAIL SIZE SAMPLES FRAMES [PICTURE.ppm|- [auto|gpu|cpu|compute]]
 *
 * DETAIL: triangles a glyph, 0 = by size. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view_bench.h"

int main(int argc, char **argv)
{
    hot_context *context = NULL;
    hot_scene *scene = NULL;
    float *tensors = NULL;
    hot_view_state state;
    if (argc < 8) {
        fprintf(stderr, "usage: viz_bench GLYPHS ORDER square|cube DETAIL SIZE SAMPLES FRAMES [PICTURE.ppm|- "
                        "[auto|gpu|cpu|compute]]\n");
        return 2;
    }
    const size_t glyphs = (size_t)strtoull(argv[1], NULL, 10);
    const int order = atoi(argv[2]), cube = strcmp(argv[3], "cube") == 0, size = atoi(argv[5]);
    hot_view_state_default(&state);
    state.detail = atoi(argv[4]);
    state.show_image = 0;
    if (cube) {
        state.mode = HOT_VIEW_SPACE;
        state.extent = HOT_EXTENT_VOLUME;
    }
    if (hot_context_create(NULL, &context) != HOT_OK)
        return 1;
    hot_status status = HOT_OK;
    if (argc > 9)
        status = hot_view_setting_parse(context, hot_view_setting_find("raster"), argv[9], &state);
    if (status == HOT_OK)
        status = hot_bench_field(context, glyphs, order, cube, &tensors, &scene);
    if (status == HOT_OK)
        status = hot_view_state_resolve(context, scene, &state);
    if (status == HOT_OK)
        status = hot_bench_run(context, scene, &state, size, size, atoi(argv[6]), atoi(argv[7]),
                               argc > 8 && strcmp(argv[8], "-") ? argv[8] : NULL);
    if (status != HOT_OK)
        fprintf(stderr, "viz_bench: %s\n", hot_context_message(context));
    hot_scene_destroy(&scene);
    hot_context_free(context, tensors);
    hot_context_destroy(&context);
    return status == HOT_OK ? 0 : 1;
}
