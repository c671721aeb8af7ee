#include "mif_header.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/common/file_open.h"

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

/* One more data file. */
static hot_status add_file(hot_context *context, const char *name, const char *file, size_t offset,
                           hot_mif_header *header)
{
    const size_t count = header->files;
    if (count == HOT_DATA_FILES_MAX)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has more than %d `file:` lines in its header", name,
                                (int)HOT_DATA_FILES_MAX);
    char *copy = hot_string_copy(context, file);
    if (!copy)
        return HOT_ERROR_MEMORY;
    if ((count & (count - 1)) == 0) { /* the capacity is the next power of two */
        const size_t capacity = count ? 2 * count : 1;
        char **names = hot_context_alloc(context, capacity, sizeof *names);
        size_t *offsets = hot_context_alloc(context, capacity, sizeof *offsets);
        if (!names || !offsets) {
            HOT_FREE(context, names, offsets, copy);
            return HOT_ERROR_MEMORY;
        }
        if (count) {
            memcpy(names, header->file, count * sizeof *names);
            memcpy(offsets, header->file_offset, count * sizeof *offsets);
        }
        HOT_FREE(context, header->file, header->file_offset);
        header->file = names;
        header->file_offset = offsets;
    }
    header->file[count] = copy;
    header->file_offset[header->files++] = offset;
    return HOT_OK;
}

/* "half[0:1].dat" means half0.dat and half1.dat: numbers and MRtrix's ranges, FIRST:LAST or FIRST:STEP:LAST, separated
 * by commas. Numbers are padded to the digits of the longest one in the brackets. */
static hot_status add_files(hot_context *context, const char *name, char *value, size_t offset, hot_mif_header *header)
{
    char *open = strchr(value, '['), *close = open ? strchr(open, ']') : NULL, *at = open ? open + 1 : NULL;
    int digits = 0;
    if (!close || strspn(at, "0123456789:,") != (size_t)(close - at) || close == at)
        return add_file(context, name, value, offset, header);
    for (char *c = at, *end; c < close; c = end + 1) {
        end = c + strspn(c, "0123456789");
        digits = end - c > digits && c[0] == '0' && end - c > 1 ? (int)(end - c) : digits;
    }
    char *file = hot_context_alloc(context, strlen(value) + 32, 1);
    hot_status status = file ? HOT_OK : HOT_ERROR_MEMORY;
    while (status == HOT_OK && at < close) {
        unsigned long part[3] = {0}, parts = 0, step = 1;
        for (; parts < 3 && at < close; at++) {
            char *end;
            part[parts++] = strtoul(at, &end, 10);
            at = end;
            if (*at != ':')
                break;
        }
        at += *at == ',';
        const unsigned long last = part[parts - 1];
        if (parts == 3)
            step = part[1];
        if (step == 0 || last < part[0] || last - part[0] > HOT_DATA_FILES_MAX)
            status = bad_value(context, name, "file", value, "a range of numbers is FIRST:LAST or FIRST:STEP:LAST");
        for (unsigned long number = part[0]; number <= last && status == HOT_OK; number += step) {
            snprintf(file, strlen(value) + 32, "%.*s%0*lu%s", (int)(open - value), value, digits, number, close + 1);
            status = add_file(context, name, file, offset, header);
        }
    }
    hot_context_free(context, file);
    return status;
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
    return add_files(context, name, value, (size_t)offset, header);
}

/* The content of an image after one more MRtrix command. MRtrix's commands copy unknown header lines, ours included, so
 * the content is unknown after a command that is not listed. */
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
    double two[2], last[4];
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
        double *row = header->transforms < 3 ? header->transform[header->transforms] : last;
        if (read_numbers(value, 4, row) != 4)
            return bad_value(context, name, key, value, "lines of four numbers were expected");
        if (header->transforms == 3 && !(last[0] == 0 && last[1] == 0 && last[2] == 0 && last[3] == 1))
            return bad_value(context, name, key, value, "the fourth line can only be 0,0,0,1");
        header->transforms++;
    } else if (strcmp(key, "scaling") == 0) {
        if (read_numbers(value, 2, two) != 2 || !isfinite(two[0]) || !isfinite(two[1]))
            return bad_value(context, name, key, value, "an offset and a scale were expected");
        header->offset = two[0];
        header->scale = two[1];
    } else if (strcmp(key, "hotfiber_content") == 0) {
        header->content = hot_content_find(value);
    } else if (strcmp(key, "hotfiber_tensors") == 0) {
        snprintf(header->tensors, sizeof header->tensors, "%s", value);
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
    size_t lines = 0;
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
        hot_status status = (++lines & 0xfff) == 0 ? hot_context_check(context, "reading") : HOT_OK;
        if (status == HOT_OK)
            status = read_line(context, name, line, value, header, &places, &scheme);
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
    if (header->transforms && header->transforms != 3 && header->transforms != 4)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': its header has %d transform lines instead of 3 or 4",
                                name, header->transforms);
    return HOT_OK;
}

void hot_mif_header_free(hot_context *context, hot_mif_header *header)
{
    for (size_t i = 0; i < header->files; i++)
        hot_context_free(context, header->file[i]);
    HOT_FREE(context, header->file, header->file_offset, header->scheme);
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
        image->values = values;
        if (hot_image_check_values(image) != HOT_OK)
            return HOT_ERROR_FORMAT;
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
    if (!header->changed)
        memcpy(image->tensors, header->tensors, sizeof image->tensors);
    image->layout = header->changed ? HOT_LAYOUT_MRTRIX : header->content ? HOT_LAYOUT_WORLD : HOT_LAYOUT_UNKNOWN;
    image->sample = header->sample;
    image->slope = header->scale;
    image->intercept = header->offset;
    return HOT_OK;
}

hot_status hot_mif_header_place(const hot_mif_header *header, hot_image *image)
{
    int order[HOT_MIF_AXES] = {0};
    size_t stride[HOT_MIF_AXES], total = 1;
    order_of(header, order);
    for (int place = 0; place < header->axes; place++) {
        stride[order[place]] = total;
        total *= header->size[order[place]];
    }
    image->position = hot_context_alloc(image->context, image->values, sizeof *image->position);
    if (!image->position)
        return HOT_ERROR_MEMORY;
    for (size_t value = 0; value < image->values; value++) { /* axis 3 counts fastest */
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
