/* hotfiber-view: displays fields in a window, or draws pictures of them. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "bench/viz/view_bench.h"
#include "cli/cli.h"
#include "common/entry.h"
#include "io/common/paths.h"
#include "render/movie.h"
#include "scene/state_file.h"
#include "stream_view.h"
#ifdef HOT_HAVE_GLFW
#include "window.h"
#elif defined HOT_WINDOW_PROGRAM
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#endif

static const cli_command command = {
    "view", "display tensors and directions in a window, or draw pictures without a display", "FILE... [options]",
    "FILE is the directory of a `hotfiber run`, tensors, spherical harmonics (an fODF), directions (NRRD, NIfTI, MIF, "
    "a fixel directory, .odx, .fz, .vtp by hotfiber), streamlines (.tck, .trx), or an image on any grid, alone or "
    "behind the glyphs. Diffusion data are shown a volume at a time. With - NRRDs are read from standard input, one "
    "after another, and drawn as they arrive; one of fewer slices replaces those of the first. Every setting of the "
    "view is an option; in the window, H lists keys and mouse.\n\n"
    "  hotfiber view out\n"
    "  hotfiber view out --plane coronal --scale 1.5 --screenshot coronal.png --size 1600x1200\n"
    "  hotfiber view out --overlay fa,opacity=0.5 --overlay other_peaks.nii.gz,color=sky\n"
    "  hotfiber view out --beside other_peaks.nii.gz --overlay fa,threshold=0.2\n"
    "  hotfiber view tensors.nrrd peaks.nii.gz t1.nii.gz --background t1\n"
    "  hotfiber peaks -i tensors.nrrd | hotfiber view -\n"
    "  hotfiber view out --mode 3d --extent volume --movie turn.png",
    HOT_SCENE_PATHS};

enum { MAX_SETTINGS = 48 };

/* Options other than files and settings of the view. */
struct view_options {
    const char *screenshot, *movie, *movie_of, *size, *mask, *dump, *as, *basis, *frame, *state;
    cli_texts overlays, besides;
    int turntable, samples, bench, frames, order, cube, dpi, detach;
    double fps;
    size_t glyphs;
    int width, height;
};

/* "800x600" */
static int read_size(const char *text, int *width, int *height)
{
    char *end;
    const long w = strtol(text, &end, 10);
    if (end == text || (*end != 'x' && *end != 'X'))
        return 0;
    const char *second = end + 1;
    const long h = strtol(second, &end, 10);
    if (end == second || *end || w < 1 || h < 1 || w > 65536 || h > 65536)
        return 0;
    *width = (int)w;
    *height = (int)h;
    return 1;
}

/* ---- Pictures --------------------------------------------------------------------------------------------- */

/* turn.png -> turn-007.png */
static void series_name(const char *path, int number, char *name, size_t size)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    const int stem = dot && dot != path ? (int)(dot - path) : (int)strlen(path);
    snprintf(name, size, "%.*s-%03d%s", stem, path, number, path + stem);
}

/* The number of a choice "a|b|c". */
static int choice_number(const char *choices, const char *text)
{
    int number = 0;
    for (; strncmp(choices, text, strlen(text)) != 0 || (choices[strlen(text)] && choices[strlen(text)] != '|');
         number++)
        choices += strcspn(choices, "|") + 1;
    return number;
}

