/* DWI from NRRD: which axis is which, and the NA-MIC keys (gradients, B-matrices, NEX, skip). */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/linear.h"
#include "dwi/paged.h"
#include "dwi/dwi_private.h"
#include "dwi/frames.h"
#include "nrrd_dwi.h"
#include "nrrd_keys.h"
#include "nrrd_file.h"

/* The value of a key; some writers put blanks before `:=`. */
static const char *find_key(const Nrrd *nrrd, const char *key)
{
    const size_t length = strlen(key);
    for (unsigned int i = 0; i < nrrd->kvpArr->len; i++) {
        const char *name = nrrd->kvp[2 * i];
        if (strncmp(name, key, length) == 0 && name[length + strspn(name + length, " \t")] == '\0')
            return nrrd->kvp[2 * i + 1];
    }
    return NULL;
}

static const char *skip_space(const char *text) { return text + strspn(text, " \t\r\n"); }

static int starts_with(const char *text, const char *word)
{
    return strncasecmp(skip_space(text), word, strlen(word)) == 0;
}

/* `count` numbers; returns how many there were before the first thing that is none. */
static int read_numbers(const char *text, int count, double *numbers)
{
    for (int i = 0; i < count; i++) {
        char *end;
        numbers[i] = strtod(text, &end);
        if (end == text)
            return i;
        text = end;
        while (*text == ' ' || *text == '\t' || *text == ',')
            text++;
    }
    return count;
}

enum { KEY_GRADIENT, KEY_MATRIX, KEY_NEX, KEY_SKIP, KEYS };
static const char *const prefixes[KEYS] = {"DWMRI_gradient_", "DWMRI_B-matrix_", "DWMRI_NEX_", "DWMRI_skip_"};

/* value_of[kind][volume]: the keys' texts (owned by the nrrd). Numbers past the last volume are counted. */
typedef struct key_table {
    const char **value_of[KEYS];
    size_t seen[KEYS], beyond[KEYS];
} key_table;

static void key_table_fill(const Nrrd *nrrd, size_t volumes, key_table *table)
{
    for (unsigned int i = 0; i < nrrd->kvpArr->len; i++)
        for (int kind = 0; kind < KEYS; kind++) {
            const char *key = nrrd->kvp[2 * i];
            size_t length = strlen(prefixes[kind]);
            if (strncmp(key, prefixes[kind], length) != 0 || !isdigit((unsigned char)key[length]))
                continue;
            char *end;
            unsigned long number = strtoul(key + length, &end, 10);
            if (end[strspn(end, " \t")])
                continue;
            table->seen[kind]++;
            if (number < volumes)
                table->value_of[kind][number] = nrrd->kvp[2 * i + 1];
            else
                table->beyond[kind]++;
        }
}

/* The vector of a B-matrix (xx xy xz yy yz zz): along the eigenvector of its largest eigenvalue, with the trace, which
 * is b, as squared length. Returns 0 if the matrix is not finite. *linear: whether it has one direction; spherical and
 * planar encoding have none. The other eigenvalues of linear encoding are small, not 0: imaging gradients add to
 * them. */
static int matrix_to_vector(const double m[6], double g[3], int *linear)
{
    double a[9] = {m[0], m[1], m[2], m[1], m[3], m[4], m[2], m[4], m[5]}, values[3], vectors[9];
    const double trace = m[0] + m[3] + m[5];
    g[0] = g[1] = g[2] = 0;
    *linear = 1;
    if (trace == 0)
        return 1;
    if (!(trace > 0 && isfinite(trace)))
        return 0;
    hot_symmetric_eigen(3, a, values, vectors);
    for (int d = 0; d < 3; d++)
        g[d] = sqrt(trace) * vectors[3 * 2 + d];
    *linear = values[2] >= 0.9 * trace;
    return 1;
}

