#include "input.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "scene/pick.h"

/* ---- Table lookup ---------------------------------------------------------------------------------------- */

static int is_letter(int key) { return key >= 'A' && key <= 'Z'; }

static hot_action find_action(hot_trigger trigger, int key, int modifiers)
{
    size_t count;
    const hot_binding *table = hot_bindings(&count);
    if (trigger == HOT_TRIGGER_KEY && !is_letter(key))
        modifiers &= ~HOT_WITH_SHIFT;
    for (size_t i = 0; i < count; i++)
        if (table[i].trigger == trigger && table[i].key == key && table[i].modifiers == modifiers)
            return table[i].action;
    return HOT_ACTION_NONE;
}

/* The viewport under the pointer, or the first one if the pointer is outside the picture. */
static const hot_viewport *viewport_at(const hot_input *input, const hot_scene *scene, const hot_view_state *state,
                                       hot_view_layout *layout, double x, double y)
{
    hot_view_lay_out(scene, state, input->width, input->height, layout);
    const hot_viewport *viewport = hot_layout_at(layout, x, y);
    return viewport ? viewport : &layout->viewport[0];
}

static const hot_view_volume *background_volume(const hot_scene *scene, const hot_view_state *state)
{
    return hot_scene_volume(scene, state->background);
}

/* ---- Camera ---------------------------------------------------------------------------------------------- */

/* Moves the scene by mm to the right and up on the screen. */
static void pan(hot_view_state *state, const hot_viewport *viewport, double right, double up)
{
    double center[3];
    memcpy(center, isnan(state->center[0]) ? viewport->center : state->center, sizeof center);
    for (int d = 0; d < 3; d++)
        state->center[d] = center[d] - right * viewport->right[d] - up * viewport->up[d];
}

/* Magnifies about (x, y). */
static void zoom(const hot_input *input, const hot_scene *scene, hot_view_state *state, double factor, double x,
                 double y)
{
    hot_view_layout layout;
    const hot_viewport *viewport = viewport_at(input, scene, state, &layout, x, y);
    const hot_view_setting *setting = hot_view_setting_find("zoom");
    const double before = state->zoom;
    state->zoom = fmin(fmax(before * factor, setting->low), setting->high);
    const double gone = viewport->mm_per_pixel * (1 - before / state->zoom);
    pan(state, viewport, -(x - viewport->x - viewport->width / 2) * gone,
        (y - viewport->y - viewport->height / 2) * gone);
}

/* Turns about the viewing axis by the pointer's angle around the viewport's centre. */
static void roll(hot_view_state *state, const hot_viewport *viewport, const double from[2], const double to[2])
{
    const double x = viewport->x + viewport->width / 2, y = viewport->y + viewport->height / 2;
    double angle = atan2(to[1] - y, to[0] - x) - atan2(from[1] - y, from[0] - x), turn[4];
    double *rotation = viewport->space ? state->rotation : state->tilt;
    double axis[3] = {viewport->toward[0], viewport->toward[1], viewport->toward[2]};
    /* y points down: a growing angle is clockwise on the screen, and the camera turns the other way */
    if (viewport->space)
        hot_viewport_in_frame(viewport, viewport->toward, axis);
    hot_quaternion_axis(axis, angle, turn);
    hot_quaternion_multiply(turn, rotation, rotation);
}

static void reset_view(const hot_scene *scene, hot_view_state *state)
{
    hot_view_state fresh;
    hot_view_state_default(&fresh);
    state->zoom = fresh.zoom;
    state->lock_axes = fresh.lock_axes;
    memcpy(state->center, fresh.center, sizeof fresh.center);
    memcpy(state->rotation, fresh.rotation, sizeof fresh.rotation);
    memcpy(state->tilt, fresh.tilt, sizeof fresh.tilt);
    memcpy(state->voxel, scene->start, sizeof state->voxel);
}

