/* The table of keys and mouse, and its Markdown form. */
#include <stdio.h>
#include <string.h>

#include "input.h"

#define KEY(CODE, ACTION, GROUP, LABEL, HELP) {HOT_TRIGGER_KEY, CODE, 0, HOT_ACTION_##ACTION, GROUP, LABEL, HELP}
#define KEY_WITH(CODE, MODIFIERS, ACTION, GROUP, LABEL, HELP) \
    {HOT_TRIGGER_KEY, CODE, MODIFIERS, HOT_ACTION_##ACTION, GROUP, LABEL, HELP}
/* A key covered by the label of the row above. */
#define ALSO(CODE, MODIFIERS, ACTION, GROUP) KEY_WITH(CODE, MODIFIERS, ACTION, GROUP, NULL, NULL)
#define MOUSE(TRIGGER, BUTTON, MODIFIERS, ACTION, LABEL, HELP) \
    {HOT_TRIGGER_##TRIGGER, BUTTON, MODIFIERS, HOT_ACTION_##ACTION, "Mouse", LABEL, HELP}

static const hot_binding bindings[] = {
    MOUSE(DRAG, HOT_BUTTON_LEFT, 0, PICK, "Left", "crosshair; values of the voxel"),
    MOUSE(WHEEL, 0, 0, SCROLL, "Wheel", "next or previous slice"),
    MOUSE(DRAG, HOT_BUTTON_RIGHT, 0, WINDOW_LEVEL, "Right drag", "brightness (across), contrast (up)"),
    MOUSE(DRAG, HOT_BUTTON_MIDDLE, 0, PAN, "Middle drag", "pan (or Shift left drag)"),
    MOUSE(DRAG, HOT_BUTTON_LEFT, HOT_WITH_SHIFT, PAN, NULL, NULL),
    MOUSE(DRAG, HOT_BUTTON_RIGHT, HOT_WITH_SHIFT, SCROLL, "Shift right drag", "through the slices"),
    MOUSE(DRAG, HOT_BUTTON_LEFT, HOT_WITH_CTRL, TURN, "Ctrl drag", "rotate (in 3-D: drag alone)"),
    MOUSE(SPACE_DRAG, HOT_BUTTON_LEFT, 0, TURN, NULL, NULL),
    MOUSE(DRAG, HOT_BUTTON_RIGHT, HOT_WITH_CTRL, ROLL, "Ctrl right drag", "roll"),
    MOUSE(WHEEL, 0, HOT_WITH_CTRL, ZOOM, "Ctrl wheel", "zoom about the pointer"),

    KEY('A', AXIAL, "View", "A  S  C", "axial, sagittal, coronal plane"),
    ALSO('S', 0, SAGITTAL, "View"),
    ALSO('C', 0, CORONAL, "View"),
    KEY(HOT_KEY_F1, SINGLE, "View", "F1  F2  F3", "one plane, three linked planes, 3-D"),
    ALSO(HOT_KEY_F2, 0, PLANES, "View"),
    ALSO(HOT_KEY_F3, 0, SPACE, "View"),
    KEY(HOT_KEY_UP, SLICE_NEXT, "View", "Up  Down", "next, previous slice"),
    ALSO(HOT_KEY_DOWN, 0, SLICE_BACK, "View"),
    KEY_WITH('+', HOT_WITH_CTRL, ZOOM_IN, "View", "Ctrl +  Ctrl −", "zoom in, out"),
    ALSO('=', HOT_WITH_CTRL, ZOOM_IN, "View"),
    ALSO('-', HOT_WITH_CTRL, ZOOM_OUT, "View"),
    KEY('L', LOCK, "View", "L", "lock planes to the voxel grid"),
    KEY('R', RESET, "View", "R", "reset the view"),

    KEY('+', LARGER, "Glyphs", "+  −", "larger, smaller"),
    ALSO('=', 0, LARGER, "Glyphs"),
    ALSO('-', 0, SMALLER, "Glyphs"),
    KEY('G', GLYPH, "Glyphs", "G", "surfaces, sticks, both, none"),
    KEY('D', COLOR, "Glyphs", "D", "colour by direction, fibre, value"),
    KEY('N', NORMALISE, "Glyphs", "N", "all equally large"),
    KEY('K', CLIP, "Glyphs", "K", "keep inside the voxel"),
    KEY('T', LIGHT, "Glyphs", "T", "light"),
    KEY('W', EXTENT, "Glyphs", "W", "3-D: whole volume, or slices"),
    KEY(']', THRESHOLD_UP, "Glyphs", "]  [", "raise, lower the threshold"),
    ALSO('[', 0, THRESHOLD_DOWN, "Glyphs"),

    KEY('M', IMAGE, "Image", "M", "show or hide"),
    KEY(HOT_KEY_PAGE_DOWN, VOLUME_NEXT, "Image", "Page Down  Up", "next, previous image"),
    ALSO(HOT_KEY_PAGE_UP, 0, VOLUME_BACK, "Image"),
    KEY(HOT_KEY_RIGHT, FRAME_NEXT, "Image", "Right  Left", "next, previous volume"),
    ALSO(HOT_KEY_LEFT, 0, FRAME_BACK, "Image"),
    KEY('I', INTERPOLATE, "Image", "I", "interpolate"),
    KEY(HOT_KEY_ESCAPE, WINDOW_RESET, "Image", "Esc", "reset its brightness"),

    KEY('F', CROSSHAIR, "Annotations", "F", "crosshair"),
    KEY('V', VALUES, "Annotations", "V", "values of the voxel"),
    KEY('B', COLORBAR, "Annotations", "B", "colour bar"),
    KEY(' ', ANNOTATIONS, "Annotations", "Space", "all annotations"),
    KEY('H', HELP, "Annotations", "H or ?", "this help"),
    ALSO('?', 0, HELP, "Annotations"),

    KEY(HOT_KEY_TAB, PANEL, "Window", "Tab", "panel of settings"),
    KEY_WITH('Z', HOT_WITH_CTRL, UNDO, "Window", "Ctrl+Z  Ctrl+Y", "undo, redo"),
    ALSO('Y', HOT_WITH_CTRL, REDO, "Window"),
    ALSO('Z', HOT_WITH_CTRL | HOT_WITH_SHIFT, REDO, "Window"),
    KEY(HOT_KEY_F11, FULL_SCREEN, "Window", "F11", "full screen"),
    KEY_WITH('R', HOT_WITH_SHIFT, RELOAD, "Window", "Shift+R", "read the files again"),
    KEY('Q', QUIT, "Window", "Q", "quit"),
    ALSO('Q', HOT_WITH_CTRL, QUIT, "Window"),
    ALSO('W', HOT_WITH_CTRL, QUIT, "Window"),
};
enum { BINDINGS = sizeof bindings / sizeof bindings[0] };

const hot_binding *hot_bindings(size_t *count)
{
    *count = BINDINGS;
    return bindings;
}

hot_status hot_bindings_markdown(hot_context *context, char **text)
{
    size_t size = 64, used = 0;
    for (int i = 0; i < BINDINGS; i++)
        size += bindings[i].label
                    ? strlen(bindings[i].label) + strlen(bindings[i].help) + strlen(bindings[i].group) + 16
                    : 0;
    *text = hot_context_alloc(context, size, 1);
    if (!*text)
        return HOT_ERROR_MEMORY;
    used += (size_t)snprintf(*text, size, "| | |\n| --- | --- |");
    const char *group = "";
    for (int i = 0; i < BINDINGS; i++) {
        const hot_binding *row = &bindings[i];
        if (!row->label)
            continue;
        if (strcmp(group, row->group))
            used += (size_t)snprintf(*text + used, size - used, "%s\n| %s | ", *group ? " |" : "", row->group);
        else
            used += (size_t)snprintf(*text + used, size - used, " · ");
        used += (size_t)snprintf(*text + used, size - used, "`%s` %s", row->label, row->help);
        group = row->group;
    }
    snprintf(*text + used, size - used, " |\n");
    return HOT_OK;
}
