/* Keys and mouse: events change the view's state. No OpenGL and no window system; window.c passes on GLFW's events, and
 * tests make up their own. Bindings follow MRtrix's mrview where it has the same action.
 *
 * All bindings are in one table. Events are looked up in it; the help on the screen and the table in docs/viewer.md are
 * generated from it. */
#pragma once

#include "scene/camera.h"

/* Key codes: the (capital) character of printing keys, and these. */
enum {
    HOT_KEY_UP = 0x110000,
    HOT_KEY_DOWN,
    HOT_KEY_LEFT,
    HOT_KEY_RIGHT,
    HOT_KEY_PAGE_UP,
    HOT_KEY_PAGE_DOWN,
    HOT_KEY_ESCAPE,
    HOT_KEY_F1,
    HOT_KEY_F2,
    HOT_KEY_F3,
    HOT_KEY_F11,
    HOT_KEY_TAB
};
/* Modifiers, bits. Shift is ignored for characters other than letters: whether they need it depends on the keyboard. */
enum { HOT_WITH_SHIFT = 1, HOT_WITH_CTRL = 2 };
enum { HOT_BUTTON_LEFT = 1, HOT_BUTTON_RIGHT, HOT_BUTTON_MIDDLE };

typedef enum hot_action {
    HOT_ACTION_NONE = 0,
    /* view */
    HOT_ACTION_AXIAL, HOT_ACTION_SAGITTAL, HOT_ACTION_CORONAL, HOT_ACTION_SINGLE, HOT_ACTION_PLANES, HOT_ACTION_SPACE,
    HOT_ACTION_SLICE_NEXT, HOT_ACTION_SLICE_BACK, HOT_ACTION_ZOOM_IN, HOT_ACTION_ZOOM_OUT, HOT_ACTION_LOCK,
    HOT_ACTION_RESET,
    /* image */
    HOT_ACTION_IMAGE, HOT_ACTION_VOLUME_NEXT, HOT_ACTION_VOLUME_BACK, HOT_ACTION_FRAME_NEXT, HOT_ACTION_FRAME_BACK,
    HOT_ACTION_INTERPOLATE, HOT_ACTION_WINDOW_RESET,
    /* glyphs */
    HOT_ACTION_GLYPH, HOT_ACTION_COLOR, HOT_ACTION_LARGER, HOT_ACTION_SMALLER, HOT_ACTION_NORMALISE, HOT_ACTION_CLIP,
    HOT_ACTION_LIGHT, HOT_ACTION_EXTENT, HOT_ACTION_THRESHOLD_UP, HOT_ACTION_THRESHOLD_DOWN,
    /* annotations and window */
    HOT_ACTION_CROSSHAIR, HOT_ACTION_VALUES, HOT_ACTION_COLORBAR, HOT_ACTION_ANNOTATIONS, HOT_ACTION_HELP,
    HOT_ACTION_PANEL,
    HOT_ACTION_FULL_SCREEN, HOT_ACTION_RELOAD, HOT_ACTION_QUIT, HOT_ACTION_UNDO, HOT_ACTION_REDO,
    /* mouse */
    HOT_ACTION_PICK, HOT_ACTION_WINDOW_LEVEL, HOT_ACTION_PAN, HOT_ACTION_TURN, HOT_ACTION_ROLL, HOT_ACTION_SCROLL,
    HOT_ACTION_ZOOM
} hot_action;

typedef enum hot_trigger {
    HOT_TRIGGER_KEY = 0,
    HOT_TRIGGER_DRAG,       /* drag with a button, in planes and 3-D */
    HOT_TRIGGER_SPACE_DRAG, /* drag in 3-D, if it differs from the drag in planes; clicks are those of
                               HOT_TRIGGER_DRAG */
    HOT_TRIGGER_WHEEL
} hot_trigger;

/* A key or a mouse gesture. */
typedef struct hot_binding {
    hot_trigger trigger;
    int key;           /* or mouse button */
    int modifiers;
    hot_action action;
    const char *group; /* heading in the help; rows of a group are consecutive */
    const char *label; /* name of the key: "Shift+R"; NULL = alternative to the row above */
    const char *help;  /* a short description */
} hot_binding;

/* All bindings; static storage. */
const hot_binding *hot_bindings(size_t *count);
/* The table in Markdown, one row per group, for docs/viewer.md. Owner: the caller (hot_context_free). */
hot_status hot_bindings_markdown(hot_context *context, char **text);

/* Requests of an event to its caller, bits. */
enum {
    HOT_REQUEST_REDRAW = 1,
    HOT_REQUEST_PICK = 2, /* the crosshair was clicked: describe the voxel */
    HOT_REQUEST_RELOAD = 4,
    HOT_REQUEST_FULL_SCREEN = 8,
    HOT_REQUEST_QUIT = 16,
    HOT_REQUEST_UNDO = 32,
    HOT_REQUEST_REDO = 64
};

/* State between events; zero-initialised. Pixels of the framebuffer from the upper left corner. */
typedef struct hot_input {
    int width, height;    /* size of the picture; the caller updates it */
    double x, y;          /* position of the pointer */
    int button;           /* the held button; 0 = none */
    hot_action action;    /* action of the held button */
    int moved;            /* 1: moved since the press, so this is a drag and not a click */
    double press_x, press_y;
    double remainder;          /* fraction of a slice left over from turning the wheel or dragging */
} hot_input;

/* Each function changes *state and returns requests. */
unsigned hot_input_key(hot_input *input, const hot_scene *scene, hot_view_state *state, int key, int modifiers);
unsigned hot_input_button(hot_input *input, const hot_scene *scene, hot_view_state *state, int button, int pressed,
                          int modifiers);
unsigned hot_input_move(hot_input *input, const hot_scene *scene, hot_view_state *state, double x, double y);
/* steps: of the wheel, positive = up */
unsigned hot_input_wheel(hot_input *input, const hot_scene *scene, hot_view_state *state, double steps, int modifiers);