static hot_status save_pictures(hot_context *context, hot_scene *scene, const hot_view_state *state,
                                const struct view_options *options)
{
    hot_pictures *pictures = NULL;
    hot_status status = hot_pictures_create(context, options->width, options->height, options->samples, &pictures);
    if (status == HOT_OK)
        hot_pictures_set_dpi(pictures, options->dpi);
    if (status == HOT_OK && options->movie)
        status = hot_movie_save(context, pictures, scene, state,
                                &(const hot_movie){.path = options->movie,
                                                   .kind = choice_number(HOT_MOVIE_KINDS, options->movie_of),
                                                   .frames = options->frames, .rate = options->fps});
    if (status == HOT_OK && options->screenshot && !options->turntable)
        status = hot_pictures_save(pictures, scene, state, options->screenshot);
    for (int p = 0; p < options->turntable && status == HOT_OK; p++) {
        hot_view_state turned = *state;
        double turn[4];
        char name[4096];
        hot_quaternion_axis((const double[3]){0, 0, 1}, 6.283185307179586 * p / options->turntable, turn);
        hot_quaternion_multiply(turn, state->rotation, turned.rotation);
        series_name(options->screenshot, p, name, sizeof name);
        status = hot_pictures_save(pictures, scene, &turned, name);
        if (status == HOT_OK)
            status = hot_context_progress(context, "drawing the pictures", (p + 1.) / options->turntable);
    }
    hot_pictures_destroy(&pictures);
    return status;
}

static hot_status bench(hot_context *context, hot_scene **scene, hot_view_state *state,
                        const struct view_options *options)
{
    float *tensors = NULL;
    hot_status status = HOT_OK;
    if (!*scene) {
        status = hot_bench_field(context, options->glyphs, options->order, options->cube, &tensors, scene);
        if (options->cube) {
            state->mode = HOT_VIEW_SPACE;
            state->extent = HOT_EXTENT_VOLUME;
        }
        if (status == HOT_OK)
            status = hot_view_state_resolve(context, *scene, state);
    }
    if (status == HOT_OK)
        status = hot_bench_run(context, *scene, state, options->width, options->height, options->samples,
                               options->frames ? options->frames : 100, NULL);
    hot_scene_destroy(scene);
    hot_context_free(context, tensors);
    return status;
}

#ifdef HOT_HAVE_GLFW
/* Prints the description of a clicked voxel, flushed for programs that read standard output. */
static void print_voxel(void *user, const char *text)
{
    (void)user;
    printf("%s\n", text);
    fflush(stdout);
}
#endif

#if !defined HOT_HAVE_GLFW && defined HOT_WINDOW_PROGRAM
/* Starts the program next to this one that opens windows. Only that one links to libX11, so that pictures work on
 * machines without it; checked here, because the loader's own message would not tell users what to install. */
static hot_status open_elsewhere(hot_context *context, char **argv)
{
    char path[PATH_MAX];
    if (!dlopen("libX11.so.6", RTLD_LAZY))
        return hot_context_fail(context, HOT_ERROR_DEVICE,
                                "a window needs libX11.so.6 (Debian: libx11-6); --screenshot FILE.png draws a picture, "
                                "which needs no display");
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash + 1 - path) + sizeof HOT_WINDOW_PROGRAM > sizeof path)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot find the folder of this program");
    strcpy(slash + 1, HOT_WINDOW_PROGRAM);
    execv(path, argv);
    return hot_context_fail(context, HOT_ERROR_FILE, "cannot start %s: %s", path, strerror(errno));
}
#endif

/* ---- --detach --------------------------------------------------------------------------------------------- */

static int opened_pipe = -1; /* what the process in front waits for; -1 = none waits */

/* A second process shows the window; the first waits until that is open, or has failed and said why. */
static void detach(void)
{
    int ends[2];
    char byte;
    if (pipe(ends) != 0)
        return;
    const pid_t child = fork();
    if (child > 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 1 ? HOT_EXIT_DONE : HOT_EXIT_FAILED);
    }
    close(ends[0]);
    opened_pipe = ends[1];
}

#ifdef HOT_HAVE_GLFW
static void tell_opened(void *user)
{
    (void)user;
    if (opened_pipe >= 0 && write(opened_pipe, "", 1) == 1)
        close(opened_pipe);
    opened_pipe = -1;
}

static hot_status open_window(hot_context *context, hot_scene **scene, hot_view_state *state,
                              const struct view_options *options, hot_live *live)
{
    return hot_window_run(context, scene, state,
                          &(const hot_window_options){.width = options->width,
                                                      .height = options->height,
                                                      .mask = options->mask,
                                                      .picked = print_voxel,
                                                      .dump = options->dump,
                                                      .opened = tell_opened,
                                                      .live = live});
}
#else
static hot_status open_window(hot_context *context, hot_scene **scene, hot_view_state *state,
                              const struct view_options *options, hot_live *live)
{
    (void)scene, (void)state, (void)options, (void)live;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this viewer was built without GLFW and cannot open windows; "
                                                       "--screenshot FILE.png draws a picture");
}
#endif

