/* An HTML page about a finished run, from report.json and the other files of its folder. */
#pragma once

#include "core/fields.h"
#include "html.h"
#include "io/common/report.h"
#include "io/picture/picture_layout.h"

enum { HOT_PAGE_BINS = 48, HOT_PAGE_PLANES = 3, HOT_PAGE_SERIES = 3, HOT_PAGE_MAPS = 17 };

/* How often values occur, within bounds that hold nearly all of them; the outermost bins have what lies beyond. */
typedef struct hot_histogram {
    double low, high, bins[HOT_PAGE_BINS];
    double count, median, p5, p95;
} hot_histogram;

/* How a file of the folder is shown; the table is in maps.c. */
typedef struct hot_map_kind {
    const char *file, *title, *unit, *about;
    double scale;     /* shown value = scale * value in the file */
    double low, high; /* the window; both 0: from the values */
    enum { HOT_MAP_FIRST, HOT_MAP_LARGEST } volume; /* of several per voxel: the first, or the largest of them */
    int gray;         /* shown in gray, else in colours */
} hot_map_kind;

typedef struct hot_page_map {
    const hot_map_kind *kind;
    hot_histogram histogram;
    hot_png plane[HOT_PAGE_PLANES];
} hot_page_map;

/* The part of a slice that glyphs are drawn of, in columns and rows of its panel. */
typedef struct hot_page_window {
    size_t column, row, columns, rows;
    int empty;
} hot_page_window;

typedef struct hot_page {
    hot_context *context;
    const char *folder;
    cJSON *json;           /* report.json */
    cJSON *problems;       /* texts: what could not be read */
    hot_fiber_field *fibers; /* NULL: none are kept in the folder */
    uint8_t *inside;       /* the mask, over the grid; NULL without a grid */
    const char *inside_is; /* in words */
    hot_grid grid;         /* of the fibres, or of the first map; size 0: there is neither */
    hot_picture_layout layout;
    hot_png sticks[HOT_PAGE_PLANES], colors[HOT_PAGE_PLANES], numbers[HOT_PAGE_PLANES];
    hot_png glyphs[HOT_PAGE_PLANES];
    hot_page_window window[HOT_PAGE_PLANES];
    const char *drawn_on;  /* what the sticks are drawn over, in words */
    double fibers_of[5];   /* voxels inside with 0, 1, 2, 3, more fibres */
    hot_histogram lengths[HOT_PAGE_SERIES], angles;
    hot_page_map maps[HOT_PAGE_MAPS];
    int map_count;
} hot_page;

/* Reads the contents of the page. Missing or unreadable files are listed in page->problems. Errors: HOT_ERROR_MEMORY,
 * HOT_ERROR_CANCELLED, a folder without report.json. background: the image below the fibres; NULL = the folder's. */
hot_status hot_page_read(hot_page *page, const char *background);
void hot_page_free(hot_page *page);

/* ---- Its parts ------------------------------------------------------------------------------------------------ */

/* Values on the page's grid: one float per voxel, NaN where the file has none. */
hot_status hot_page_values(hot_page *page, const char *path, int largest, float **values);
/* Reads the maps that the folder has, and counts and draws them. */
hot_status hot_page_read_maps(hot_page *page);
/* Draws fibres, colours and numbers; background: as above. */
hot_status hot_page_draw(hot_page *page, const char *background);
/* Draws the glyphs. */
hot_status hot_page_draw_glyphs(hot_page *page);
/* Whether a plane is so thin that there is nothing to be seen: a few slices, seen from the side. Not all planes are. */
int hot_page_is_thin(const hot_page *page, int plane);
/* Status after a file could not be read: HOT_OK, with the problem noted, unless the error is fatal. */
hot_status hot_page_recover(hot_page *page, hot_status status);
/* folder/name in the context's memory; NULL without memory. */
char *hot_page_path(const hot_page *page, const char *name);

/* count values of which some may be NaN; low == high: bounds from the values (from 0 if none is negative). Reorders
 * them. */
void hot_histogram_make(float *values, size_t count, double low, double high, hot_histogram *histogram);

/* The colours of a map, and of numbers of fibres, 0xrrggbb; t from 0 to 1. */
uint32_t hot_page_ramp(int gray, double t);
uint32_t hot_page_number_color(int fibers);

/* ---- Writing ---------------------------------------------------------------------------------------------------- */

extern const char hot_page_style[]; /* CSS */

/* Charts as SVG. names: of the series, NULL for one. */
void hot_chart_histogram(FILE *file, const char *title, const char *axis, const hot_histogram *const *series,
                         const char *const *names, int count);
/* The signal of a single fibre over the angle to it, a line per shell; response: the report's object. */
void hot_chart_response(FILE *file, const cJSON *response);

/* A picture of a panel with its letters; width, height: in any unit. what: for the alt text. */
void hot_page_write_plane(FILE *file, const hot_panel *panel, const hot_png *png, double width, double height,
                          int large,
                        const char *what, const char *caption);
/* Three planes, side by side, or large and smooth; a thin one is left out. */
void hot_page_write_planes(FILE *file, const hot_page *page, const hot_png *planes, int large,
                         const char *what);
/* Windows of glyphs, and what they are. */
void hot_page_write_glyphs(FILE *file, const hot_page *page);
/* Sections of pictures and charts, of words and tables, and the paragraph for a paper. */
void hot_page_write_fibers(FILE *file, const hot_page *page);
void hot_page_write_maps(FILE *file, const hot_page *page);
/* The papers of the methods: how they are cited, in full, and their DOI. Returns 0 after the last. */
int hot_page_reference(int index, const char **key, const char **text, const char **doi);
void hot_page_write_methods(FILE *file, const hot_page *page);
hot_status hot_page_write(hot_context *context, FILE *file, const void *page);

/* Members of the report; NULL, NaN or "" if missing or of another type. */
const cJSON *hot_json_at(const cJSON *object, const char *name);
double hot_json_number(const cJSON *object, const char *name);
const char *hot_json_text(const cJSON *object, const char *name);
