#include "movie.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/common/output.h"
#include "io/common/paths.h"
#include "io/picture/apng.h"

static int kind_of(const hot_view_state *state, const hot_movie *movie)
{
    return movie->kind != HOT_MOVIE_AUTO         ? movie->kind
           : state->mode == HOT_VIEW_SPACE ? HOT_MOVIE_TURN
                                           : HOT_MOVIE_SLICES;
}

/* The axis and the ends of the slices. */
static int slices(const hot_scene *scene, const hot_view_state *state, int ends[2])
{
    int axes[3];
    hot_scene_plane_axes(scene, axes);
    ends[0] = scene->low[axes[state->plane]];
    ends[1] = scene->high[axes[state->plane]];
    return axes[state->plane];
}

int hot_movie_frames(const hot_scene *scene, const hot_view_state *state, const hot_movie *movie)
{
    enum { TURN = 36 };
    int ends[2];
    if (movie->frames > 0)
        return movie->frames;
    switch (kind_of(state, movie)) {
    case HOT_MOVIE_TURN: return TURN;
    case HOT_MOVIE_VOLUMES: return hot_volume_frames(hot_scene_volume(scene, state->background));
    default: slices(scene, state, ends); return ends[1] - ends[0] + 1;
    }
}

/* Number `frame` of `count` even steps from first to last. */
static int step(int frame, int count, int first, int last)
{
    return count < 2 ? first : first + (int)lround((double)frame * (last - first) / (count - 1));
}

void hot_movie_state(const hot_scene *scene, const hot_view_state *state, const hot_movie *movie, int frame,
                     hot_view_state *shown)
{
    const int count = hot_movie_frames(scene, state, movie);
    double turn[4];
    int ends[2];
    *shown = *state;
    switch (kind_of(state, movie)) {
    case HOT_MOVIE_TURN:
        shown->mode = HOT_VIEW_SPACE;
        hot_quaternion_axis((const double[3]){0, 0, 1}, 6.283185307179586 * frame / count, turn);
        hot_quaternion_multiply(turn, state->rotation, shown->rotation);
        break;
    case HOT_MOVIE_VOLUMES:
        shown->frame = step(frame, count, 0, hot_volume_frames(hot_scene_volume(scene, state->background)) - 1);
        break;
    default: {
        const int axis = slices(scene, state, ends);
        shown->voxel[axis] = step(frame, count, ends[0], ends[1]);
    }
    }
}

/* ---- Files ------------------------------------------------------------------------------------------------ */

struct job {
    hot_pictures *pictures;
    hot_scene *scene;
    const hot_view_state *state;
    const hot_movie *movie;
};

/* Prepares the view of a frame, and reports the progress. */
static hot_status prepare(hot_context *context, const struct job *job, int frame, hot_view_state *shown)
{
    const int count = hot_movie_frames(job->scene, job->state, job->movie);
    hot_movie_state(job->scene, job->state, job->movie, frame, shown);
    const hot_status status = hot_context_progress(context, "drawing the movie", (double)frame / count);
    return status == HOT_OK ? hot_scene_show_frame(job->scene, shown) : status;
}

static hot_status put_animation(hot_context *context, FILE *file, const void *given)
{
    const struct job *job = given;
    hot_apng movie = {.file = file, .frames = hot_movie_frames(job->scene, job->state, job->movie)};
    movie.milliseconds = (int)lround(fmin(fmax(1000 / job->movie->rate, 1), 65535));
    hot_status status = HOT_OK;
    for (int frame = 0; frame < movie.frames && status == HOT_OK; frame++) {
        hot_view_state shown;
        hot_png png;
        status = prepare(context, job, frame, &shown);
        if (status != HOT_OK)
            break;
        FILE *memory = hot_png_begin(context, &png);
        if (!memory)
            return HOT_ERROR_MEMORY;
        status = hot_png_end(context, &png, memory, hot_pictures_put(job->pictures, job->scene, &shown, memory));
        if (status == HOT_OK)
            status = hot_apng_add(context, &movie, &png);
        hot_png_free(&png);
    }
    return status;
}

static hot_status save_frames(hot_context *context, const struct job *job)
{
    const int count = hot_movie_frames(job->scene, job->state, job->movie);
    hot_status status = HOT_OK;
    for (int frame = 0; frame < count && status == HOT_OK; frame++) {
        char name[32];
        hot_view_state shown;
        snprintf(name, sizeof name, "frame-%04d.png", frame);
        char *path = hot_path_join(context, job->movie->path, name);
        if (!path)
            return HOT_ERROR_MEMORY;
        status = prepare(context, job, frame, &shown);
        if (status == HOT_OK)
            status = hot_pictures_save(job->pictures, job->scene, &shown, path);
        hot_context_free(context, path);
    }
    return status;
}

hot_status hot_movie_save(hot_context *context, hot_pictures *pictures, hot_scene *scene, const hot_view_state *state,
                          const hot_movie *movie)
{
    const struct job job = {pictures, scene, state, movie};
    if (kind_of(state, movie) == HOT_MOVIE_VOLUMES && hot_volume_frames(hot_scene_volume(scene, state->background)) < 2)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a movie of volumes needs a 4-D image as background, "
                                "not '%s'", state->background);
    return hot_path_has_suffix(movie->path, ".png") ? hot_output_write(context, movie->path, put_animation, &job)
                                                    : save_frames(context, &job);
}