/* L: from a tilted view back to the grid's planes; otherwise between the grid's and the scanner's planes. */
static void toggle_lock(hot_view_state *state)
{
    const int tilted = fabs(state->tilt[0]) < 1 - 1e-12;
    hot_quaternion_identity(state->tilt);
    state->lock_axes = tilted || !state->lock_axes;
}

/* ---- Slices ---------------------------------------------------------------------------------------------- */

/* Positive steps go towards superior, right, anterior. Returns whether the slice has changed. */
static int step_slice(const hot_scene *scene, hot_view_state *state, const hot_viewport *viewport, int steps)
{
    static const int world[3] = {[HOT_PLANE_AXIAL] = 2, [HOT_PLANE_SAGITTAL] = 0, [HOT_PLANE_CORONAL] = 1};
    int axes[3];
    hot_scene_plane_axes(scene, axes);
    const int axis = axes[viewport->plane], last = (int)scene->grid.size[axis] - 1, before = state->voxel[axis];
    const int sign = scene->to_ras[world[viewport->plane]][axis] < 0 ? -1 : 1;
    const double wanted = (double)before + (double)sign * (double)steps;
    state->voxel[axis] = (int)fmin(fmax(wanted, 0), last);
    return state->voxel[axis] != before;
}

/* Converts a turn of the wheel or a drag to whole slices; the remainder is kept for the next event. */
static unsigned scroll(hot_input *input, const hot_scene *scene, hot_view_state *state, double slices, double x,
                       double y)
{
    hot_view_layout layout;
    input->remainder += slices;
    const double whole = fmin(fmax(trunc(input->remainder), -1e6), 1e6);
    input->remainder -= trunc(input->remainder);
    if (whole == 0)
        return 0;
    const hot_viewport *viewport = viewport_at(input, scene, state, &layout, x, y);
    return step_slice(scene, state, viewport, (int)whole) ? HOT_REQUEST_REDRAW : 0;
}

/* ---- Image and glyphs ------------------------------------------------------------------------------------ */

static void window_level(const hot_scene *scene, hot_view_state *state, double brighter, double contrast)
{
    const hot_view_volume *image = background_volume(scene, state);
    if (!image)
        return;
    const double full_width = image->window[1] - image->window[0];
    double window[2];
    hot_volume_window(image, state->window, window);
    const double width = window[1] - window[0], middle = (window[0] + window[1]) / 2 - width * brighter;
    const double wide = fmin(fmax(width * exp(-contrast), 1e-6 * full_width), 1e6 * full_width);
    state->window[0] = middle - wide / 2;
    state->window[1] = middle + wide / 2;
}

static void next_volume(const hot_scene *scene, hot_view_state *state, int step)
{
    const hot_view_volume *image = background_volume(scene, state);
    const int count = scene->volumes + 1; /* plus "none" */
    const int now = image ? (int)(image - scene->volume) : scene->volumes, next = (now + step + count) % count;
    strcpy(state->background, next == scene->volumes ? "none" : scene->volume[next].name);
    state->window[0] = state->window[1] = NAN; /* a new volume starts with its own window */
    state->frame = -1;
}

/* The next or previous volume of a 4-D image. */
static unsigned next_frame(const hot_scene *scene, hot_view_state *state, int step)
{
    const hot_view_volume *image = background_volume(scene, state);
    const int last = hot_volume_frames(image) - 1, now = image ? (int)image->frame : 0;
    const int next = now + step < 0 ? 0 : now + step > last ? last : now + step;
    if (next == now)
        return 0;
    state->frame = next;
    return HOT_REQUEST_REDRAW;
}

static void next_glyph(const hot_scene *scene, hot_view_state *state)
{
    for (int tried = 0; tried < 4; tried++) {
        state->glyph = (state->glyph + 1) % 4;
        if (state->glyph == HOT_GLYPH_NONE || (state->glyph == HOT_GLYPH_SURFACE && scene->order) ||
            (state->glyph == HOT_GLYPH_STICKS && scene->max_fibers) || (scene->order && scene->max_fibers))
            return;
    }
}