/* The fields of standard input; a picture is drawn when all have been read. */
static hot_status show_stream(hot_context *context, hot_view_state *state, const struct view_options *options)
{
    const hot_context_options settings = {.size = sizeof settings, .stop = cli_stop};
    hot_stream_view *stream = NULL;
    hot_scene *scene = NULL;
    hot_status status = hot_stream_view_open(context, &settings, options->as, &stream);
    const int draws = options->screenshot || options->movie;
    if (status == HOT_OK && draws)
        status = hot_stream_view_finish(context, stream);
    if (status == HOT_OK)
        status = hot_live_take(hot_stream_view_live(stream), context, NULL, state, &scene);
    if (status == HOT_OK && draws)
        status = hot_view_state_check(context, scene, state);
    if (status == HOT_OK)
        status = draws ? save_pictures(context, scene, state, options)
                                     : open_window(context, &scene, state, options, hot_stream_view_live(stream));
    hot_scene_destroy(&scene);
    hot_stream_view_close(&stream);
    return status;
}

/* ---- The command ------------------------------------------------------------------------------------------ */

static hot_status show(hot_context *context, const cli_common *common, hot_view_state *state,
                       const struct view_options *options)
{
    hot_scene *scene = NULL;
    hot_status status = HOT_OK;
    if (common->argument_count)
        status = hot_scene_load_with(
            context, common->arguments, common->argument_count,
            &(const hot_scene_reading){options->mask, options->as, options->basis, options->frame}, &scene);
    if (status == HOT_OK && scene && scene->run && strcmp(state->background, "b0") == 0 &&
        !hot_scene_volume(scene, "b0"))
        status = hot_scene_load_b0(scene, 0); /* requested: load it at any size */
    if (status == HOT_OK && scene)
        status = hot_view_state_resolve(context, scene, state);
    if (status == HOT_OK && scene)
        status = hot_view_state_check(context, scene, state);
    if (status == HOT_OK && scene)
        status = hot_scene_show_frame(scene, state);
    if (status == HOT_OK && scene)
        status = hot_scene_open_layers(scene, state);
    if (status == HOT_OK && options->bench)
        status = bench(context, &scene, state, options);
    else if (status == HOT_OK && (options->screenshot || options->movie))
        status = save_pictures(context, scene, state, options);
    else if (status == HOT_OK)
        status = open_window(context, &scene, state, options, NULL);
    hot_scene_destroy(&scene);
    return status;
}

/* The settings and layers of the command line. */
static hot_status read_settings(hot_context *context, const struct view_options *options, const char *const *texts,
                                hot_view_state *state)
{
    size_t count;
    const hot_view_setting *settings = hot_view_settings(&count);
    hot_status status = HOT_OK;
    for (size_t s = 0; s < count && status == HOT_OK; s++)
        if (texts[s])
            status = hot_view_setting_parse(context, &settings[s], texts[s], state);
    for (size_t n = 0; n < options->overlays.count && status == HOT_OK; n++)
        status = hot_view_state_add_layer(context, options->overlays.text[n], state);
    for (size_t n = 0; n < options->besides.count && status == HOT_OK; n++)
        status = hot_view_state_set(context, "beside", options->besides.text[n], state);
    return status;
}

