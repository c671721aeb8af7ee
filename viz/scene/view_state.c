/* The table of settings; conversion from and to text. */
#include "view_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/flow.h"
#include "camera.h"
#include "glyph/glyph.h"
#include "scene.h"

#define AT(FIELD) offsetof(hot_view_state, FIELD)

/* In the order of the help: view, camera, image, glyphs, annotations. */
static const hot_view_setting settings[] = {
    {"mode", HOT_SETTING_CHOICE, AT(mode), "single|planes|3d",
     "one plane (default), three linked planes with a 3-D view, or 3-D only", 0, 0, 0},
    {"plane", HOT_SETTING_CHOICE, AT(plane), "axial|sagittal|coronal", "the plane of mode single; default axial", 0, 0,
     0},
    {"voxel", HOT_SETTING_VOXEL, AT(voxel), "I,J,K",
     "the crosshair, which selects the slices; default the middle, or where most fibres are", 0, 1e9, 1},
    {"slice", HOT_SETTING_INT, AT(slice), "N", "slice of the plane, counted from 0; default the crosshair's", 0, 1e9,
     1},
    {"extent", HOT_SETTING_CHOICE, AT(extent), "slices|volume",
     "3-D: glyphs of the three slices through the crosshair (default), or of the whole volume", 0, 0, 0},
    {"slab", HOT_SETTING_INT, AT(slab), "N", "slices of glyphs that a plane shows; default 1", 1, 999, 0},
    {"camera", HOT_SETTING_ANGLES, AT(rotation), "AZIMUTH,ELEVATION[,ROLL]",
     "3-D: camera position, degrees from the front to the patient's left, and upwards; default 35,25", -360, 360, 0},
    {"tilt", HOT_SETTING_ANGLES, AT(tilt), "AZIMUTH,ELEVATION[,ROLL]",
     "planes: turns the camera away from the perpendicular view; default 0,0", -360, 360, 0},
    {"zoom", HOT_SETTING_NUMBER, AT(zoom), "F", "magnification; 1 (default) fits the whole grid", 0.01, 1000, 0},
    {"center", HOT_SETTING_POINT, AT(center), "X,Y,Z", "point at the middle of the picture, scanner mm (RAS)", -1e6,
     1e6, 1},
    {"lock_axes", HOT_SETTING_SWITCH, AT(lock_axes), "on|off",
     "planes and 3-D camera follow the voxel grid (default on), or the scanner's axes", 0, 0, 0},
    {"background", HOT_SETTING_NAME, AT(background), "NAME",
     "image behind the glyphs: b0, tissues (of a run with msmt: white matter blue, grey matter green, CSF red), dec, "
     "nfibers, amplitude, the base name of a given image file, auto (default: the first given image, else tissues, "
     "b0 or amplitude), none",
     0, 0, 0},
    {"volume", HOT_SETTING_INT, AT(frame), "N",
     "volume of a 4-D image, counted from 0; default the first with b=0", 0, 1e9, 1},
    {"window", HOT_SETTING_PAIR, AT(window), "LOW,HIGH", "image values shown black and white; default auto", -1e30,
     1e30, 1},
    {"interpolate", HOT_SETTING_SWITCH, AT(interpolate), "on|off", "interpolate the image between voxels; default on",
     0, 0, 0},
    {"opacity", HOT_SETTING_NUMBER, AT(opacity), "F", "brightness of the image behind the glyphs, 0 to 1; default 0.6",
     0, 1, 0},
    {"glyph", HOT_SETTING_CHOICE, AT(glyph), "none|surface|sticks|both",
     "the tensor's surface (an ellipsoid, or of radius A v^m), a stick per fibre, or both; default both, as far as "
     "available", 0, 0, 0},
    {"shape", HOT_SETTING_CHOICE, AT(shape), "ellipsoid|peanut",
     "diffusion tensors of order 2: ellipsoids, whose half axes are in proportion to the eigenvalues (default), or the "
     "surface of radius v^T D v, a peanut",
     0, 0, 0},
    {"surfaces", HOT_SETTING_CHOICE, AT(surfaces), "fibers|all",
     "with directions: surfaces of voxels with fibres (default), or of all fitted voxels", 0, 0, 0},
    {"scale", HOT_SETTING_NUMBER, AT(scale), "F",
     "size of the glyphs; at 1 (default) three quarters of those with fibres fit in their voxel, and none is more "
     "than 1.5 times its size",
     0.001, 1000, 0},
    {"normalise", HOT_SETTING_SWITCH, AT(normalise), "on|off", "all glyphs of the same size; default off", 0, 0, 0},
    {"clip", HOT_SETTING_SWITCH, AT(clip), "on|off", "cut glyphs off at the walls of their voxel; default off", 0, 0,
     0},
    {"threshold", HOT_SETTING_NUMBER, AT(threshold), "VALUE",
     "minimum of a surface's largest radius and of a stick's length; default 0", 0, 1e30, 0},
    {"use_mask", HOT_SETTING_SWITCH, AT(use_mask), "on|off", "glyphs inside --mask only; default on", 0, 0, 0},
    {"color", HOT_SETTING_CHOICE, AT(color), "direction|fiber|value|plain",
     "|x| red, |y| green, |z| blue (default); the fibre's number (surfaces: the number of fibres); a volume's value, "
     "with a colour bar; one grey",
     0, 0, 0},
    {"color_by", HOT_SETTING_NAME, AT(color_by), "NAME", "the volume of --color value; default the background", 0, 0,
     0},
    {"color_range", HOT_SETTING_PAIR, AT(color_range), "LOW,HIGH", "values of its first and last colour; default auto",
     -1e30, 1e30, 1},
    {"stick_width", HOT_SETTING_NUMBER, AT(stick_width), "F",
     "thickness of sticks as a fraction of the voxel; default 0.1", 0.001, 1, 0},
    {"light", HOT_SETTING_SWITCH, AT(light), "on|off", "shade the glyphs; default on", 0, 0, 0},
    {"detail", HOT_SETTING_INT, AT(detail), "TRIANGLES",
     "triangles per surface, 20 to 20480; default auto: by its size on the screen", 20, 20480, 1},
    {"raster", HOT_SETTING_CHOICE, AT(raster), "auto|gpu|cpu|compute",
     "draw surfaces with OpenGL's pipeline, on the CPU, or with OpenGL 4.3 compute shaders; default auto: compute on "
     "GPUs with 64-bit atomics, gpu on other GPUs, cpu if OpenGL runs in software",
     0, 0, 0},
    {"canvas", HOT_SETTING_RGB, AT(canvas), "GREY or R,G,B", "colour of empty space, each 0 to 1; default 0", 0, 1, 0},
    {"transparent", HOT_SETTING_SWITCH, AT(transparent), "on|off",
     "pictures: empty space is transparent instead (PNG with alpha); default off", 0, 0, 0},
    {"image", HOT_SETTING_SWITCH, AT(show_image), "on|off", "show the image; default on", 0, 0, 0},
    {"crosshair", HOT_SETTING_SWITCH, AT(show_crosshair), "on|off", "show the crosshair; default on (pictures: off)", 0,
     0, 0},
    {"annotations", HOT_SETTING_SWITCH, AT(show_annotations), "on|off",
     "show orientation letters, scale bar and captions; default on", 0, 0, 0},
    {"values", HOT_SETTING_SWITCH, AT(show_values), "on|off", "show the panel of the crosshair's voxel; default off", 0,
     0, 0},
    {"colorbar", HOT_SETTING_SWITCH, AT(show_colorbar), "on|off", "show the colour bar of --color value; default on", 0,
     0, 0},
    {"panel", HOT_SETTING_SWITCH, AT(show_panel), "on|off",
     "window: show the panel of settings; default on", 0, 0, 0},
    {"keys", HOT_SETTING_SWITCH, AT(show_help), "on|off", "show the list of keys; default off", 0, 0, 0},
    {"pixel_ratio", HOT_SETTING_NUMBER, AT(pixel_ratio), "F",
     "size of text and lines; default 1, in pictures larger than 1024x768 in proportion", 0.25, 16, 0},
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

const hot_view_setting *hot_view_settings(size_t *count)
{
    *count = SETTINGS;
    return settings;
}

static int same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
            return 0;
    return *a == *b;
}