static void change_threshold(const hot_scene *scene, hot_view_state *state, double steps)
{
    const double step = 0.05 * (scene->order ? scene->typical_radius : scene->typical_amplitude);
    /* rounded to whole steps, so that equally many steps up and down lead back to 0 */
    state->threshold = fmax(0, step * (round(state->threshold / step) + steps));
}

static void change_scale(hot_view_state *state, double factor)
{
    const hot_view_setting *setting = hot_view_setting_find("scale");
    state->scale = fmin(fmax(state->scale * factor, setting->low), setting->high);
}

/* ---- Keys ------------------------------------------------------------------------------------------------ */

/* Switches toggled by a key. */
static const struct {
    hot_action action;
    size_t field; /* an int of hot_view_state */
} toggles[] = {
    {HOT_ACTION_IMAGE, offsetof(hot_view_state, show_image)},
    {HOT_ACTION_INTERPOLATE, offsetof(hot_view_state, interpolate)},
    {HOT_ACTION_NORMALISE, offsetof(hot_view_state, normalise)},
    {HOT_ACTION_CLIP, offsetof(hot_view_state, clip)},
    {HOT_ACTION_LIGHT, offsetof(hot_view_state, light)},
    {HOT_ACTION_CROSSHAIR, offsetof(hot_view_state, show_crosshair)},
    {HOT_ACTION_VALUES, offsetof(hot_view_state, show_values)},
    {HOT_ACTION_COLORBAR, offsetof(hot_view_state, show_colorbar)},
    {HOT_ACTION_ANNOTATIONS, offsetof(hot_view_state, show_annotations)},
    {HOT_ACTION_HELP, offsetof(hot_view_state, show_help)},
    {HOT_ACTION_PANEL, offsetof(hot_view_state, show_panel)},
};

/* NULL if the action is no switch. */
static int *toggled_by(hot_view_state *state, hot_action action)
{
    for (size_t i = 0; i < sizeof toggles / sizeof toggles[0]; i++)
        if (toggles[i].action == action)
            return (int *)((char *)state + toggles[i].field);
    return NULL;
}

static void show_plane(hot_view_state *state, hot_view_plane plane)
{
    state->mode = HOT_VIEW_SINGLE;
    state->plane = plane;
}

/* Zooms about the middle of the first viewport. */
static void zoom_about_middle(const hot_input *input, const hot_scene *scene, hot_view_state *state, double factor)
{
    hot_view_layout layout;
    viewport_at(input, scene, state, &layout, 0, 0);
    zoom(input, scene, state, factor, layout.viewport[0].width / 2, layout.viewport[0].height / 2);
}

/* Planes, slices, camera. Returns 0 if nothing has changed. */
static unsigned key_view(const hot_input *input, const hot_scene *scene, hot_view_state *state, hot_action action)
{
    static const double ZOOM_STEP = 1.25;
    hot_view_layout layout;
    switch (action) {
    case HOT_ACTION_AXIAL: show_plane(state, HOT_PLANE_AXIAL); break;
    case HOT_ACTION_SAGITTAL: show_plane(state, HOT_PLANE_SAGITTAL); break;
    case HOT_ACTION_CORONAL: show_plane(state, HOT_PLANE_CORONAL); break;
    case HOT_ACTION_SINGLE: state->mode = HOT_VIEW_SINGLE; break;
    case HOT_ACTION_PLANES: state->mode = HOT_VIEW_PLANES; break;
    case HOT_ACTION_SPACE: state->mode = HOT_VIEW_SPACE; break;
    case HOT_ACTION_SLICE_NEXT:
    case HOT_ACTION_SLICE_BACK:
        return step_slice(scene, state, viewport_at(input, scene, state, &layout, input->x, input->y),
                          action == HOT_ACTION_SLICE_NEXT ? 1 : -1) ? HOT_REQUEST_REDRAW : 0;
    case HOT_ACTION_ZOOM_IN: zoom_about_middle(input, scene, state, ZOOM_STEP); break;
    case HOT_ACTION_ZOOM_OUT: zoom_about_middle(input, scene, state, 1 / ZOOM_STEP); break;
    case HOT_ACTION_LOCK: toggle_lock(state); break;
    case HOT_ACTION_RESET: reset_view(scene, state); break;
    default: return 0;
    }
    return HOT_REQUEST_REDRAW;
}

