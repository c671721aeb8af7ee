#include "mif_header.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int plain_byte_order_is_little(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one;
}

/* Numbers separated by commas or blanks; returns how many, -1 when something is none or there are more than `most`. */
static int read_numbers(const char *text, int most, double *numbers)
{
    for (int count = 0;; count++) {
        text += strspn(text, " \t,");
        if (!*text)
            return count;
        char *end;
        const double number = strtod(text, &end);
        if (end == text || count == most || (*end && !strchr(" \t,", *end)))
            return -1;
        numbers[count] = number;
        text = end;
    }
}

static hot_status bad_value(hot_context *context, const char *name, const char *key, const char *value,
                            const char *right)
{
    return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': `%s: %.60s` in its header; %s", name, key, value, right);
}

static hot_status read_sizes(hot_context *context, const char *name, const char *value, hot_mif_header *header)
{
    double numbers[HOT_MIF_AXES];
    int axes = read_numbers(value, HOT_MIF_AXES, numbers);
    if (axes < 1)
        return bad_value(context, name, "dim", value, "1 to 16 sizes were expected");
    for (int axis = 0; axis < axes; axis++) {
        if (!(numbers[axis] >= 1 && numbers[axis] < 4e15 && numbers[axis] == floor(numbers[axis])))
            return bad_value(context, name, "dim", value, "sizes are whole numbers of at least 1");
        header->size[axis] = (size_t)numbers[axis];
    }
    header->axes = axes;
    return HOT_OK;
}

/* layout: the axes' signed places, "+0,+1,-2"; here -0 is not 0, so that they are no numbers. */
static hot_status read_layout(hot_context *context, const char *name, const char *value, hot_mif_header *header,
                              int *places)
{
    const char *text = value;
    int seen[HOT_MIF_AXES] = {0}, axis = 0;
    for (; *text; axis++) {
        text += strspn(text, " \t");
        header->reversed[axis] = *text == '-';
        text += *text == '-' || *text == '+';
        char *end;
        const long rank = strtol(text, &end, 10);
        if (!isdigit((unsigned char)*text) || rank < 0 || rank >= HOT_MIF_AXES || seen[rank])
            return bad_value(context, name, "layout", value, "each axis has a place of its own, as in +0,+1,-2");
        seen[rank] = 1;
        header->rank[axis] = (int)rank;
        text = end + strspn(end, " \t");
        if (*text && (*text != ',' || axis + 1 == HOT_MIF_AXES))
            return bad_value(context, name, "layout", value, "each axis has a place of its own, as in +0,+1,-2");
        text += *text == ',';
    }
    *places = axis;
    return HOT_OK;
}

static hot_status read_type(hot_context *context, const char *name, const char *value, hot_mif_header *header)
{
    static const struct { const char *name; hot_sample sample; } types[] = {
        {"Int8", HOT_SAMPLE_I8},      {"UInt8", HOT_SAMPLE_U8},     {"Int16", HOT_SAMPLE_I16},
        {"UInt16", HOT_SAMPLE_U16},   {"Int32", HOT_SAMPLE_I32},    {"UInt32", HOT_SAMPLE_U32},
        {"Int64", HOT_SAMPLE_I64},    {"UInt64", HOT_SAMPLE_U64},   {"Float32", HOT_SAMPLE_F32},
        {"Float64", HOT_SAMPLE_F64},  {"Bit", HOT_SAMPLE_U8},
    };
    size_t length = strlen(value);
    const int big = length > 2 && strcasecmp(value + length - 2, "BE") == 0;
    const int little = length > 2 && strcasecmp(value + length - 2, "LE") == 0;
    if (big || little)
        length -= 2;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        if (strlen(types[t].name) == length && strncasecmp(types[t].name, value, length) == 0) {
            header->sample = types[t].sample;
            header->bits = strcmp(types[t].name, "Bit") == 0;
            header->swapped = plain_byte_order_is_little() ? big : little;
            return HOT_OK;
        }
    if (strncasecmp(value, "CFloat", 6) == 0)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' has complex samples (%.20s); real numbers are read: take the magnitude first "
                                "(mrcalc -abs)", name, value);
    return bad_value(context, name, "datatype", value, "Bit, Int8 to UInt64, Float32 or Float64 (LE or BE) is read");
}