const hot_view_setting *hot_view_setting_find(const char *name)
{
    for (int i = 0; i < SETTINGS; i++)
        if (same_name(settings[i].name, name))
            return &settings[i];
    return NULL;
}

/* ---- Text to setting -------------------------------------------------------------------------------------- */

/* Index of `text` in "a|b|c", or -1. */
static int choice_index(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (int index = 0; *choices; index++) {
        size_t part = strcspn(choices, "|");
        if (part == length && strncmp(choices, text, part) == 0)
            return index;
        choices += part + (choices[part] == '|');
    }
    return -1;
}

/* "a|b|c" as "a, b or c". */
static void list_choices(const char *choices, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    while (*choices && used < size) {
        const size_t part = strcspn(choices, "|");
        const char *join = used == 0 ? "" : choices[part] ? ", " : " or ";
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", join, (int)part, choices);
        choices += part + (choices[part] == '|');
    }
}

static hot_status fail_value(hot_context *context, const hot_view_setting *setting, const char *text)
{
    enum { NO_LIMIT = 1000000 };
    char bounds[64] = "", value[128];
    const int choice = setting->kind == HOT_SETTING_CHOICE || setting->kind == HOT_SETTING_SWITCH;
    if (choice)
        list_choices(setting->value, value, sizeof value);
    else
        snprintf(value, sizeof value, "%s", setting->kind == HOT_SETTING_NUMBER ? "a number"
                                            : setting->kind == HOT_SETTING_INT ? "a whole number" : setting->value);
    if (setting->low < setting->high && setting->high < NO_LIMIT)
        snprintf(bounds, sizeof bounds, " from %.10g to %.10g", setting->low, setting->high);
    else if (setting->low < setting->high && setting->low > -NO_LIMIT)
        snprintf(bounds, sizeof bounds, " of at least %.10g", setting->low);
    return hot_context_fail(context, HOT_ERROR_ARGUMENT, "--%s is %s%s%s, not '%s'", setting->name, value, bounds,
                            setting->automatic ? ", or auto" : "", text);
}