/* Returns the exit status of options that are wrong or do not go together, else -1. */
static int check_options(cli_common *common, struct view_options *options)
{
    if (!read_size(options->size, &options->width, &options->height))
        return cli_refuse(&command, common, "--size is WIDTHxHEIGHT, each 1 to 65536, not '%s'", options->size);
    if (options->screenshot && hot_path_suffix(options->screenshot)[0] &&
        !hot_path_has_suffix(options->screenshot, ".png"))
        return cli_refuse(&command, common, "--screenshot '%s': pictures are PNG files; use a name ending in .png",
                          options->screenshot);
    if (options->movie && options->screenshot)
        return cli_refuse(&command, common, "--movie and --screenshot: one of them is written at a time");
    if (!options->movie && strcmp(options->movie_of, "auto") != 0)
        return cli_refuse(&command, common, "--movie_of needs --movie FILE.png");
    if (options->turntable && !options->screenshot)
        return cli_refuse(&command, common, "--turntable needs --screenshot FILE.png");
    if (options->order % 2)
        return cli_refuse(&command, common, "--order is 2, 4, 6 or 8, not %d", options->order);
    if (!common->argument_count && !options->bench)
        return cli_refuse(&command, common,
                          "give a directory of `hotfiber run`, or a file of tensors, directions, streamlines or an "
                          "image");
    for (int a = 0; a < common->argument_count; a++)
        if (strcmp(common->arguments[a], "-") == 0 && (common->argument_count > 1 || options->mask || options->bench))
            return cli_refuse(&command, common, "- is a stream of all that is shown: no file, --mask or --bench goes "
                                                 "with it");
    if (options->detach && (options->screenshot || options->movie || options->bench))
        return cli_refuse(&command, common, "--detach is for windows");
    return -1;
}

