/* Fuzz target: files that belong together: headers with data files, pairs, tables next to an image, pipes, out-of-core
 * data. The letters of the first line choose the readers, each `@@NAME` line begins a file, `@@NAME/` makes a folder;
 * the first file is the one that is read. Letters:
 *   d data  m mask  v image  n noise map  t tensors  h harmonics  p directions  r response(s)
 *   w data stay in their file  s a sample of them  b t.bval and t.bvec are given  g t.b is given
 *   i standard input, a pipe  f standard input, a file  x and a digit: cancelled after so many reports of progress
 * Files that could be read and can be written are written, read again and compared. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hotfiber/hotfiber.h>

#include "core/fields.h"
#include "fuzz.h"
#include "io/dwi_load.h"

enum { FILES = 10, LETTERS = 40, PIPE = 60000 };

typedef struct reading {
    char how[LETTERS], names[FILES][LETTERS], all[FILES * LETTERS];
    int count, left; /* left: reports of progress until the call is cancelled; < 0 = never */
} reading;

static int has(const reading *job, char letter) { return strchr(job->how, letter) != NULL; }

static int good_name(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789._-", name[i]) || !name[i])
            return i > 0 && i + 1 == length && name[i] == '/';
    return length > 0 && name[0] != '.' && name[0] != '-';
}

static void put_file(reading *job, const char *name, const uint8_t *data, size_t size)
{
    const size_t length = strlen(name);
    FILE *file = name[length - 1] == '/' ? NULL : fopen(name, "wb");
    if (name[length - 1] == '/')
        mkdir(name, 0700);
    else if (!file) /* a folder has the name */
        return;
    else if (fwrite(data, 1, size, file) != size)
        abort();
    if (file && fclose(file) != 0)
        abort();
    strcpy(job->names[job->count], name);
    if (job->count++ > 0)
        strcat(job->all, ",");
    strcat(job->all, name);
}

/* The letters, and the files into the current folder. */
static void unpack(const uint8_t *data, size_t size, reading *job)
{
    const uint8_t *end = data + size, *at = memchr(data, '\n', size);
    size_t letters = at ? (size_t)(at - data) : size;
    memset(job, 0, sizeof *job);
    memcpy(job->how, data, letters < LETTERS ? letters : LETTERS - 1);
    while (at && job->count < FILES && end - at > 3 && memcmp(at, "\n@@", 3) == 0) {
        const uint8_t *name = at + 3, *stop = memchr(name, '\n', (size_t)(end - name));
        char text[LETTERS] = "";
        if (!stop || stop - name >= LETTERS || !good_name((const char *)name, (size_t)(stop - name)))
            return;
        memcpy(text, name, (size_t)(stop - name));
        at = memmem(stop, (size_t)(end - stop), "\n@@", 3);
        put_file(job, text, stop + 1, at && at > stop ? (size_t)(at - stop - 1) : at ? 0 : (size_t)(end - stop - 1));
    }
}

/* Standard input is this file, or a pipe that has its bytes. Returns the name to read. */
static const char *redirect(const reading *job)
{
    const int file = open(job->names[0], O_RDONLY);
    int ends[2], from = file;
    if (file < 0)
        return job->names[0];
    if (has(job, 'i')) {
        static char bytes[PIPE];
        const ssize_t size = read(file, bytes, sizeof bytes);
        if (size < 0) { /* a folder */
            close(file);
            return job->names[0];
        }
        if (pipe(ends) != 0 || write(ends[1], bytes, (size_t)size) != size)
            abort();
        close(ends[1]);
        close(file);
        from = ends[0];
    }
    if (dup2(from, 0) < 0)
        abort();
    close(from);
    __fpurge(stdin);
    clearerr(stdin);
    return "-";
}

static int report(void *user, const char *stage, double fraction)
{
    reading *at = user;
    (void)stage, (void)fraction;
    return at->left >= 0 && at->left-- == 0;
}

static int stop(void *user) { return ((const reading *)user)->left == -2; }

static hot_context *begin(reading *job)
{
    const char *x = strchr(job->how, 'x');
    job->left = x ? x[1] == 'x' ? -2 : x[1] >= '0' && x[1] <= '9' ? x[1] - '0' : -1 : -1; /* xx: at once */
    const hot_context_options options = {.size = sizeof options, .progress = report, .progress_user = job,
                                         .stop = stop, .stop_user = job};
    return fuzz_context(&options);
}

static void look_at(hot_context *context, const char *path, hot_dwi *dwi)
{
    hot_mask *mask = NULL;
    if (hot_dwi_volumes(dwi) < 200)
        hot_dwi_highest_order(context, dwi, -1);
    if (hot_mask_estimate(context, dwi, &mask) == HOT_OK)
        hot_mask_destroy(&mask);
    if (strcmp(path, "-") != 0 && hot_mask_load(context, path, hot_dwi_grid(dwi), &mask) == HOT_OK)
        hot_mask_destroy(&mask);
}

