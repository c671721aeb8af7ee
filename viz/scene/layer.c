#include "layer.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values ----------------------------------------------------------------------------------------------- */

static const struct { const char *name; double rgb[3]; } colors[] = {
    {"orange", {0.95, 0.58, 0.08}}, {"sky", {0.34, 0.70, 0.93}}, {"yellow", {0.95, 0.90, 0.30}},
    {"pink", {0.93, 0.42, 0.70}},   {"white", {1, 1, 1}},        {"green", {0.2, 0.8, 0.3}}};
enum { COLORS = sizeof colors / sizeof colors[0] };

/* A name of the table, or RRGGBB. */
static int read_color(const char *text, double rgb[3])
{
    unsigned value;
    char rest;
    for (int c = 0; c < COLORS; c++)
        if (strcmp(colors[c].name, text) == 0) {
            memcpy(rgb, colors[c].rgb, sizeof colors[c].rgb);
            return 1;
        }
    if (strlen(text) != 6 || strspn(text, "0123456789abcdefABCDEF") != 6 || sscanf(text, "%x%c", &value, &rest) != 1)
        return 0;
    for (int d = 0; d < 3; d++)
        rgb[d] = (value >> (16 - 8 * d) & 255) / 255.;
    return 1;
}

static int read_number(const char *text, double low, double high, double *number)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value < low || value > high)
        return 0;
    *number = value;
    return 1;
}

/* Index of `text` in "a|b|c", or -1. */
static int choice_index(const char *choices, const char *text)
{
    for (int index = 0;; index++) {
        const size_t part = strcspn(choices, "|");
        if (part == strlen(text) && strncmp(choices, text, part) == 0)
            return index;
        if (!choices[part])
            return -1;
        choices += part + 1;
    }
}

static int read_choice(const char *choices, const char *text, int *value)
{
    const int index = choice_index(choices, text);
    if (index >= 0)
        *value = index;
    return index >= 0;
}

/* ---- Keys ------------------------------------------------------------------------------------------------- */

static const struct { const char *name, *right; } keys[] = {
    {"opacity", "a number from 0 to 1"},
    {"colormap", HOT_COLORMAPS},
    {"min", "a number"},
    {"max", "a number"},
    {"threshold", "a number"},
    {"blend", "over|add"},
    {"outline", "on|off"},
    {"visible", "on|off"},
    {"color", "direction, orange, sky, yellow, pink, white, green or RRGGBB"},
    {"beside", "on|off"},
    {"as", "peaks|dyads|sh|tensor|tensor_fsl|tensor_mrtrix|tensor_dipy|tensor_itk|rgb|dwi"},
};
enum { OPACITY, COLORMAP, MIN, MAX, THRESHOLD, BLEND, OUTLINE, VISIBLE, COLOR, BESIDE, AS, KEYS };

static int set(hot_view_layer *layer, int key, const char *value)
{
    switch (key) {
    case OPACITY: return read_number(value, 0, 1, &layer->opacity);
    case COLORMAP: return read_choice(HOT_COLORMAPS, value, &layer->colormap);
    case MIN: return read_number(value, -1e30, 1e30, &layer->window[0]);
    case MAX: return read_number(value, -1e30, 1e30, &layer->window[1]);
    case THRESHOLD: return read_number(value, -1e30, 1e30, &layer->threshold);
    case BLEND: return read_choice("over|add", value, &layer->blend);
    case OUTLINE: return read_choice("off|on", value, &layer->outline);
    case VISIBLE: return read_choice("off|on", value, &layer->visible);
    case COLOR:
        layer->color_set = 1;
        layer->constant = strcmp(value, "direction") != 0;
        return !layer->constant || read_color(value, layer->color);
    case BESIDE: return read_choice("off|on", value, &layer->beside);
    case AS:
        snprintf(layer->as, sizeof layer->as, "%.15s", value);
        return choice_index(keys[AS].right, value) >= 0;
    default: return 0;
    }
}

static int find_key(const char *text, size_t length)
{
    for (int k = 0; k < KEYS; k++)
        if (strlen(keys[k].name) == length && strncmp(keys[k].name, text, length) == 0)
            return k;
    return -1;
}

