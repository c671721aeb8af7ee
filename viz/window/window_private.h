/* The window's state, for window*.c. */
#pragma once

#include "input/input.h"
#include "overlay/overlay.h"
#include "controls.h"
#include "render/backdrop.h"
#include "render/render.h"
#include "scene/history.h"
#include "window.h"
#include "window_dump.h"

struct hot_window {
    hot_context *context;
    hot_scene **scene;
    hot_view_state *state;
    hot_window_options options;
    GLFWwindow *handle;
    hot_renderer *renderer;
    hot_overlay *overlay;
    hot_controls *controls;  /* NULL: this build has no panel */
    hot_controls_frame panel;
    hot_backdrop backdrop;   /* the picture, drawn when it changes */
    int samples, frames;     /* per pixel; frames that the panel still needs to settle */
    char under_pointer[256], said[600];
    hot_input input;
    double pointer[2];      /* pixels, at the last move event; negative: none yet */
    double ratio;           /* pixel_ratio as set by the user, without the content scale */
    int redraw;             /* 1: the picture is out of date */
    int pick_reported;          /* a voxel was clicked before */
    GLFWcursor *cursor;
    int windowed[4];        /* position and size before full screen */
    double check_at;        /* time of the next check of the files */
    double retry_seconds;        /* seconds until unreadable files are tried again */
    int changed;            /* 1: the last check found a change */
    hot_live *live;         /* NULL: the scene does not change, or other files were dropped on it */
    double take_at;         /* time of the next look at it */
    double drawing;         /* seconds that the last picture took */
    hot_recent recent;
    hot_history history;    /* of the state, before each gesture */
    hot_status status;      /* anything but HOT_OK ends the loop */
    hot_window_dump dump;
};

/* Handles a request of a button of the panel, which shows the result. */
void hot_window_answer(hot_window *view, hot_controls_request request);
/* Shows another scene; the old one is destroyed. */
void hot_window_set_scene(hot_window *view, hot_scene *scene);
/* Opens other files, as hot_scene_open_dropped. */
hot_status hot_window_open(hot_window *view, const char **paths, int count);
/* The files on display become the newest of the recent ones. */
void hot_window_note_files(hot_window *view);
/* Notes the state before a gesture changes it. */
void hot_window_note(hot_window *view);
/* Goes one step back, or forward again, if there is one. Errors: those of opening layers. */
hot_status hot_window_undo(hot_window *view, int redo);