/* Reads min_count to max_count numbers separated by commas. Returns their number, or 0 for other text. */
static int read_numbers(const hot_view_setting *setting, const char *text, int min_count, int max_count,
                        double *numbers)
{
    int count = 0;
    for (;;) {
        char *end;
        double number = strtod(text, &end);
        int whole = setting->kind == HOT_SETTING_INT || setting->kind == HOT_SETTING_VOXEL;
        if (end == text || !isfinite(number) || (whole && number != floor(number)) || count == max_count ||
            (setting->low < setting->high && !(number >= setting->low && number <= setting->high)))
            return 0;
        numbers[count++] = number;
        if (!*end)
            return count >= min_count ? count : 0;
        if (*end != ',')
            return 0;
        text = end + 1;
    }
}

static int set_choice(const hot_view_setting *setting, const char *text, int *field)
{
    const int index = choice_index(setting->kind == HOT_SETTING_SWITCH ? "off|on" : setting->value, text);
    if (index >= 0)
        *field = index;
    return index >= 0;
}

static int set_int(const hot_view_setting *setting, const char *text, int automatic, int *field)
{
    const int detail = setting->offset == AT(detail);
    double number;
    if (automatic) {
        *field = detail ? 0 : -1;
        return 1;
    }
    if (!read_numbers(setting, text, 1, 1, &number))
        return 0;
    *field = detail ? 20 * hot_sphere_parts[hot_glyph_nearest_detail((int)number)] : (int)number;
    return 1;
}

static int set_name(const char *text, char *field)
{
    if (!text[0] || strlen(text) >= HOT_VIEW_NAME)
        return 0;
    strcpy(field, text);
    return 1;
}

/* auto becomes NaN. */
static int set_numbers(const hot_view_setting *setting, const char *text, int count, int automatic, double *field)
{
    double numbers[3] = {NAN, NAN, NAN};
    if (!automatic && !read_numbers(setting, text, count, count, numbers))
        return 0;
    if (setting->kind == HOT_SETTING_PAIR && !automatic && !(numbers[0] < numbers[1]))
        return 0;
    memcpy(field, numbers, (size_t)count * sizeof *numbers);
    return 1;
}

static int set_voxel(const hot_view_setting *setting, const char *text, int automatic, int *field)
{
    double numbers[3] = {-1, -1, -1};
    if (!automatic && !read_numbers(setting, text, 3, 3, numbers))
        return 0;
    for (int d = 0; d < 3; d++)
        field[d] = (int)numbers[d];
    return 1;
}

