/* Describes a voxel as text. */
#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/flow.h"
#include "pick.h"

enum { MAX_PAIRS = 96, PAIR = 6 /* lambda, x y z, residual, kind */, MAX_UNIQUE = 45, MAX_FIBERS = 16 };

/* ---- One line -------------------------------------------------------------------------------------------- */

void hot_pick_words(const hot_scene *scene, const hot_view_state *state, const int voxel[3],
                    char words[HOT_PICK_WORDS][HOT_PICK_WORD])
{
    const size_t index = hot_scene_index(scene, voxel);
    const hot_view_volume *image = hot_scene_volume(scene, state->background);
    const int reversed = image && image->reversed;
    double ras[3];
    float sample[3];
    hot_scene_to_ras(scene, (const double[3]){voxel[0], voxel[1], voxel[2]}, ras);
    snprintf(words[0], HOT_PICK_WORD, "voxel %d %d %d", voxel[0], voxel[1], voxel[2]);
    snprintf(words[1], HOT_PICK_WORD, "%.1f %.1f %.1f mm", ras[0] + 0., ras[1] + 0., ras[2] + 0.);
    words[2][0] = words[3][0] = '\0';
    if (image)
        hot_scene_value(scene, image, index, sample);
    if (image && image->components == 3)
        snprintf(words[2], HOT_PICK_WORD, "%s %.3g %.3g %.3g", image->name, (double)sample[reversed ? 2 : 0],
                 (double)sample[1], (double)sample[reversed ? 0 : 2]);
    else if (image && !(image->own_grid && isnan(sample[0]))) /* else the voxel is outside the image */
        snprintf(words[2], HOT_PICK_WORD, "%s %.4g", image->name, (double)sample[0]);
    if (scene->max_fibers) {
        const int count = hot_scene_fibers(scene, index);
        snprintf(words[3], HOT_PICK_WORD, "%d fibre%s", count, count == 1 ? "" : "s");
    }
}

void hot_pick_line(const hot_scene *scene, const hot_view_state *state, const int voxel[3], char *text, size_t size)
{
    char words[HOT_PICK_WORDS][HOT_PICK_WORD];
    size_t used = 0;
    hot_pick_words(scene, state, voxel, words);
    text[0] = '\0';
    for (int w = 0; w < HOT_PICK_WORDS && used < size; w++)
        if (words[w][0])
            used += (size_t)snprintf(text + used, size - used, "%s%s", w ? "    " : "", words[w]);
}

/* ---- Text buffer ----------------------------------------------------------------------------------------- */

typedef struct writer {
    hot_context *context;
    char *text;
    size_t used, capacity;
    hot_status status;
} writer;