int main(int argc, char **argv)
{
    HOT_ENTRY(NULL); /* some window toolkits set the locale */
#ifdef __GLIBC__
    /* Mesa's software renderer allocates vertex memory in every call. Keeping it in the process instead of returning it
     * to the system saves a fifth of a picture's time. Larger blocks are returned. */
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 32 << 20);
#endif
    struct view_options options = {.size = "1024x768", .samples = 4, .movie_of = "auto", .fps = 12, .order = 8,
                                   .glyphs = 1600};
    const char *texts[MAX_SETTINGS] = {NULL};
    cli_option table[MAX_SETTINGS + 25] = {
        {"screenshot", CLI_OUTPUT, &options.screenshot, "FILE",
         "write a PNG instead of opening a window; no display needed", 0, 0},
        {"size", CLI_TEXT, &options.size, "WxH", "pixels of the picture or window; default 1024x768", 0, 0},
        {"dpi", CLI_INT, &options.dpi, "N", "with --screenshot: pixels per inch, which the PNG says; default none", 1,
         100000},
        {"turntable", CLI_INT, &options.turntable, "N",
         "with --screenshot: N pictures FILE-000.png ... of a full turn (3-D)", 1, 9999},
        {"movie", CLI_OUTPUT, &options.movie, "FILE.png or FOLDER",
         "draw a movie instead of opening a window: an animated PNG, or a folder of pictures frame-0000.png ...; no "
         "display needed", 0, 0},
        {"movie_of", CLI_CHOICE, &options.movie_of, HOT_MOVIE_KINDS,
         "a full turn in 3-D, the slices of the plane from the first with content to the last, or the volumes of a 4-D "
         "image; default auto: a turn in mode 3d, else slices", 0, 0},
        {"fps", CLI_DOUBLE, &options.fps, "F", "movie: frames per second; default 12", 1, 100},
        {"samples", CLI_INT, &options.samples, "N", "samples per pixel of a picture (antialiasing); default 4", 1,
         64},
        {"mask", CLI_TEXT, &options.mask, "FILE", "draw glyphs only in the non-zero voxels of this image (NRRD, NIfTI)",
         0, 0},
        CLI_AS(options.as),
        {"basis", CLI_CHOICE, &options.basis, "tournier07|descoteaux07|descoteaux07_legacy",
         "harmonics: their basis, as in `hotfiber peaks`: MRtrix's (default), DIPY's with legacy=False, DIPY's default",
         0, 0},
        {"frame", CLI_CHOICE, &options.frame, "scanner|bvec|image",
         "harmonics: their axes, as in `hotfiber peaks`; default scanner with tournier07, else bvec", 0, 0},
        {"bench", CLI_FLAG, &options.bench, NULL,
         "measure frames per second of FILE or of a simulated field", 0, 0},
        {"frames", CLI_INT, &options.frames, "N",
         "movie: number of frames; default 36 of a turn, else one for each slice or volume. bench: default 100", 1,
         1e6},
        {"glyphs", CLI_SIZE, &options.glyphs, "N", "bench: voxels of the simulated field; default 1600", 1, 2e7},
        {"order", CLI_INT, &options.order, "M", "bench: order of the simulated field, 2, 4, 6 or 8; default 8", 2, 8},
        {"cube", CLI_FLAG, &options.cube, NULL, "bench: a cube of glyphs in 3-D instead of one slice", 0, 0},
        {"overlay", CLI_TEXTS, &options.overlays, "FILE",
         "FILE[,KEY=VALUE...]: an image over the background, or directions or streamlines (.tck, .trx) over the "
         "glyphs; can be given several times, from the bottom to the top. FILE may also be an image that is open "
         "(nfibers) or a map of the run (fa). KEY of images: opacity, colormap (grey, hot, cubehelix, red, green, "
         "blue; labels: a colour for each whole number), min, max, threshold (smaller values are left out; default: 0 "
         "and NaN alone), blend (over, add), outline (on: edges of a mask or of labels). Of lines: color (a name, "
         "RRGGBB, direction), opacity, threshold (length). Of all: visible, as (see --as)",
         0, 0},
        {"beside", CLI_TEXTS, &options.besides, "FILE",
         "FILE[,KEY=VALUE...]: directions, tensors, harmonics or a run's folder in a separate pane, with the same "
         "camera, crosshair and slice; up to three times. KEY: threshold (length or radius), as, visible",
         0, 0},
        {"state", CLI_TEXT, &options.state, "FILE",
         "read the settings from a file that the window's panel or --dump_state has written; options override them", 0,
         0},
        {"detach", CLI_FLAG, &options.detach, NULL,
         "window: return when the window is open", 0, 0},
        {"dump_state", CLI_TEXT, &options.dump, "FILE",
         "window: write all settings to this file after every picture", 0, 0},
    };
    int used = 0;
    size_t count;
    const hot_view_setting *settings = hot_view_settings(&count);
    while (table[used].name)
        used++;
    for (size_t s = 0; s < count && s < MAX_SETTINGS; s++) /* settings are parsed by hot_view_setting_parse */
        table[used++] = (cli_option){settings[s].name, CLI_TEXT, &texts[s], settings[s].value,
                                       settings[s].help, 0,        0};
    cli_common common;
    const int ended = cli_parse(&command, table, argc, argv, &common);
    if (ended >= 0)
        return ended;
    hot_view_state state;
    hot_view_state_default(&state);
    if (options.screenshot || options.movie || options.bench)
        state.show_crosshair = 0;
    if (options.turntable)
        state.mode = HOT_VIEW_SPACE;
    if (options.state && hot_view_state_load(common.context, options.state, &state) != HOT_OK)
        return cli_finish(&command, &common, HOT_ERROR_FILE);
    if (read_settings(common.context, &options, texts, &state) != HOT_OK)
        return cli_refuse(&command, &common, "%s", hot_context_message(common.context));
    const int refused = check_options(&common, &options);
    if (refused >= 0)
        return refused;
    if ((options.screenshot || options.movie) && !texts[hot_view_setting_find("pixel_ratio") - settings])
        state.pixel_ratio = hot_picture_pixel_ratio(options.width, options.height);
#if !defined HOT_HAVE_GLFW && defined HOT_WINDOW_PROGRAM
    if (!options.screenshot && !options.movie && !options.bench)
        return cli_finish(&command, &common, open_elsewhere(common.context, argv));
#endif
    if (options.detach)
        detach();
    const int streams = common.argument_count == 1 && strcmp(common.arguments[0], "-") == 0;
    if (streams)
        signal(SIGPIPE, SIG_IGN); /* whoever has started the window may be gone when a voxel is clicked */
    return cli_finish(&command, &common, streams ? show_stream(common.context, &state, &options)
                                                 : show(common.context, &common, &state, &options));
}
