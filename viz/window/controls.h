/* The panel of the window, by Dear ImGui: made from the table of settings. Plain C for window.c;
 * controls.cc needs libimgui-dev. */
#pragma once

#include "scene/recent.h"

HOT_C_BEGIN

struct GLFWwindow;
typedef struct hot_controls hot_controls;

enum { HOT_CONTROLS_PLACES = 256 };

/* Where a control of the last frame is, desktop units; for tests, which press it. */
typedef struct hot_controls_place {
    char name[64];
    float x, y, width, height;
} hot_controls_place;

/* Requests of a frame to the window. */
typedef enum hot_controls_request {
    HOT_CONTROLS_NOTHING = 0,
    HOT_CONTROLS_SAVE_PICTURE,
    HOT_CONTROLS_SAVE_STATE,
    HOT_CONTROLS_LOAD_STATE,
    HOT_CONTROLS_COPY_COMMAND,
    HOT_CONTROLS_ADD_LAYER,    /* frame->layer */
    HOT_CONTROLS_ADD_BESIDE,   /* the same, in a separate pane */
    HOT_CONTROLS_UNDO,
    HOT_CONTROLS_REDO,
    HOT_CONTROLS_SAVE_MOVIE,
    HOT_CONTROLS_OPEN          /* frame->open */
} hot_controls_request;

/* Input and output of a frame. */
typedef struct hot_controls_frame {
    const hot_scene *scene;
    hot_view_state *state;
    const double *pointer;     /* its last event, pixels; negative: outside the window */
    const char *under_pointer; /* values under the pointer; "" = none */
    const char *said;          /* answer to the last request; "" = none */
    const hot_recent *recent;
    char open[4096];           /* for HOT_CONTROLS_OPEN: a file, or an entry of the recent ones */
    /* For HOT_CONTROLS_SAVE_PICTURE and the states; kept by the caller between frames. */
    char picture[512], file[512];
    char layer[HOT_VIEW_SOURCE]; /* for HOT_CONTROLS_ADD_LAYER, as --overlay */
    int width, height, dpi, white;
    char movie[512];           /* for HOT_CONTROLS_SAVE_MOVIE, with the next three: as hot_movie */
    int movie_kind, movie_frames;
    float movie_rate;
} hot_controls_frame;

/* The window's OpenGL context is current. NULL without memory, or without Dear ImGui in this build. */
hot_controls *hot_controls_create(struct GLFWwindow *window, double scale);
void hot_controls_destroy(hot_controls *controls);
/* Pixels at the window's right edge that the panel takes; 0 = hidden, or the window is too small for it. */
int hot_controls_width(const hot_controls *controls, const hot_view_state *state, int window_width);
/* Draws the panel over the bound framebuffer and applies the changes. */
hot_controls_request hot_controls_draw(hot_controls *controls, hot_controls_frame *frame);
/* GLFW's events. Each returns whether the panel has used it. */
int hot_controls_key(hot_controls *controls, int key, int scancode, int action, int mods);
int hot_controls_character(hot_controls *controls, unsigned code);
int hot_controls_button(hot_controls *controls, int button, int action, int mods);
int hot_controls_wheel(hot_controls *controls, double across, double up);
void hot_controls_focus(hot_controls *controls, int focused);
void hot_controls_enter(hot_controls *controls, struct GLFWwindow *window, int entered);
int hot_controls_places(const hot_controls *controls, const hot_controls_place **places);

HOT_C_END