static void read_dwi(hot_context *context, const reading *job, const char *path)
{
    hot_dwi *dwi = NULL;
    const char *bval = has(job, 'b') ? "t.bval" : has(job, 'g') ? "t.b" : NULL, *bvec = has(job, 'b') ? "t.bvec" : NULL;
    if (has(job, 's')) {
        hot_dwi_sample sample = {.most = 64};
        if (hot_dwi_load_sample(context, path, bval, bvec, &sample, &dwi) == HOT_OK && sample.dwi)
            look_at(context, "-", sample.dwi);
        hot_dwi_destroy(&sample.dwi);
    } else if ((has(job, 'w') ? hot_dwi_load_within(context, path, bval, bvec, 1, "here", &dwi)
                              : hot_dwi_load(context, path, bval, bvec, &dwi)) == HOT_OK) {
        look_at(context, path, dwi);
    }
    hot_dwi_destroy(&dwi);
}

/* The same numbers; those that are none in the same places. */
static int same(const float *a, const float *b, size_t count, double tolerance)
{
    for (size_t i = 0; i < count; i++)
        if (isfinite(a[i]) != isfinite(b[i]) || fabs((double)a[i] - (double)b[i]) > tolerance * fabs((double)a[i]))
            return 0;
    return 1;
}

static void read_fields(hot_context *context, const reading *job, const char *path)
{
    static const hot_sh_options bases[] = {{.size = sizeof *bases, .basis = "tournier07"},
                                           {.size = sizeof *bases, .basis = "descoteaux07", .frame = "image"},
                                           {.size = sizeof *bases, .frame = "bvec"},
                                           {.size = sizeof *bases, .basis = "none"},
                                           {.size = sizeof *bases, .frame = "none"}};
    hot_tensor_field *tensors = NULL, *again = NULL;
    hot_fiber_field *fibers = NULL;
    if (has(job, 't') && hot_tensor_field_load(context, path, &tensors) == HOT_OK) {
        const size_t all = hot_grid_voxels(&tensors->grid) * (hot_symtensor_count(tensors->order, 3) + 1);
        if (hot_tensor_field_save(context, tensors, "again.nrrd") == HOT_OK &&
            hot_tensor_field_load(context, "again.nrrd", &again) == HOT_OK &&
            (again->order != tensors->order || !same(tensors->values, again->values, all, 0)))
            abort();
        hot_tensor_field_destroy(&again);
        hot_tensor_field_destroy(&tensors);
    }
    for (int b = 0; has(job, 'h') && b < 5; b++)
        if (hot_tensor_field_load_sh(context, path, &bases[b], &tensors) == HOT_OK)
            hot_tensor_field_destroy(&tensors);
    if (has(job, 'p') && hot_fiber_field_load(context, path, &fibers) == HOT_OK) {
        (void)hot_fiber_field_save(context, fibers, "again.nrrd");
        (void)hot_fiber_field_save(context, fibers, "again.nii");
        hot_fiber_field_destroy(&fibers);
    }
}

static void read_rest(hot_context *context, const reading *job, const char *path)
{
    hot_response *responses[HOT_TISSUES_MAX] = {NULL};
    size_t count = 0;
    hot_grid grid;
    float *values = NULL;
    hot_mask *mask = NULL;
    if (has(job, 'v') && hot_image_load(context, path, &grid, &values) == HOT_OK) {
        hot_context_free(context, values);
        if (has(job, 'm') && strcmp(path, "-") != 0 && hot_mask_load(context, path, &grid, &mask) == HOT_OK) {
            (void)hot_mask_save(context, mask, "again.nrrd");
            hot_mask_destroy(&mask);
        }
        if (has(job, 'n') && strcmp(path, "-") != 0 && hot_noise_map_load(context, path, &grid, &values) == HOT_OK)
            hot_context_free(context, values);
    }
    if (has(job, 'r') && hot_response_load_tissues(context, job->all, responses, &count) == HOT_OK)
        for (size_t i = 0; i < count; i++) {
            hot_response *again = NULL;
            if (hot_response_save(context, responses[i], "again.txt") == HOT_OK &&
                hot_response_load(context, "again.txt", &again) == HOT_OK &&
                (again->shells != responses[i]->shells || again->lmax != responses[i]->lmax))
                abort();
            hot_response_destroy(&again);
            hot_response_destroy(&responses[i]);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static reading job;
    if (size == 0)
        return 0;
    for (int i = 0; i < job.count; i++)
        (void)remove(job.names[i]);
    unpack(data, size, &job);
    if (job.count == 0)
        return 0;
    hot_context *context = begin(&job);
    if (!context)
        return 0;
    const char *path = has(&job, 'i') || has(&job, 'f') ? redirect(&job) : job.names[0];
    if (has(&job, 'd'))
        read_dwi(context, &job, path);
    read_fields(context, &job, path);
    read_rest(context, &job, path);
    fuzz_context_end(&context);
    return 0;
}
