/* Undo and redo: the states of a view before each gesture. No OpenGL. */
#pragma once

#include "view_state.h"

enum { HOT_HISTORY = 100 };

/* Zeroed: empty. */
typedef struct hot_history {
    int count, at;      /* states, and the one that is shown; those after it can be redone */
    int moves[HOT_HISTORY]; /* 1: this state differs from the one before by its place alone */
    hot_view_state state[HOT_HISTORY];
} hot_history;

/* Adds a state unless it equals the one that is shown; what was undone is forgotten. Consecutive changes of the place
 * (crosshair, zoom, camera) are one step. Call it before each gesture, so that a drag is one step. */
void hot_history_note(hot_history *history, const hot_view_state *state);
/* Replaces *state by the one before it, or after it if redo is 1. Help, panel, hint and screen scale are no
 * settings of the picture and stay. Returns 0 if there is none. */
int hot_history_step(hot_history *history, int redo, hot_view_state *state);
