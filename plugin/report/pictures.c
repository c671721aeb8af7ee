/* The pictures of the page: slices of the maps, of colours and numbers of fibres, and the fibres themselves. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "page.h"

/* Bytes of all pictures, and of those of the maps: as base64 a page then stays below 5 MB. */
static const size_t max_all = 3500000, max_maps = 2200000;

static const hot_map_kind kinds[] = {
    {"b0.nii.gz", "Mean b=0 image", "", "what the fibres are drawn over", 1, 0, 0, HOT_MAP_FIRST, 1},
    {"fa.nii.gz", "Fractional anisotropy", "", "of an order-2 tensor; 0 isotropic, 1 along one line", 1, 0, 1,
     HOT_MAP_FIRST, 1},
    {"md.nii.gz", "Mean diffusivity", "10\xe2\x81\xbb\xc2\xb3 mm\xc2\xb2/s",
     "of an order-2 tensor; about 0.7 in white matter, 3 in fluid", 1e3, 0, 3, HOT_MAP_FIRST, 1},
    {"certainty.nii.gz", "How certain the first fibre is", "",
     "the probability that there is one, times that of a direction within 15 degrees", 1, 0, 1, HOT_MAP_FIRST, 0},
    {"probability.nii.gz", "How sure the number of fibres is", "",
     "the probability of the number that is likeliest", 1, 0, 1, HOT_MAP_LARGEST, 0},
    {"cone.nii.gz", "How sure the first direction is", "degrees",
     "half the angle of the cone that holds it with 95 %", 1, 0, 45, HOT_MAP_FIRST, 0},
    {"fraction_sd.nii.gz", "Deviation of the first fraction", "", "of the volume fraction of the first fibre", 1, 0, 0,
     HOT_MAP_FIRST, 0},
    {"isotropic.nii.gz", "Isotropic part", "", "volume fraction of the isotropic compartment, without free water", 1, 0,
     1, HOT_MAP_FIRST, 1},
    {"free_water.nii.gz", "Free water", "", "its volume fraction", 1, 0, 1, HOT_MAP_FIRST, 1},
    {"noise_sd.nii.gz", "Noise of each voxel", "", "its standard deviation, from the residuals of the fits", 1, 0, 0,
     HOT_MAP_FIRST, 0},
    {"afd_total.nii.gz", "Apparent fibre density, total", "", "the fODF's coefficient of degree 0", 1, 0, 0,
     HOT_MAP_FIRST, 1},
    {"afd_max.nii.gz", "Apparent fibre density, largest", "", "the largest amplitude of the fODF", 1, 0, 0,
     HOT_MAP_FIRST, 1},
    {"afd_sum.nii.gz", "Norm of the fODF", "", "the norm of its coefficients", 1, 0, 0, HOT_MAP_FIRST, 1},
    {"nufo.nii.gz", "Maxima of the fODF", "", "how many it has", 1, 0, 4, HOT_MAP_FIRST, 0},
    {"tissues.nii.gz", "White matter", "", "its amount beside those of the other tissues; the first volume", 1, 0, 0,
     HOT_MAP_FIRST, 1},
    {"residual.nii.gz", "Residual of the conditions", "", "what those of the constrained minimum leave", 1, 0, 0,
     HOT_MAP_FIRST, 0},
    {"noise.nii.gz", "Noise", "", "its standard deviation, from denoising", 1, 0, 0, HOT_MAP_FIRST, 0},
};
_Static_assert(sizeof kinds / sizeof *kinds <= HOT_PAGE_MAPS, "more maps than places for them");

/* ---- Colours --------------------------------------------------------------------------------------------------- */

uint32_t hot_page_ramp(int gray, double t)
{
    /* from dark blue over red to light yellow, ever lighter, so that it reads in gray as well */
    static const double stops[6][3] = {{8, 8, 32}, {62, 30, 110}, {140, 44, 112}, {212, 78, 78}, {246, 150, 62},
                                       {252, 236, 160}};
    const double at = 5 * fmin(1, fmax(0, t));
    const int stop = at < 5 ? (int)at : 4;
    uint32_t pixel = 0;
    for (int d = 0; d < 3; d++) {
        const double value = gray ? 51 * at : stops[stop][d] + (at - stop) * (stops[stop + 1][d] - stops[stop][d]);
        pixel = pixel << 8 | (uint32_t)lround(value);
    }
    return pixel;
}

uint32_t hot_page_number_color(int fibers)
{
    static const uint32_t colors[] = {0x3b4252, 0x3f8fd2, 0xf2b134, 0xe4572e, 0xd94fb0};
    return colors[fibers < 4 ? fibers : 4];
}

/* ---- Maps ------------------------------------------------------------------------------------------------------ */

typedef struct shown {
    const hot_page *page;
    const float *values;
    const hot_page_map *map;
    double full; /* of colours: the length that is shown at full brightness */
} shown;

static uint32_t map_color(const void *user, size_t voxel)
{
    const shown *s = user;
    const hot_histogram *h = &s->map->histogram;
    const double value = s->map->kind->scale * s->values[voxel];
    return isfinite(value) ? hot_page_ramp(s->map->kind->gray, (value - h->low) / (h->high - h->low)) : 0;
}

static uint32_t direction_color(const void *user, size_t voxel)
{
    const shown *s = user;
    return hot_picture_color(s->page->fibers, s->full, voxel);
}

static uint32_t number_color(const void *user, size_t voxel)
{
    const shown *s = user;
    return s->page->inside[voxel] ? hot_page_number_color(s->page->fibers->counts[voxel]) : 0;
}