/* Names volumes without one direction, which are left out. */
static void warn_not_linear(hot_context *context, const char *name, const unsigned char *undirected, size_t volumes,
                            size_t count)
{
    enum { NAMED = 6 };
    char list[NAMED * 24] = "";
    size_t used = 0, named = 0;
    for (size_t v = 0; v < volumes && named < NAMED; v++)
        if (undirected[v])
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%zu", named++ ? ", " : "", v);
    if (count > named)
        snprintf(list + used, sizeof list - used, " and %zu more", count - named);
    hot_context_log(context, HOT_LOG_WARNING, "'%s': the B-matrices of volumes %s (counted from 0) have no single "
                    "direction (spherical or planar encoding): they are left out", name, list);
}

/* *b_max: the key DWMRI_b-value of diffusion-weighted data. */
static hot_status read_b_max(hot_context *context, const Nrrd *nrrd, const char *name, double *b_max)
{
    const char *modality = find_key(nrrd, "modality"), *b_text = find_key(nrrd, "DWMRI_b-value");
    if (!modality || !starts_with(modality, "DWMRI"))
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is not diffusion-weighted data: %s%.60s%s", name,
                                modality ? "its key modality is '" : "it has no key modality:=DWMRI",
                                modality ? modality : "", modality ? "', not DWMRI" : "");
    if (!b_text || read_numbers(b_text, 1, b_max) != 1)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has %s%.60s%s", name,
                                b_text ? "the key DWMRI_b-value '" : "no key DWMRI_b-value", b_text ? b_text : "",
                                b_text ? "', not a number" : "");
    if (!(isfinite(*b_max) && *b_max > 0))
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "'%s' has the b-value %g; it must be a positive number of s/mm^2", name, *b_max);
    return HOT_OK;
}

/* Checks that the keys of this kind can be those of the volumes. */
static hot_status check_keys(hot_context *context, const char *name, const key_table *table, int kind, size_t volumes)
{
    if (!table->seen[kind])
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' has neither DWMRI_gradient_0000 nor DWMRI_B-matrix_0000", name);
    if (table->beyond[kind] == 1 && table->seen[kind] == volumes && !table->value_of[kind][0])
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': its keys count from 1, and must count from 0: "
                                "%s0000 is missing, %s%04zu is one too many", name, prefixes[kind], prefixes[kind],
                                volumes);
    if (table->beyond[kind])
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has %zu %s keys for %zu volumes", name,
                                table->seen[kind], prefixes[kind], volumes);
    return HOT_OK;
}

/* The vector of volume v's key; *linear 0: its B-matrix has no single direction. */
static hot_status read_key(hot_context *context, const char *name, const char *value, int kind, size_t v, double g[3],
                           int *linear)
{
    const int wanted = kind == KEY_GRADIENT ? 3 : 6;
    double numbers[6];
    int got = read_numbers(value, wanted, numbers);
    for (int i = 0; i < got; i++)
        got = isfinite(numbers[i]) ? got : 0;
    if (got != wanted)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': %s%04zu is '%.80s', not %d numbers", name,
                                prefixes[kind], v, value, wanted);
    *linear = 1;
    if (wanted == 3)
        memcpy(g, numbers, sizeof(double[3]));
    else if (!matrix_to_vector(numbers, g, linear))
        return hot_context_fail(context, HOT_ERROR_DATA, "'%s': %s%04zu is '%.80s'; its trace, b, must be positive",
                                name, prefixes[kind], v, value);
    return HOT_OK;
}

/* NEX n: this gradient was measured n times in a row; the repeats have no keys. *repeats: 1 without such a key. */
static hot_status read_repeats(hot_context *context, const char *name, const key_table *table, int kind, size_t v,
                               size_t volumes, size_t *repeats)
{
    const char *nex = table->value_of[KEY_NEX][v];
    *repeats = 1;
    if (!nex)
        return HOT_OK;
    char *end;
    const long number = strtol(nex, &end, 10);
    if (end == nex || number < 1 || (size_t)number > volumes - v)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s': DWMRI_NEX_%04zu is '%.40s'; volumes %zu to %zu could repeat it", name, v, nex, v,
                                volumes - 1);
    *repeats = (size_t)number;
    for (size_t r = 1; r < *repeats; r++)
        if (table->value_of[kind][v + r])
            return hot_context_fail(context, HOT_ERROR_FORMAT,
                                    "'%s': %s%04zu must not be there, as DWMRI_NEX_%04zu is %ld", name, prefixes[kind],
                                    v + r, v, number);
    return HOT_OK;
}