/* "file: NAME [OFFSET]" */
static hot_status read_file(hot_context *context, const char *name, char *value, hot_mif_header *header)
{
    char *blank = strrchr(value, ' '), *end;
    unsigned long long offset = 0;
    if (blank && isdigit((unsigned char)blank[1])) {
        offset = strtoull(blank + 1, &end, 10);
        if (*end == '\0') {
            while (blank > value && blank[-1] == ' ')
                blank--;
            *blank = '\0';
        } else
            offset = 0;
    }
    if (!*value || offset > (1ull << 50))
        return bad_value(context, name, "file", value, "a file name and the byte at which the samples start");
    char **names = hot_context_alloc(context, header->files + 1, sizeof *names);
    size_t *offsets = hot_context_alloc(context, header->files + 1, sizeof *offsets);
    char *copy = hot_string_copy(context, value);
    if (!names || !offsets || !copy) {
        hot_context_free(context, names);
        hot_context_free(context, offsets);
        hot_context_free(context, copy);
        return HOT_ERROR_MEMORY;
    }
    for (size_t i = 0; i < header->files; i++) {
        names[i] = header->file[i];
        offsets[i] = header->file_offset[i];
    }
    names[header->files] = copy;
    offsets[header->files] = (size_t)offset;
    hot_context_free(context, header->file);
    hot_context_free(context, header->file_offset);
    header->file = names;
    header->file_offset = offsets;
    header->files++;
    return HOT_OK;
}

/* What an image holds after one more of MRtrix's commands, which keep the lines that they do not know, ours among them:
 * unknown after commands that are not listed. */
static void run_command(hot_mif_header *header, const char *command)
{
    static const struct { const char *name; hot_content content; } commands[] = {
        {"dwi2tensor", HOT_CONTENT_TENSOR}, {"dwi2fod", HOT_CONTENT_SH},   {"amp2sh", HOT_CONTENT_SH},
        {"mtnormalise", HOT_CONTENT_SH},    {"sh2peaks", HOT_CONTENT_PEAKS}, {"fixel2peaks", HOT_CONTENT_PEAKS},
        {"peaks2fixel", HOT_CONTENT_MAP},   {"fod2dec", HOT_CONTENT_RGB},  {"sh2amp", HOT_CONTENT_MAP},
        {"dwidenoise", HOT_CONTENT_DWI},    {"dwi2mask", HOT_CONTENT_MAP},
    };
    static const char *const neutral[] = {"mrconvert", "mrgrid"};
    const size_t length = strcspn(command, " \t(");
    hot_content found = HOT_CONTENT_UNKNOWN;
    for (size_t c = 0; c < sizeof commands / sizeof *commands; c++)
        if (strlen(commands[c].name) == length && strncmp(commands[c].name, command, length) == 0)
            found = commands[c].content;
    for (size_t c = 0; c < sizeof neutral / sizeof *neutral; c++)
        if (strlen(neutral[c]) == length && strncmp(neutral[c], command, length) == 0)
            return;
    header->history = found;
    header->changed = 1;
}