static hot_status draw_planes(hot_page *page, hot_plane_color *color, const shown *what, hot_png *planes)
{
    hot_status status = HOT_OK;
    for (int p = 0; p < HOT_PAGE_PLANES && status == HOT_OK; p++)
        status = hot_plane_map(page->context, &page->grid, &page->layout, p, color, what, &planes[p]);
    return status;
}

static size_t bytes_of(const hot_png *planes)
{
    return planes[0].size + planes[1].size + planes[2].size;
}

static hot_status read_map(hot_page *page, const hot_map_kind *kind, const char *path)
{
    const size_t voxels = hot_grid_voxels(&page->grid);
    float *values = NULL, *some = NULL;
    hot_page_map *map = &page->maps[page->map_count];
    hot_status status = hot_page_values(page, path, kind->volume == HOT_MAP_LARGEST, &values);
    if (status != HOT_OK)
        return hot_page_recover(page, status);
    memset(map, 0, sizeof *map);
    map->kind = kind;
    page->map_count++;
    some = hot_context_alloc(page->context, voxels, sizeof *some);
    status = some ? HOT_OK : HOT_ERROR_MEMORY;
    size_t count = 0;
    for (size_t v = 0; v < voxels && some; v++)
        if (page->inside[v])
            some[count++] = (float)(kind->scale * values[v]);
    if (some)
        hot_histogram_make(some, count, kind->low, kind->high, &map->histogram);
    if (status == HOT_OK && map->histogram.count > 0)
        status = draw_planes(page, map_color, &(shown){.page = page, .values = values, .map = map}, map->plane);
    size_t bytes = 0;
    for (int m = 0; m < page->map_count; m++)
        bytes += bytes_of(page->maps[m].plane);
    for (int p = 0; p < HOT_PAGE_PLANES && bytes > max_maps; p++) /* its histogram stays */
        hot_png_free(&map->plane[p]);
    HOT_FREE(page->context, some, values);
    return status;
}

hot_status hot_page_read_maps(hot_page *page)
{
    enum { KINDS = sizeof kinds / sizeof *kinds };
    hot_status status = HOT_OK;
    for (int k = 0; k < KINDS && status == HOT_OK; k++) {
        char *path = hot_page_path(page, kinds[k].file);
        if (!path)
            return HOT_ERROR_MEMORY;
        if (access(path, F_OK) == 0)
            status = read_map(page, &kinds[k], path);
        hot_context_free(page->context, path);
        if (status == HOT_OK)
            status = hot_context_progress(page->context, "reading the run", (k + 1.) / (KINDS + 1));
    }
    return status;
}

/* ---- Fibres ---------------------------------------------------------------------------------------------------- */

/* The background of the fibres: the given image, else the mean b=0 image, else FA; NULL: their amplitudes. */
static hot_status find_background(hot_page *page, const char *asked, float **background)
{
    static const struct { const char *file, *words; } own[] = {{"b0.nii.gz", "the mean b=0 image"},
                                                               {"fa.nii.gz", "fractional anisotropy"}};
    *background = NULL;
    page->drawn_on = "the sum of their lengths";
    if (asked) {
        page->drawn_on = "the image that was given";
        return hot_page_values(page, asked, 0, background);
    }
    hot_status status = HOT_OK;
    for (int i = 0; i < 2 && !*background && status == HOT_OK; i++) {
        char *path = hot_page_path(page, own[i].file);
        if (!path)
            return HOT_ERROR_MEMORY;
        if (access(path, F_OK) == 0 && /* an unreadable file was already reported */
            (status = hot_page_values(page, path, 0, background)) == HOT_OK)
            page->drawn_on = own[i].words;
        if (status != HOT_ERROR_MEMORY && status != HOT_ERROR_CANCELLED)
            status = HOT_OK;
        hot_context_free(page->context, path);
    }
    return status;
}

/* As large as the page has room for. */
static hot_status draw_sticks(hot_page *page, const float *background)
{
    size_t room = max_all - bytes_of(page->colors) - bytes_of(page->numbers) - bytes_of(page->glyphs);
    for (int m = 0; m < page->map_count; m++)
        room -= bytes_of(page->maps[m].plane);
    hot_status status = HOT_OK;
    for (double most = 1200; status == HOT_OK && most > 200; most *= .75) {
        for (int p = 0; p < HOT_PAGE_PLANES && status == HOT_OK; p++) {
            hot_png_free(&page->sticks[p]);
            status = hot_plane_fibers(page->context, page->fibers, background, &page->layout, p, most,
                                      &page->sticks[p]);
            if (status == HOT_OK)
                status = hot_context_progress(page->context, "drawing fibres", (p + 1.) / HOT_PAGE_PLANES);
        }
        if (bytes_of(page->sticks) <= room)
            return status;
    }
    for (int p = 0; p < HOT_PAGE_PLANES; p++)
        hot_png_free(&page->sticks[p]);
    return status;
}

hot_status hot_page_draw(hot_page *page, const char *background)
{
    float *below = NULL;
    if (!page->fibers)
        return HOT_OK;
    shown what = {.page = page, .full = fmax(1e-12, page->lengths[0].p95)};
    hot_status status = draw_planes(page, direction_color, &what, page->colors);
    if (status == HOT_OK)
        status = draw_planes(page, number_color, &what, page->numbers);
    if (status == HOT_OK)
        status = hot_page_draw_glyphs(page);
    if (status == HOT_OK)
        status = find_background(page, background, &below);
    if (status == HOT_OK)
        status = draw_sticks(page, below);
    hot_context_free(page->context, below);
    return status;
}