static void append(writer *out, const char *format, ...) HOT_PRINTF(2, 3);
static void append(writer *out, const char *format, ...)
{
    char piece[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    size_t length = strlen(piece);
    if (out->status != HOT_OK)
        return;
    if (out->used + length + 1 > out->capacity) {
        size_t capacity = 2 * out->capacity + 2048;
        char *larger = hot_context_alloc(out->context, capacity, 1);
        if (!larger) {
            out->status = HOT_ERROR_MEMORY;
            return;
        }
        if (out->text)
            memcpy(larger, out->text, out->used);
        hot_context_free(out->context, out->text);
        out->text = larger;
        out->capacity = capacity;
    }
    memcpy(out->text + out->used, piece, length + 1);
    out->used += length;
}

/* ---- Sections -------------------------------------------------------------------------------------------- */

/* Converts a vector of the grid's world to a RAS unit vector; returns its length. */
static double to_ras_unit(const hot_scene *scene, const double world[3], double ras[3])
{
    double length = sqrt(world[0] * world[0] + world[1] * world[1] + world[2] * world[2]);
    for (int d = 0; d < 3; d++)
        ras[d] = length > 0 ? scene->sign[d] * world[d] / length + 0. : 0; /* + 0.: turns -0 to 0 */
    return length;
}

static void append_place(writer *out, const hot_scene *scene, const int voxel[3], size_t index)
{
    double at[3] = {voxel[0], voxel[1], voxel[2]}, ras[3];
    hot_scene_to_ras(scene, at, ras);
    append(out, "voxel %d %d %d, index %zu\n", voxel[0], voxel[1], voxel[2], index);
    int widest = 3;
    for (int v = 0; v < scene->volumes; v++) {
        const int width = (int)strlen(scene->volume[v].name);
        widest = width > widest ? width : widest;
    }
    append(out, "  %-*s  %.2f %.2f %.2f mm\n", widest, scene->grid.space == HOT_SPACE_UNKNOWN ? "xyz" : "RAS",
           ras[0] + 0., ras[1] + 0., ras[2] + 0.);
    for (int v = 0; v < scene->volumes; v++) {
        const hot_view_volume *volume = &scene->volume[v];
        float values[3];
        hot_scene_value(scene, volume, index, values);
        append(out, "  %-*s ", widest, volume->name);
        if (volume->own_grid && isnan(values[0]))
            append(out, " outside this image");
        for (int c = 0; c < volume->components && !(volume->own_grid && isnan(values[0])); c++)
            append(out, " %.5g", (double)values[volume->reversed ? volume->components - 1 - c : c]);
        append(out, "\n");
    }
    if (scene->mask && !scene->mask[index])
        append(out, "  outside the mask\n");
}

static void append_fibers(writer *out, const hot_scene *scene, size_t index)
{
    double unit[MAX_FIBERS][3];
    const int fibers = hot_scene_fibers(scene, index), count = fibers < MAX_FIBERS ? fibers : MAX_FIBERS;
    append(out, count ? "\n%d fibre%s: length, direction in RAS\n" : "\nno fibre\n", count, count == 1 ? "" : "s");
    for (int f = 0; f < count; f++) {
        const float *peak = scene->peaks + 3 * (index * (size_t)scene->max_fibers + (size_t)f);
        double length = to_ras_unit(scene, (const double[3]){peak[0], peak[1], peak[2]}, unit[f]);
        append(out, "  %-6d %-11.4g %7.4f %7.4f %7.4f\n", f + 1, length, unit[f][0], unit[f][1], unit[f][2]);
    }
    for (int f = 0; f < count; f++)
        for (int g = f + 1; g < count; g++) {
            double cosine = fabs(unit[f][0] * unit[g][0] + unit[f][1] * unit[g][1] + unit[f][2] * unit[g][2]);
            append(out, "  %d to %d %.1f°\n", f + 1, g + 1, acos(fmin(cosine, 1)) * 57.29577951308232);
        }
}

static hot_status append_eigenpairs(writer *out, const hot_scene *scene, const double *tensor)
{
    static const char *const kinds[3] = {"min", "saddle", "max"};
    double pairs[MAX_PAIRS * PAIR];
    int32_t found = 0;
    const hot_sshopm_options options = {.size = sizeof options, .seek = HOT_ALL_PAIRS};
    HOT_TRY(hot_eigenpairs_f64(scene->context, &options, scene->order, 3, 1, tensor,
                               hot_symtensor_count(scene->order, 3), 0, NULL, MAX_PAIRS, pairs, &found));
    int count = found < MAX_PAIRS ? found : MAX_PAIRS;
    append(out, "\n%d eigenpair%s: value, vector in RAS\n", (int)found, found == 1 ? "" : "s");
    for (int p = 0; p < count; p++) {
        const double *pair = pairs + p * PAIR;
        double x[3];
        to_ras_unit(scene, pair + 1, x);
        /* the sign convention of files: the half space z > 0 */
        const double sign = x[2] < 0 || (x[2] == 0 && (x[1] < 0 || (x[1] == 0 && x[0] < 0))) ? -1 : 1;
        append(out, "  %-6s %-11.4g %7.4f %7.4f %7.4f\n", kinds[pair[5] > 0 ? 2 : pair[5] < 0 ? 0 : 1], pair[0],
            sign * x[0] + 0., sign * x[1] + 0., sign * x[2] + 0.);
    }
    return HOT_OK;
}

static hot_status append_coefficients(writer *out, const hot_scene *scene, const double *tensor)
{
    static const char *const spaces[] = {"the file's axes", "RAS axes", "LAS axes", "LPS axes"};
    int exponents[MAX_UNIQUE * 3];
    const size_t unique = hot_symtensor_count(scene->order, 3);
    HOT_TRY(hot_symtensor_exponents(scene->order, 3, exponents));
    append(out, "\ntensor of order %d, %s\n", scene->order, spaces[scene->grid.space]);
    for (size_t i = 0; i < unique; i++) {
        char name[17];
        int at = 0;
        for (int d = 0; d < 3; d++)
            for (int e = 0; e < exponents[3 * i + (size_t)d]; e++)
                name[at++] = "xyz"[d];
        name[at] = 0;
        append(out, "%s%s %-10.4g", i % 3 ? " " : "  ", name, tensor[i]);
        if (i % 3 == 2 || i + 1 == unique)
            append(out, "\n");
    }
    return HOT_OK;
}

static hot_status append_tensor(writer *out, const hot_scene *scene, size_t index)
{
    const size_t unique = hot_symtensor_count(scene->order, 3);
    float buffer[1 + HOT_GLYPH_TERMS];
    const float *row = hot_scene_row(scene, index, buffer);
    double tensor[MAX_UNIQUE];
    int finite = 1, zero = 1;
    if (!row)
        return HOT_ERROR_DEVICE;
    for (size_t i = 0; i < unique; i++) {
        tensor[i] = row[i + 1];
        finite &= isfinite(row[i + 1]) != 0;
        zero &= row[i + 1] == 0;
    }
    if (!finite || zero || !(row[0] > 0)) {
        append(out, "\n%s\n",
            !finite ? "the tensor holds NaN or Inf"
            : zero  ? "no tensor: all values are 0"
                    : "no tensor: it was not fitted (confidence 0)");
        return HOT_OK;
    }
    hot_status status = append_eigenpairs(out, scene, tensor);
    return status == HOT_OK ? append_coefficients(out, scene, tensor) : status;
}

static hot_status append_glyphs(writer *out, const hot_scene *scene, size_t index)
{
    if (scene->max_fibers)
        append_fibers(out, scene, index);
    return scene->order ? append_tensor(out, scene, index) : HOT_OK;
}

hot_status hot_pick_describe(const hot_scene *scene, const hot_view_state *state, const int voxel[3], char **text)
{
    writer out = {.context = scene->context};
    const size_t index = hot_scene_index(scene, voxel);
    append_place(&out, scene, voxel, index);
    hot_status status = append_glyphs(&out, scene, index);
    for (int n = 0; n < state->layers && status == HOT_OK; n++) {
        const hot_scene *set = hot_scene_layer_set(scene, &state->layer[n]);
        if (!set || !state->layer[n].visible)
            continue;
        append(&out, "\nbeside: %s\n", state->layer[n].source);
        status = append_glyphs(&out, set, index);
    }
    if (status == HOT_OK)
        status = out.status;
    if (status != HOT_OK) {
        hot_context_free(out.context, out.text);
        out.text = NULL;
    }
    *text = out.text;
    return status;
}