/* The vectors of all volumes, and which are skipped or have no single direction. */
static hot_status read_vectors(hot_context *context, const char *name, const key_table *table, size_t volumes,
                               double *gradients, unsigned char *skipped, unsigned char *undirected)
{
    const int kind = table->seen[KEY_GRADIENT] ? KEY_GRADIENT : KEY_MATRIX;
    hot_status status = check_keys(context, name, table, kind, volumes);
    size_t repeats;
    for (size_t v = 0; v < volumes && status == HOT_OK; v += repeats) {
        const char *value = table->value_of[kind][v];
        int linear = 1;
        repeats = 1;
        if (!value)
            return hot_context_fail(context, HOT_ERROR_FORMAT,
                                    "'%s' has %zu volumes, but only %zu %s keys: %s%04zu is missing", name, volumes,
                                    table->seen[kind], prefixes[kind], prefixes[kind], v);
        if (starts_with(value, "n/a")) {
            skipped[v] = 1;
            continue;
        }
        status = read_key(context, name, value, kind, v, gradients + 3 * v, &linear);
        undirected[v] = !linear;
        if (status == HOT_OK)
            status = read_repeats(context, name, table, kind, v, volumes, &repeats);
        for (size_t r = 1; r < repeats && status == HOT_OK; r++) {
            memcpy(gradients + 3 * (v + r), gradients + 3 * v, sizeof(double[3]));
            undirected[v + r] = undirected[v];
        }
    }
    for (size_t v = 0; v < volumes; v++)
        if (table->value_of[KEY_SKIP][v] && starts_with(table->value_of[KEY_SKIP][v], "true"))
            skipped[v] = 1;
    return status;
}

/* b by the squared lengths, relative to the longest vector, which becomes a unit vector. */
static hot_status scale_vectors(hot_context *context, const char *name, size_t volumes, double b_max,
                                const unsigned char *skipped, double *b, double *gradients)
{
    double longest = 0;
    for (size_t v = 0; v < volumes; v++)
        if (!skipped[v])
            longest = fmax(longest, hypot(hypot(gradients[3 * v], gradients[3 * v + 1]), gradients[3 * v + 2]));
    if (!(longest > 0 && isfinite(longest)))
        return hot_context_fail(context, HOT_ERROR_DATA, "'%s': all its gradients are zero", name);
    for (size_t v = 0; v < volumes; v++) {
        double squared = 0;
        for (int d = 0; d < 3; d++) {
            gradients[3 * v + d] /= longest;
            squared += gradients[3 * v + d] * gradients[3 * v + d];
        }
        /* b = 999.9997 comes from gradients written with six digits. */
        b[v] = b_max * squared;
        if (fabs(b[v] - round(b[v])) <= 1e-6 * b[v])
            b[v] = round(b[v]);
    }
    return HOT_OK;
}

hot_status hot_nrrd_gradients(hot_context *context, const Nrrd *nrrd, const char *name, size_t volumes, double *b,
                              double *gradients, unsigned char *skipped)
{
    double b_max = 0;
    size_t undirected_count = 0;
    HOT_TRY(read_b_max(context, nrrd, name, &b_max));
    key_table table = {{0}, {0}, {0}};
    unsigned char *undirected = hot_context_calloc(context, volumes, 1);
    hot_status status = undirected ? HOT_OK : HOT_ERROR_MEMORY;
    for (int kind = 0; kind < KEYS && status == HOT_OK; kind++) {
        table.value_of[kind] = hot_context_calloc(context, volumes, sizeof **table.value_of);
        status = table.value_of[kind] ? HOT_OK : HOT_ERROR_MEMORY;
    }
    if (status == HOT_OK) {
        key_table_fill(nrrd, volumes, &table);
        status = read_vectors(context, name, &table, volumes, gradients, skipped, undirected);
    }
    if (status == HOT_OK) /* before volumes without a direction are left out: the longest vector may be theirs */
        status = scale_vectors(context, name, volumes, b_max, skipped, b, gradients);
    for (size_t v = 0; v < volumes && status == HOT_OK; v++) {
        undirected[v] = undirected[v] && !skipped[v];
        undirected_count += undirected[v];
        skipped[v] |= undirected[v];
    }
    if (undirected_count)
        warn_not_linear(context, name, undirected, volumes, undirected_count);
    for (int kind = 0; kind < KEYS; kind++)
        hot_context_free(context, table.value_of[kind]);
    hot_context_free(context, undirected);
    return status;
}

