/* Movies: a full turn in 3-D, a walk through the slices or the volumes; one animated PNG, or a folder of pictures. */
#pragma once

#include "picture.h"

typedef enum hot_movie_kind { HOT_MOVIE_AUTO = 0, HOT_MOVIE_TURN, HOT_MOVIE_SLICES, HOT_MOVIE_VOLUMES } hot_movie_kind;
#define HOT_MOVIE_KINDS "auto|turn|slices|volumes"

typedef struct hot_movie {
    const char *path; /* ending in .png: an animated PNG; else a folder: frame-0000.png ... in it */
    int kind;         /* hot_movie_kind; auto: a turn in 3-D, else the slices */
    int frames;       /* 0: 36 of a turn, else one for each slice or volume */
    double rate;      /* frames per second, 1 to 100 */
} hot_movie;

/* The number of frames; at least 1. */
int hot_movie_frames(const hot_scene *scene, const hot_view_state *state, const hot_movie *movie);
/* The view of a frame. Slices are those of state->plane between the first and the last with content. */
void hot_movie_state(const hot_scene *scene, const hot_view_state *state, const hot_movie *movie, int frame,
                     hot_view_state *shown);
/* Draws and writes it. The scene shows other volumes of a 4-D image afterwards (hot_scene_show_frame). Errors: those of
 * hot_pictures_save; HOT_ERROR_ARGUMENT (volumes of an image that has one). */
hot_status hot_movie_save(hot_context *context, hot_pictures *pictures, hot_scene *scene, const hot_view_state *state,
                          const hot_movie *movie);
