/* What keys and the mouse do: events change the view's state. Free of GL and of the window system; window.c hands on
 * what GLFW says, tests hand on what they like. Keys and mouse are those of MRtrix's mrview as far as it has them.
 *
 * One table says what there is: events are looked up in it, and the help on the screen and the README are made from
 * it. */
#ifndef HOT_VIZ_INPUT_H
#define HOT_VIZ_INPUT_H

#include "scene/camera.h"

/* Keys: the character (capital letters) for what prints, these for the rest. */
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
    HOT_KEY_F11
};
/* Modifiers, added up. Shift does not count for characters that are not letters: where they stand is the keyboard's
 * affair. */
enum { HOT_WITH_SHIFT = 1, HOT_WITH_CTRL = 2 };
enum { HOT_BUTTON_LEFT = 1, HOT_BUTTON_RIGHT, HOT_BUTTON_MIDDLE };

typedef enum hot_action {
    HOT_ACTION_NONE = 0,
    /* where */
    HOT_ACTION_AXIAL, HOT_ACTION_SAGITTAL, HOT_ACTION_CORONAL, HOT_ACTION_SINGLE, HOT_ACTION_PLANES, HOT_ACTION_SPACE,
    HOT_ACTION_SLICE_NEXT, HOT_ACTION_SLICE_BACK, HOT_ACTION_ZOOM_IN, HOT_ACTION_ZOOM_OUT, HOT_ACTION_LOCK,
    HOT_ACTION_RESET,
    /* image */
    HOT_ACTION_IMAGE, HOT_ACTION_VOLUME_NEXT, HOT_ACTION_VOLUME_BACK, HOT_ACTION_INTERPOLATE, HOT_ACTION_WINDOW_RESET,
    /* glyphs */
    HOT_ACTION_GLYPH, HOT_ACTION_COLOR, HOT_ACTION_LARGER, HOT_ACTION_SMALLER, HOT_ACTION_NORMALISE, HOT_ACTION_CLIP,
    HOT_ACTION_LIGHT, HOT_ACTION_EXTENT, HOT_ACTION_THRESHOLD_UP, HOT_ACTION_THRESHOLD_DOWN,
    /* annotations and window */
    HOT_ACTION_CROSSHAIR, HOT_ACTION_VALUES, HOT_ACTION_COLORBAR, HOT_ACTION_ANNOTATIONS, HOT_ACTION_HELP,
    HOT_ACTION_FULL_SCREEN, HOT_ACTION_RELOAD, HOT_ACTION_QUIT,
    /* mouse */
    HOT_ACTION_PICK, HOT_ACTION_WINDOW_LEVEL, HOT_ACTION_PAN, HOT_ACTION_TURN, HOT_ACTION_ROLL, HOT_ACTION_SCROLL,
    HOT_ACTION_ZOOM
} hot_action;

typedef enum hot_trigger {
    HOT_TRIGGER_KEY = 0,
    HOT_TRIGGER_DRAG,       /* of the button, in planes and 3-D */
    HOT_TRIGGER_SPACE_DRAG, /* of the button in 3-D, where it is another action than in planes; a click stays a click */
    HOT_TRIGGER_WHEEL
} hot_trigger;

/* A key, or a way to use the mouse. */
typedef struct hot_binding {
    hot_trigger trigger;
    int key;           /* or the button */
    int modifiers;
    hot_action action;
    const char *group; /* the heading it stands under; rows of a group follow each other */
    const char *label; /* how it is called: "Shift+R"; NULL = another way for the row before */
    const char *help;  /* a few words */
} hot_binding;

/* All of them; static storage. */
const hot_binding *hot_bindings(size_t *count);
/* The table as it stands in the README (Markdown), a row for each group. Owner: the caller (hot_context_free). */
hot_status hot_bindings_markdown(hot_context *context, char **text);

/* What an event asks for besides the changed state; added up. */
enum {
    HOT_REQUEST_REDRAW = 1,
    HOT_REQUEST_PICK = 2, /* the crosshair was set: say what is there */
    HOT_REQUEST_RELOAD = 4,
    HOT_REQUEST_FULL_SCREEN = 8,
    HOT_REQUEST_QUIT = 16
};

/* What is remembered between events. Zero at the start. Pixels of the framebuffer, from the upper left corner. */
typedef struct hot_input {
    int width, height;    /* the picture's size: keep it up to date */
    double x, y;          /* the pointer */
    int button;           /* that is held, 0 = none */
    hot_action action;    /* what holding it does */
    int moved;            /* since it was pressed: then it is a drag, not a click */
    double press_x, press_y;
    double remainder;          /* of the wheel's turn, or the drag through slices: less than a slice yet */
} hot_input;

/* Each changes *state and returns what else is asked for. */
unsigned hot_input_key(hot_input *input, const hot_scene *scene, hot_view_state *state, int key, int modifiers);
unsigned hot_input_button(hot_input *input, const hot_scene *scene, hot_view_state *state, int button, int pressed,
                          int modifiers);
unsigned hot_input_move(hot_input *input, const hot_scene *scene, hot_view_state *state, double x, double y);
/* steps: of the wheel, up is positive */
unsigned hot_input_wheel(hot_input *input, const hot_scene *scene, hot_view_state *state, double steps, int modifiers);

#endif