hot_status hot_nrrd_dwi_axis(hot_context *context, const Nrrd *nrrd, const char *name, unsigned int *list)
{
    unsigned int lists = 0, undirected = 0, last = 0;
    for (unsigned int axis = 0; axis < nrrd->dim; axis++) {
        if (nrrd->axis[axis].kind == nrrdKindList || nrrd->axis[axis].kind == nrrdKindVector) {
            lists++;
            *list = axis;
        }
        if (!isfinite(nrrd->axis[axis].spaceDirection[0])) {
            undirected++;
            last = axis;
        }
    }
    if (nrrd->dim != 4)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' has %u axes; diffusion-weighted data have 4 (three of space, one of kind list)",
                                name, nrrd->dim);
    if (lists == 0 && undirected == 1 && nrrd->spaceDim == 3) {
        *list = last; /* no kinds, but only this one has no direction in space */
        return HOT_OK;
    }
    if (lists != 1)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' has %u axes of kind list or vector; the volumes must lie along exactly one", name,
                                lists);
    return HOT_OK;
}

/* Gradients from the measurement frame to world axes: the frame's vectors are the columns of the matrix. Teem keeps
 * vector c in measurementFrame[c]. */
static hot_status to_world(hot_context *context, const Nrrd *nrrd, const char *name, hot_dwi *dwi)
{
    double (*frame)[3] = dwi->frame, from_file[3][3];
    int known = nrrd->spaceDim >= 3;
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++) {
            from_file[r][c] = nrrd->measurementFrame[c][r];
            known = known && isfinite(from_file[r][c]);
        }
    if (!known)
        return HOT_OK;
    memcpy(dwi->frame, from_file, sizeof dwi->frame);
    const double determinant = hot_determinant((const double (*)[3])frame);
    if (!(fabs(determinant) > 1e-6))
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' has a measurement frame that is singular (determinant %g)", name, determinant);
    for (size_t v = 0; v < dwi->volumes; v++) {
        double *g = dwi->gradients + 3 * v, world[3];
        for (int r = 0; r < 3; r++)
            world[r] = frame[r][0] * g[0] + frame[r][1] * g[1] + frame[r][2] * g[2];
        memcpy(g, world, sizeof world);
    }
    return HOT_OK;
}

typedef struct span_reader {
    hot_context *context;
    hot_nrrd_file *file;
} span_reader;

static hot_status read_span(void *from, size_t at, void *to, size_t bytes)
{
    const span_reader *reader = from;
    return hot_nrrd_read_span(reader->context, reader->file, at, to, bytes);
}

static void release_reader(hot_context *context, void *from)
{
    const span_reader *reader = from;
    hot_nrrd_close(context, reader->file);
    HOT_FREE(context, reader->file, from);
}

/* Leaves them in the file, which is the data set's then. */
static hot_status page(hot_context *context, hot_nrrd_file *file, const hot_dwi_sample *sample, int forward,
                       hot_dwi *made)
{
    span_reader *reader = hot_context_alloc(context, 1, sizeof *reader);
    hot_nrrd_file *kept = reader ? hot_context_alloc(context, 1, sizeof *kept) : NULL;
    if (!kept) {
        hot_context_free(context, reader);
        return HOT_ERROR_MEMORY;
    }
    *kept = *file;
    *reader = (span_reader){context, kept};
    memset(file, 0, sizeof *file);
    return hot_dwi_page(context, made, &(hot_dwi_pages){
        .span = read_span, .from = reader, .release = release_reader, .forward = forward,
        .swapped = hot_nrrd_swapped(kept), .bytes = kept->bytes, .window = sample->window,
        .scratch = sample->scratch});
}