/* One line; *scheme is where the next line of dw_scheme goes. */
static hot_status read_line(hot_context *context, const char *name, const char *key, char *value,
                            hot_mif_header *header, int *places, char **scheme)
{
    double two[2];
    if (strcmp(key, "dim") == 0)
        return read_sizes(context, name, value, header);
    if (strcmp(key, "layout") == 0)
        return read_layout(context, name, value, header, places);
    if (strcmp(key, "datatype") == 0)
        return read_type(context, name, value, header);
    if (strcmp(key, "file") == 0)
        return read_file(context, name, value, header);
    if (strcmp(key, "vox") == 0 && read_numbers(value, HOT_MIF_AXES, header->spacing) < 0)
        return bad_value(context, name, key, value, "a size in mm for each axis was expected");
    if (strcmp(key, "transform") == 0) {
        if (header->transforms < 3 && read_numbers(value, 4, header->transform[header->transforms]) != 4)
            return bad_value(context, name, key, value, "three lines of four numbers were expected");
        header->transforms++;
    } else if (strcmp(key, "scaling") == 0) {
        if (read_numbers(value, 2, two) != 2 || !isfinite(two[0]) || !isfinite(two[1]))
            return bad_value(context, name, key, value, "an offset and a scale were expected");
        header->offset = two[0];
        header->scale = two[1];
    } else if (strcmp(key, "hotfiber_content") == 0) {
        header->content = hot_content_find(value);
    } else if (strcmp(key, "command_history") == 0) {
        const char *slash = value;
        for (const char *at = value; *at && *at != ' '; at++)
            slash = *at == '/' ? at + 1 : slash;
        run_command(header, slash);
    } else if (strcmp(key, "dw_scheme") == 0) {
        const size_t length = strlen(value); /* there is memory for the whole header, and a line loses its key */
        memcpy(*scheme, value, length);
        (*scheme)[length] = '\n';
        (*scheme)[length + 1] = '\0';
        *scheme += length + 1;
    }
    return HOT_OK;
}

hot_status hot_mif_header_parse(hot_context *context, const char *name, char *text, hot_mif_header *header)
{
    int places = 0, typed = 0;
    memset(header, 0, sizeof *header);
    header->scale = 1;
    for (int axis = 0; axis < HOT_MIF_AXES; axis++)
        header->spacing[axis] = NAN;
    header->scheme = hot_context_calloc(context, strlen(text) + 2, 1);
    if (!header->scheme)
        return HOT_ERROR_MEMORY;
    char *scheme = header->scheme;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        line[strcspn(line, "\r")] = '\0';
        char *value = strchr(line, ':');
        if (!value)
            continue; /* not a line that says something */
        *value++ = '\0';
        value += strspn(value, " \t");
        for (size_t length = strlen(value); length && isspace((unsigned char)value[length - 1]); length--)
            value[length - 1] = '\0';
        typed |= strcmp(line, "datatype") == 0;
        hot_status status = read_line(context, name, line, value, header, &places, &scheme);
        if (status != HOT_OK)
            return status;
    }
    if (scheme == header->scheme) {
        hot_context_free(context, header->scheme);
        header->scheme = NULL;
    }
    const char *missing = !header->axes ? "dim" : !places ? "layout" : !typed ? "datatype"
                                                : !header->files ? "file" : NULL;
    if (missing)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has no `%s:` in its header", name, missing);
    if (places != header->axes)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': its header has %d sizes and a layout of %d axes",
                                name, header->axes, places);
    if (header->transforms && header->transforms != 3)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': its header has %d transform lines instead of 3", name,
                                header->transforms);
    return HOT_OK;
}

void hot_mif_header_free(hot_context *context, hot_mif_header *header)
{
    for (size_t i = 0; i < header->files; i++)
        hot_context_free(context, header->file[i]);
    hot_context_free(context, header->file);
    hot_context_free(context, header->file_offset);
    hot_context_free(context, header->scheme);
    memset(header, 0, sizeof *header);
}

/* Axes by their place in the layout, the fastest first. */
static void order_of(const hot_mif_header *header, int order[HOT_MIF_AXES])
{
    for (int axis = 0; axis < header->axes; axis++) {
        int place = 0;
        for (int other = 0; other < header->axes; other++)
            place += header->rank[other] < header->rank[axis];
        order[place] = axis;
    }
}