/* One number is a grey. */
static int set_rgb(const hot_view_setting *setting, const char *text, double *field)
{
    double numbers[3];
    const int count = read_numbers(setting, text, 1, 3, numbers);
    if (count != 1 && count != 3)
        return 0;
    for (int d = 0; d < 3; d++)
        field[d] = numbers[count == 3 ? d : 0];
    return 1;
}

static int set_angles(const hot_view_setting *setting, const char *text, double *field)
{
    double degrees[3] = {0, 0, 0};
    if (!read_numbers(setting, text, 2, 3, degrees))
        return 0;
    hot_quaternion_from_angles(degrees, field);
    return 1;
}

hot_status hot_view_setting_parse(hot_context *context, const hot_view_setting *setting, const char *text,
                                  hot_view_state *state)
{
    void *field = (char *)state + setting->offset;
    const int automatic = setting->automatic && strcmp(text, "auto") == 0;
    int valid = 0;
    switch (setting->kind) {
    case HOT_SETTING_SWITCH:
    case HOT_SETTING_CHOICE: valid = set_choice(setting, text, field); break;
    case HOT_SETTING_INT: valid = set_int(setting, text, automatic, field); break;
    case HOT_SETTING_NUMBER: valid = set_numbers(setting, text, 1, automatic, field); break;
    case HOT_SETTING_NAME: valid = set_name(text, field); break;
    case HOT_SETTING_PAIR: valid = set_numbers(setting, text, 2, automatic, field); break;
    case HOT_SETTING_VOXEL: valid = set_voxel(setting, text, automatic, field); break;
    case HOT_SETTING_POINT: valid = set_numbers(setting, text, 3, automatic, field); break;
    case HOT_SETTING_RGB: valid = set_rgb(setting, text, field); break;
    case HOT_SETTING_ANGLES: valid = set_angles(setting, text, field); break;
    }
    return valid ? HOT_OK : fail_value(context, setting, text);
}

hot_status hot_view_state_add_layer(hot_context *context, const char *text, hot_view_state *state)
{
    if (state->layers == HOT_VIEW_LAYERS)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "--overlay %s: more than %d overlays", text,
                                HOT_VIEW_LAYERS);
    hot_status status = hot_layer_parse(context, text, &state->layer[state->layers]);
    state->layers += status == HOT_OK;
    return status;
}

hot_status hot_view_state_set(hot_context *context, const char *name, const char *text, hot_view_state *state)
{
    const hot_view_setting *setting = hot_view_setting_find(name);
    if (strcmp(name, "overlay") == 0)
        return hot_view_state_add_layer(context, text, state);
    if (strcmp(name, "beside") == 0) {
        const hot_status status = hot_view_state_add_layer(context, text, state);
        if (status == HOT_OK)
            state->layer[state->layers - 1].beside = 1;
        return status;
    }
    if (!setting)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "no setting '%s'", name);
    return hot_view_setting_parse(context, setting, text, state);
}

/* ---- Setting to text -------------------------------------------------------------------------------------- */

static void print_numbers(const double *numbers, int count, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%.9g", i ? "," : "", numbers[i] + 0.); /* + 0.: turns
                                                                                                        -0 to 0 */
}