/* Image and glyphs. */
static unsigned key_contents(const hot_scene *scene, hot_view_state *state, hot_action action)
{
    static const double SCALE_STEP = 1.1;
    switch (action) {
    case HOT_ACTION_VOLUME_NEXT: next_volume(scene, state, 1); break;
    case HOT_ACTION_VOLUME_BACK: next_volume(scene, state, -1); break;
    case HOT_ACTION_FRAME_NEXT: return next_frame(scene, state, 1);
    case HOT_ACTION_FRAME_BACK: return next_frame(scene, state, -1);
    case HOT_ACTION_WINDOW_RESET:
        if (state->show_help) /* Esc closes the help first, as in other programs */
            state->show_help = 0;
        else
            state->window[0] = state->window[1] = NAN;
        break;
    case HOT_ACTION_GLYPH: next_glyph(scene, state); break;
    case HOT_ACTION_COLOR: state->color = (state->color + 1) % (HOT_COLOR_PLAIN + 1); break;
    case HOT_ACTION_LARGER: change_scale(state, SCALE_STEP); break;
    case HOT_ACTION_SMALLER: change_scale(state, 1 / SCALE_STEP); break;
    case HOT_ACTION_EXTENT:
        state->extent = state->extent == HOT_EXTENT_SLICES ? HOT_EXTENT_VOLUME : HOT_EXTENT_SLICES;
        break;
    case HOT_ACTION_THRESHOLD_UP: change_threshold(scene, state, 1); break;
    case HOT_ACTION_THRESHOLD_DOWN: change_threshold(scene, state, -1); break;
    default: return 0;
    }
    return HOT_REQUEST_REDRAW;
}

unsigned hot_input_key(hot_input *input, const hot_scene *scene, hot_view_state *state, int key, int modifiers)
{
    const hot_action action = find_action(HOT_TRIGGER_KEY, key, modifiers);
    int *toggled = toggled_by(state, action);
    if (toggled) {
        *toggled = !*toggled;
        return HOT_REQUEST_REDRAW;
    }
    switch (action) {
    case HOT_ACTION_FULL_SCREEN: return HOT_REQUEST_FULL_SCREEN;
    case HOT_ACTION_RELOAD: return HOT_REQUEST_RELOAD;
    case HOT_ACTION_QUIT: return HOT_REQUEST_QUIT;
    case HOT_ACTION_UNDO: return HOT_REQUEST_UNDO;
    case HOT_ACTION_REDO: return HOT_REQUEST_REDO;
    default: return key_view(input, scene, state, action) | key_contents(scene, state, action);
    }
}

/* ---- Mouse ----------------------------------------------------------------------------------------------- */

/* Moves the crosshair to the voxel under the pointer. */
static unsigned pick(const hot_input *input, const hot_scene *scene, hot_view_state *state)
{
    hot_view_layout layout;
    int voxel[3];
    const hot_viewport *viewport = viewport_at(input, scene, state, &layout, input->press_x, input->press_y);
    if (!hot_pick_voxel(scene, state, viewport, input->x, input->y, voxel))
        return 0;
    const int moved = memcmp(voxel, state->voxel, sizeof voxel) != 0;
    memcpy(state->voxel, voxel, sizeof voxel);
    return moved ? HOT_REQUEST_REDRAW : 0;
}