/* All of the samples, or a part of them. */
static hot_status take_samples(hot_context *context, hot_nrrd_file *file, hot_dwi_sample *sample, hot_dwi *made)
{
    const int spans = sample && file->bytes > sample->small ? hot_nrrd_spans(file) : 0;
    if (spans && sample->window && hot_dwi_can_page(made))
        return page(context, file, sample, spans == HOT_NRRD_FORWARD, made);
    if (spans && !sample->window)
        return hot_dwi_sample_take(context, made, spans == HOT_NRRD_FORWARD, hot_nrrd_swapped(file), read_span,
                                   &(span_reader){context, file}, sample);
    HOT_TRY(hot_nrrd_fits(context, file));
    made->data = hot_context_alloc(context, file->bytes, 1);
    made->release_data = hot_dwi_free_data;
    return made->data ? hot_nrrd_read(context, file, made->data) : HOT_ERROR_MEMORY;
}

hot_status hot_dwi_load_nrrd(hot_context *context, hot_input *input, hot_dwi_sample *sample, hot_dwi **dwi)
{
    const char *path = input->path;
    hot_nrrd_file file = {0};
    hot_dwi *made = NULL;
    unsigned char *skipped = NULL;
    unsigned int list = 0, axes[3];
    hot_grid grid;
    *dwi = NULL;
    hot_status status = hot_nrrd_open_from(context, path, hot_input_take_file(input), &file);
    if (status == HOT_OK && !sample)
        status = hot_nrrd_fits(context, &file);
    if (status == HOT_OK)
        status = hot_nrrd_dwi_axis(context, file.nrrd, file.path, &list);
    if (status != HOT_OK)
        goto cleanup;
    size_t volumes = file.nrrd->axis[list].size, stride[4] = {1};
    for (unsigned int axis = 0, spatial = 0; axis < 4; axis++) {
        if (axis)
            stride[axis] = stride[axis - 1] * file.nrrd->axis[axis - 1].size;
        if (axis != list)
            axes[spatial++] = axis;
    }
    status = hot_nrrd_get_grid(context, file.nrrd, axes, &grid);
    if (status != HOT_OK) {
        status = hot_context_add(context, status, "in '%s'", file.path);
        goto cleanup;
    }
    status = hot_dwi_begin(context, &grid, volumes, stride[list], path, &made);
    if (status != HOT_OK)
        goto cleanup;
    if (!hot_nrrd_to_sample(file.nrrd->type, &made->sample)) {
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has samples that are no numbers", file.path);
        goto cleanup;
    }
    for (int a = 0; a < 3; a++)
        made->stride[a] = stride[axes[a]];
    skipped = hot_context_calloc(context, volumes, 1);
    if (!skipped) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    made->gradients_in = HOT_GRADIENTS_IN_NRRD;
    status = hot_nrrd_gradients(context, file.nrrd, file.path, volumes, made->b, made->gradients, skipped);
    if (status == HOT_OK)
        status = to_world(context, file.nrrd, file.path, made);
    if (status != HOT_OK)
        goto cleanup;
    /* Skipped volumes are as if they had never been there. */
    size_t kept = 0;
    for (size_t v = 0; v < volumes; v++)
        if (!skipped[v]) {
            made->b[kept] = made->b[v];
            made->position[kept] = made->position[v];
            memmove(made->gradients + 3 * kept, made->gradients + 3 * v, sizeof(double[3]));
            kept++;
        }
    made->volumes = kept;
    status = hot_dwi_complete(context, made);
    if (status != HOT_OK) {
        status = hot_context_add(context, status, "in '%s'", file.path);
        goto cleanup;
    }
    status = hot_dwi_add_input(context, made, path);
    for (size_t i = 0; i < file.count && status == HOT_OK; i++)
        status = hot_dwi_add_input(context, made, file.names[i]);
    if (status != HOT_OK)
        goto cleanup;
    status = take_samples(context, &file, sample, made);
cleanup:
    hot_context_free(context, skipped);
    hot_nrrd_close(context, &file);
    if (status == HOT_OK)
        *dwi = made;
    else
        hot_dwi_destroy(&made);
    return status;
}