void hot_view_setting_print(const hot_view_setting *setting, const hot_view_state *state, char *text, size_t size)
{
    const void *field = (const char *)state + setting->offset;
    const double *numbers = field;
    const int *whole = field;
    switch (setting->kind) {
    case HOT_SETTING_SWITCH:
        snprintf(text, size, "%s", *whole ? "on" : "off");
        break;
    case HOT_SETTING_CHOICE: {
        const char *at = setting->value;
        for (int index = 0; index < *whole && *at; index++)
            at += strcspn(at, "|") + 1;
        snprintf(text, size, "%.*s", (int)strcspn(at, "|"), at);
        break;
    }
    case HOT_SETTING_INT:
        if (setting->automatic && (*whole < 0 || (*whole == 0 && setting->offset == AT(detail))))
            snprintf(text, size, "auto");
        else
            snprintf(text, size, "%d", *whole);
        break;
    case HOT_SETTING_NUMBER:
        print_numbers(numbers, 1, text, size);
        break;
    case HOT_SETTING_NAME:
        snprintf(text, size, "%s", (const char *)field);
        break;
    case HOT_SETTING_PAIR:
    case HOT_SETTING_POINT:
        if (isnan(numbers[0]))
            snprintf(text, size, "auto");
        else
            print_numbers(numbers, setting->kind == HOT_SETTING_PAIR ? 2 : 3, text, size);
        break;
    case HOT_SETTING_VOXEL:
        if (whole[0] < 0)
            snprintf(text, size, "auto");
        else
            snprintf(text, size, "%d,%d,%d", whole[0], whole[1], whole[2]);
        break;
    case HOT_SETTING_RGB:
        print_numbers(numbers, 3, text, size);
        break;
    case HOT_SETTING_ANGLES: {
        double degrees[3];
        hot_quaternion_to_angles(numbers, degrees);
        print_numbers(degrees, 3, text, size);
        break;
    }
    }
}

/* ---- States ----------------------------------------------------------------------------------------------- */

void hot_view_state_default(hot_view_state *state)
{
    memset(state, 0, sizeof *state);
    for (int d = 0; d < 3; d++) {
        state->voxel[d] = -1;
        state->center[d] = NAN;
    }
    state->slice = state->frame = -1;
    state->slab = 1;
    hot_quaternion_from_angles((const double[3]){35, 25, 0}, state->rotation);
    hot_quaternion_identity(state->tilt);
    state->zoom = 1;
    state->lock_axes = 1;
    strcpy(state->background, "auto");
    strcpy(state->color_by, "auto");
    state->window[0] = state->window[1] = state->color_range[0] = state->color_range[1] = NAN;
    state->interpolate = 1;
    state->opacity = 0.6;
    state->glyph = HOT_GLYPH_BOTH;
    state->scale = 1;
    state->use_mask = 1;
    state->stick_width = 0.1;
    state->light = 1;
    state->show_image = state->show_crosshair = state->show_annotations = state->show_colorbar = 1;
    state->show_panel = 1;
    state->pixel_ratio = 1;
}

static hot_status check_volume(hot_context *context, const hot_scene *scene, const char *option, const char *name)
{
    char names[HOT_SCENE_VOLUMES * (HOT_VIEW_NAME + 2)] = "";
    if (strcmp(name, "auto") == 0 || strcmp(name, "none") == 0 || hot_scene_volume(scene, name))
        return HOT_OK;
    for (int v = 0; v < scene->volumes; v++) {
        strcat(names, v ? ", " : "");
        strcat(names, scene->volume[v].name);
    }
    return hot_context_fail(context, HOT_ERROR_ARGUMENT, "--%s: no volume '%s'; available: %s", option,
                            name, scene->volumes ? names : "none");
}

hot_status hot_view_state_resolve(hot_context *context, const hot_scene *scene, hot_view_state *state)
{
    int axis[3];
    HOT_TRY(check_volume(context, scene, "background", state->background));
    HOT_TRY(check_volume(context, scene, "color_by", state->color_by));
    hot_scene_plane_axes(scene, axis);
    for (int d = 0; d < 3; d++)
        if (state->voxel[d] < 0)
            state->voxel[d] = scene->start[d];
    if (state->slice >= 0)
        state->voxel[axis[state->plane]] = state->slice;
    for (int d = 0; d < 3; d++)
        if ((size_t)state->voxel[d] >= scene->grid.size[d])
            return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                    "voxel %d,%d,%d is outside the grid of %zu x %zu x %zu voxels (counted from 0)",
                                    state->voxel[0], state->voxel[1], state->voxel[2], scene->grid.size[0],
                                    scene->grid.size[1], scene->grid.size[2]);
    state->slice = -1;
    return HOT_OK;
}

hot_status hot_view_state_check(hot_context *context, const hot_scene *scene, const hot_view_state *state)
{
    if (state->glyph == HOT_GLYPH_SURFACE && !scene->order)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "--glyph surface needs tensors; `hotfiber run --outputs default,tensors` writes them");
    if (state->glyph == HOT_GLYPH_STICKS && !scene->max_fibers)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "--glyph sticks needs directions; `hotfiber peaks` finds those of tensors");
    return HOT_OK;
}