/* Whether "word=" begins here, as a key does; other commas belong to the name of the file. */
static size_t word_length(const char *text)
{
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    return length && text[length] == '=' ? length : 0;
}

hot_status hot_layer_parse(hot_context *context, const char *text, hot_view_layer *layer)
{
    hot_view_layer made;
    memset(&made, 0, sizeof made);
    made.visible = made.constant = 1;
    made.opacity = 1;
    made.window[0] = made.window[1] = made.threshold = NAN;
    memcpy(made.color, colors[0].rgb, sizeof made.color);
    size_t length = 0;
    while (text[length] && !(text[length] == ',' && word_length(text + length + 1)))
        length++;
    if (length == 0 || length >= sizeof made.source)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "--overlay '%s' begins with the name of a file or an "
                                "image, of at most %zu characters", text, sizeof made.source - 1);
    memcpy(made.source, text, length);
    for (const char *at = text + length; *at;) {
        char value[64];
        const size_t name = word_length(at + 1);
        const int key = find_key(at + 1, name);
        if (!name || key < 0)
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "--overlay %s: there is no '%.*s'; there are opacity, "
                                    "colormap, min, max, threshold, blend, outline, visible, color, beside and as",
                                    made.source, (int)strcspn(at + 1, ",="), at + 1);
        const char *from = at + 1 + name + 1;
        const size_t size = strcspn(from, ",");
        snprintf(value, sizeof value, "%.*s", (int)(size < sizeof value ? size : sizeof value - 1), from);
        if (!set(&made, key, value))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "--overlay %s: %s is %s, not '%s'", made.source,
                                    keys[key].name, keys[key].right, value);
        at = from + size;
    }
    if (made.window[0] >= made.window[1])
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "--overlay %s: min %g is not below max %g", made.source,
                                made.window[0], made.window[1]);
    *layer = made;
    return HOT_OK;
}

/* ---- To text ---------------------------------------------------------------------------------------------- */

typedef struct printer {
    char *text;
    size_t size, used;
} printer;

static void put(printer *to, const char *format, ...) HOT_PRINTF(2, 3);
static void put(printer *to, const char *format, ...)
{
    va_list arguments;
    if (to->used >= to->size)
        return;
    va_start(arguments, format);
    const int added = vsnprintf(to->text + to->used, to->size - to->used, format, arguments);
    va_end(arguments);
    to->used += added > 0 ? (size_t)added : 0;
}

static void put_color(printer *to, const hot_view_layer *layer)
{
    unsigned value = 0;
    for (int c = 0; c < COLORS; c++)
        if (memcmp(colors[c].rgb, layer->color, sizeof layer->color) == 0) {
            put(to, ",color=%s", colors[c].name);
            return;
        }
    for (int d = 0; d < 3; d++)
        value = value << 8 | (unsigned)lround(255 * fmin(fmax(layer->color[d], 0), 1));
    put(to, ",color=%06x", value);
}

void hot_layer_print(const hot_view_layer *layer, char *text, size_t size)
{
    printer to = {text, size, 0};
    const char *map = HOT_COLORMAPS;
    put(&to, "%s", layer->source);
    if (layer->as[0])
        put(&to, ",as=%s", layer->as);
    if (layer->opacity < 1)
        put(&to, ",opacity=%.4g", layer->opacity);
    for (int m = 0; m < layer->colormap; m++)
        map += strcspn(map, "|") + 1;
    if (layer->colormap)
        put(&to, ",colormap=%.*s", (int)strcspn(map, "|"), map);
    if (!isnan(layer->window[0]))
        put(&to, ",min=%.9g", layer->window[0]);
    if (!isnan(layer->window[1]))
        put(&to, ",max=%.9g", layer->window[1]);
    if (!isnan(layer->threshold))
        put(&to, ",threshold=%.9g", layer->threshold);
    if (layer->blend)
        put(&to, ",blend=add");
    if (layer->outline)
        put(&to, ",outline=on");
    if (!layer->visible)
        put(&to, ",visible=off");
    if (layer->beside)
        put(&to, ",beside=on");
    if (layer->color_set && !layer->constant)
        put(&to, ",color=direction");
    else if (layer->color_set)
        put_color(&to, layer);
}
