/* Fields that change while they are shown. Any thread puts slices; the window's thread makes scenes of them. */
#pragma once

#include "scene.h"

typedef enum hot_live_kind { HOT_LIVE_PEAKS, HOT_LIVE_TENSORS, HOT_LIVE_IMAGE, HOT_LIVE_KINDS } hot_live_kind;

typedef struct hot_live hot_live;

/* Makes an empty field. mask: one byte per voxel, copied; NULL = none. Objects and arrays are the context's, which must
 * outlive it. */
hot_status hot_live_create(hot_context *context, const hot_grid *grid, const uint8_t *mask, hot_live **live);
void hot_live_destroy(hot_live **live);

/* Adds an array of zeros. number: fibres of HOT_LIVE_PEAKS, the order of HOT_LIVE_TENSORS, values per voxel of
 * HOT_LIVE_IMAGE (1 or 3). name: of an image its volume's, of tensors their model. For the thread that uses the context
 * of hot_live_create. Errors: HOT_ERROR_DATA (added before, with another number), HOT_ERROR_MEMORY. */
hot_status hot_live_add(hot_live *live, hot_live_kind kind, int number, const char *name);

/* The number of an array, 0 if there is none; the grid. For any thread. */
int hot_live_number(hot_live *live, hot_live_kind kind);
const hot_grid *hot_live_grid(const hot_live *live);

/* Copies slices first ... first + count - 1 along the third axis. For any thread. The array must exist. */
void hot_live_put(hot_live *live, hot_live_kind kind, size_t first, size_t count, const float *values);

/* Nothing more will be put, because of this error: a later call of hot_live_take fails with it, once. For any
 * thread. */
void hot_live_fail(hot_live *live, hot_status status, const char *message);

/* Makes a scene of the current fields if something was put or added since the last call; else *scene is NULL. For one
 * thread, with any context. The scene borrows arrays that the next call changes: destroy it before drawing again.
 * old: the last scene, NULL = none yet. state: fitted to the scene. Until the user moves the crosshair, or if no
 * position was set before the first scene, it follows the slices that got glyphs last. */
hot_status hot_live_take(hot_live *live, hot_context *context, const hot_scene *old, hot_view_state *state,
                         hot_scene **scene);