/* Voxel sizes: what is no size takes the mean of the others, or 1 mm. */
static void spacings(const hot_mif_header *header, double spacing[3])
{
    double sum = 0;
    int good = 0;
    for (int axis = 0; axis < 3; axis++) {
        spacing[axis] = header->spacing[axis];
        if (isfinite(spacing[axis]) && spacing[axis] > 0) {
            sum += spacing[axis];
            good++;
        }
    }
    for (int axis = 0; axis < 3; axis++)
        if (!(isfinite(spacing[axis]) && spacing[axis] > 0))
            spacing[axis] = good ? sum / good : 1;
}

enum { VALUES_MOST = 1 << 24 };

hot_status hot_mif_header_apply(const hot_mif_header *header, hot_image *image)
{
    int order[HOT_MIF_AXES] = {0}, spatial = 0, axis_of[3] = {0, 1, 2};
    size_t stride[HOT_MIF_AXES], total = 1, values = 1;
    double transform[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}, spacing[3], size[3] = {1, 1, 1};
    order_of(header, order);
    for (int place = 0; place < header->axes; place++) {
        const int axis = order[place];
        stride[axis] = total;
        if (header->size[axis] > SIZE_MAX / 16 / total)
            return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                                    "'%s': its sizes are more than memory can address", image->name);
        total *= header->size[axis];
        if (axis < 3) {
            axis_of[spatial++] = axis;
            continue;
        }
        values *= header->size[axis];
        image->value_axes += header->size[axis] > 1;
        if (values > VALUES_MOST) /* each has its place in memory, before the file's length is looked at */
            return hot_context_fail(image->context, HOT_ERROR_FORMAT, "'%s': %zu values per voxel; at most %d are read",
                                    image->name, values, (int)VALUES_MOST);
    }
    for (int axis = header->axes; axis < 3; axis++) /* images of one or two axes */
        axis_of[spatial++] = axis;
    spacings(header, spacing);
    for (int axis = 0; axis < 3 && axis < header->axes; axis++)
        size[axis] = (double)header->size[axis];
    if (header->transforms)
        memcpy(transform, header->transform, sizeof transform);
    else /* MRtrix: the middle of the image is the origin */
        for (int axis = 0; axis < 3; axis++)
            transform[axis][3] = -0.5 * (size[axis] - 1) * spacing[axis];
    hot_grid *grid = &image->grid;
    grid->space = HOT_SPACE_RAS;
    for (int row = 0; row < 3; row++)
        grid->to_world[row][3] = transform[row][3];
    for (int a = 0; a < 3; a++) {
        const int axis = axis_of[a], reversed = axis < header->axes && header->reversed[axis];
        grid->size[a] = (size_t)size[axis];
        image->stride[a] = axis < header->axes ? stride[axis] : total;
        for (int row = 0; row < 3; row++) {
            const double step = transform[row][axis] * spacing[axis];
            grid->to_world[row][a] = reversed ? -step : step;
            grid->to_world[row][3] += reversed ? step * (size[axis] - 1) : 0;
        }
    }
    image->samples = total;
    image->values = values;
    image->last_values = 1;
    for (int axis = 3; axis < header->axes; axis++)
        image->last_values = header->size[axis] > 1 ? header->size[axis] : image->last_values;
    image->content = header->changed ? header->history : header->content;
    image->content_said = header->changed ? "its command_history" : "its line hotfiber_content";
    image->layout = header->changed ? HOT_LAYOUT_MRTRIX : header->content ? HOT_LAYOUT_WORLD : HOT_LAYOUT_UNKNOWN;
    image->sample = header->sample;
    image->slope = header->scale;
    image->intercept = header->offset;
    image->position = hot_context_alloc(image->context, values, sizeof *image->position);
    if (!image->position)
        return HOT_ERROR_MEMORY;
    for (size_t value = 0; value < values; value++) { /* axis 3 counts fastest */
        size_t rest = value, at = 0;
        for (int axis = 3; axis < header->axes; axis++) {
            const size_t number = rest % header->size[axis];
            at += stride[axis] * (header->reversed[axis] ? header->size[axis] - 1 - number : number);
            rest /= header->size[axis];
        }
        image->position[value] = at;
    }
    return HOT_OK;
}