unsigned hot_input_button(hot_input *input, const hot_scene *scene, hot_view_state *state, int button, int pressed,
                          int modifiers)
{
    hot_view_layout layout;
    int voxel[3];
    if (pressed) {
        if (input->button) /* another button is held already */
            return 0;
        input->button = button;
        input->moved = 0;
        input->remainder = 0;
        input->press_x = input->x;
        input->press_y = input->y;
        const int space = viewport_at(input, scene, state, &layout, input->x, input->y)->space;
        const hot_action in_space = space ? find_action(HOT_TRIGGER_SPACE_DRAG, button, modifiers) : HOT_ACTION_NONE;
        input->action = in_space ? in_space : find_action(HOT_TRIGGER_DRAG, button, modifiers);
        return input->action == HOT_ACTION_PICK ? pick(input, scene, state) : 0;
    }
    if (button != input->button)
        return 0;
    const hot_action action = input->action;
    const int click = !input->moved && find_action(HOT_TRIGGER_DRAG, button, modifiers) == HOT_ACTION_PICK;
    input->button = 0;
    input->action = HOT_ACTION_NONE;
    if (action == HOT_ACTION_PICK || (action == HOT_ACTION_TURN && click)) {
        const hot_viewport *viewport = viewport_at(input, scene, state, &layout, input->press_x, input->press_y);
        if (hot_pick_voxel(scene, state, viewport, input->x, input->y, voxel))
            return pick(input, scene, state) | HOT_REQUEST_PICK;
    }
    return 0;
}

unsigned hot_input_move(hot_input *input, const hot_scene *scene, hot_view_state *state, double x, double y)
{
    /* desktop units per full window of brightness (or factor e of contrast), per slice, and up to which a press is a
     * click */
    static const double WINDOW_DRAG = 300, SLICE_DRAG = 8, CLICK = 3;
    const double from[2] = {input->x, input->y}, to[2] = {x, y}, dx = x - from[0], dy = y - from[1];
    hot_view_layout layout;
    input->x = x;
    input->y = y;
    if (!input->button || (dx == 0 && dy == 0))
        return 0;
    if (!input->moved && input->action != HOT_ACTION_PICK) {
        if (hypot(x - input->press_x, y - input->press_y) <= CLICK * state->pixel_ratio) {
            input->x = from[0]; /* not a drag yet: measure it from its start */
            input->y = from[1];
            return 0;
        }
    }
    input->moved = 1;
    const hot_viewport *viewport = viewport_at(input, scene, state, &layout, input->press_x, input->press_y);
    switch (input->action) {
    case HOT_ACTION_PICK:
        return pick(input, scene, state);
    case HOT_ACTION_WINDOW_LEVEL:
        window_level(scene, state, dx / (WINDOW_DRAG * state->pixel_ratio), -dy / (WINDOW_DRAG * state->pixel_ratio));
        return HOT_REQUEST_REDRAW;
    case HOT_ACTION_PAN:
        pan(state, viewport, dx * viewport->mm_per_pixel, -dy * viewport->mm_per_pixel);
        return HOT_REQUEST_REDRAW;
    case HOT_ACTION_TURN:
        hot_view_state_turn(state, viewport, dx, dy);
        return HOT_REQUEST_REDRAW;
    case HOT_ACTION_ROLL:
        roll(state, viewport, from, to);
        return HOT_REQUEST_REDRAW;
    case HOT_ACTION_SCROLL:
        return scroll(input, scene, state, -dy / (SLICE_DRAG * state->pixel_ratio), input->press_x, input->press_y);
    default:
        return 0;
    }
}

unsigned hot_input_wheel(hot_input *input, const hot_scene *scene, hot_view_state *state, double steps, int modifiers)
{
    static const double ZOOM_STEP = 1.15;
    switch (find_action(HOT_TRIGGER_WHEEL, 0, modifiers)) {
    case HOT_ACTION_SCROLL:
        return scroll(input, scene, state, steps, input->x, input->y);
    case HOT_ACTION_ZOOM:
        zoom(input, scene, state, pow(ZOOM_STEP, steps), input->x, input->y);
        return steps != 0 ? HOT_REQUEST_REDRAW : 0;
    default:
        return 0;
    }
}
