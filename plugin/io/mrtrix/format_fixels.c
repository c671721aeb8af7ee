/* fixels: MRtrix's fixel directory. index.mif holds each voxel's number of fixels and the index of its first,
 * directions.mif a unit vector in scanner axes for each fixel, the other files a value each, if it is known. The
 * directory is written under a temporary name and renamed, so that it appears whole. */
#define _GNU_SOURCE /* renameat2 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/common/output.h"
#include "common/entry.h"
#include "io/common/formats.h"
#include "io/common/temporary.h"

static const char *const names[] = {"index.mif", "directions.mif", "amplitude.mif", "certainty.mif", "probability.mif",
                                    "cone.mif"};
enum { INDEX, DIRECTIONS, AMPLITUDE, CERTAINTY, PROBABILITY, CONE, FILES, PATH_EXTRA = 96, BLOCK = 4096 };

/* ---- Directories ----------------------------------------------------------------------------------------- */

static int is_ours(const char *name)
{
    for (int i = 0; i < FILES; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

/* Removes a directory with only our files in it; what else is in it keeps it alive. */
static void remove_ours(const char *folder, char *path, size_t capacity)
{
    for (int i = 0; i < FILES; i++) {
        snprintf(path, capacity, "%s/%s", folder, names[i]);
        remove(path);
    }
    rmdir(folder);
}

/* An existing directory may be replaced if it contains our files only. *there: whether it exists. */
static hot_status check_target(hot_context *context, const char *path, int *there)
{
    struct stat about;
    *there = lstat(path, &about) == 0;
    if (!*there)
        return HOT_OK;
    if (!S_ISDIR(about.st_mode))
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': it is there and is no folder", path);
    DIR *open = opendir(path);
    if (!open)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", path, strerror(errno));
    hot_status status = HOT_OK;
    for (struct dirent *entry; status == HOT_OK && (entry = readdir(open));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && !is_ours(entry->d_name))
            status = hot_context_fail(context, HOT_ERROR_FILE,
                                      "cannot write '%s': the folder holds '%s', which is not of a fixel directory "
                                      "that hotfiber wrote; give another name or empty it", path, entry->d_name);
    closedir(open);
    return status;
}

/* Renames the new directory. An existing one is exchanged with it atomically and gets the temporary name; on a file
 * system without that operation there is a moment without either. */
static hot_status put_in_place(hot_context *context, const char *temporary, const char *target, int there)
{
    if (there && renameat2(AT_FDCWD, temporary, AT_FDCWD, target, RENAME_EXCHANGE) == 0)
        return HOT_OK;
    char old[PATH_MAX] = "";
    const int fits = snprintf(old, sizeof old, "%s.old", temporary) < (int)sizeof old;
    if (there && (!fits || rename(target, old) != 0))
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot replace '%s': %s", target, strerror(errno));
    if (rename(temporary, target) != 0) {
        const int reason = errno;
        if (there)
            (void)!rename(old, target);
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", target, strerror(reason));
    }
    if (there && rename(old, temporary) != 0) /* from where it is removed */
        hot_context_log(context, HOT_LOG_WARNING, "the earlier '%s' stays as '%s': %s", target, old, strerror(errno));
    return HOT_OK;
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

/* The text header of MRtrix's image format; the samples follow at the next multiple of 16 bytes. */
static void put_header(FILE *file, const hot_grid *grid, const size_t *dim, int dims, const char *type, size_t fixels)
{
    double ras[3][4], vox[3], unit[3][3];
    hot_grid_to_ras(grid, ras);
    for (int column = 0; column < 3; column++) {
        vox[column] = sqrt(ras[0][column] * ras[0][column] + ras[1][column] * ras[1][column] +
                           ras[2][column] * ras[2][column]);
        for (int row = 0; row < 3; row++)
            unit[row][column] = ras[row][column] / vox[column];
    }
    char text[1024];
    int at = 0;
    const int capacity = (int)sizeof text;
    const uint16_t one = 1;
    at += snprintf(text, sizeof text, "mrtrix image\ndim: ");
    for (int i = 0; i < dims; i++)
        at += snprintf(text + at, (size_t)(capacity - at), "%s%zu", i ? "," : "", dim[i]);
    at += snprintf(text + at, (size_t)(capacity - at), "\nvox: ");
    for (int i = 0; i < dims; i++) /* the lists of fixels are not in space */
        at += snprintf(text + at, (size_t)(capacity - at), "%s%.9g", i ? "," : "", dims == 4 && i < 3 ? vox[i] : 1.0);
    at += snprintf(text + at, (size_t)(capacity - at), "\nlayout: ");
    for (int i = 0; i < dims; i++)
        at += snprintf(text + at, (size_t)(capacity - at), "%s+%d", i ? "," : "", i);
    at += snprintf(text + at, (size_t)(capacity - at), "\ndatatype: %s%s\n", type,
                   *(const uint8_t *)&one ? "LE" : "BE");
    for (int row = 0; row < 3; row++) {
        at += snprintf(text + at, (size_t)(capacity - at), "transform: ");
        for (int column = 0; column < 3; column++)
            at += snprintf(text + at, (size_t)(capacity - at), "%.12g,", dims == 4 ? unit[row][column] : row == column);
        at += snprintf(text + at, (size_t)(capacity - at), "%.12g\n", dims == 4 ? ras[row][3] : 0.0);
    }
    at += snprintf(text + at, (size_t)(capacity - at), "nfixels: %zu\nhotfiber_version: %s\n", fixels, hot_version());
    int start = (at + 32 + 15) / 16 * 16;
    at += snprintf(text + at, (size_t)(capacity - at), "file: . %d\nEND\n", start);
    fwrite(text, 1, (size_t)at, file);
    for (; at < start; at++)
        fputc(0, file);
}

static void put_index(FILE *file, const hot_fiber_field *fibers, uint32_t *buffer)
{
    size_t voxels = hot_grid_voxels(&fibers->grid);
    for (int which = 0; which < 2; which++) { /* all counts, then all first ones */
        uint32_t first = 0;
        size_t held = 0;
        for (size_t voxel = 0; voxel < voxels; voxel++) {
            buffer[held++] = which == 0 ? fibers->counts[voxel] : fibers->counts[voxel] ? first : 0;
            first += fibers->counts[voxel];
            if (held == BLOCK || voxel + 1 == voxels) {
                fwrite(buffer, sizeof *buffer, held, file);
                held = 0;
            }
        }
    }
}

/* Component 0, 1, 2 of every fixel's direction in scanner axes, or (component 3) its amplitude. */
static void put_component(FILE *file, const hot_fiber_field *fibers, int component, float *buffer)
{
    size_t voxels = hot_grid_voxels(&fibers->grid), held = 0;
    double sign[3];
    hot_space_ras_sign(fibers->grid.space, sign);
    for (size_t voxel = 0; voxel < voxels; voxel++)
        for (size_t fiber = 0; fiber < fibers->counts[voxel]; fiber++) {
            const float *v = fibers->peaks + 3 * (voxel * (size_t)fibers->max_fibers + fiber);
            double length = sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
            buffer[held++] = (float)(component == 3 ? length
                                     : v[component] == 0 ? 0 : sign[component] * v[component] / length);
            if (held == BLOCK) {
                fwrite(buffer, sizeof *buffer, held, file);
                held = 0;
            }
        }
    fwrite(buffer, sizeof *buffer, held, file);
}

/* A file of values: voxels x max_fibers, or NULL. */
static const float *values_of(const hot_fiber_field *fibers, int which)
{
    return which == CERTAINTY ? fibers->certainty : which == PROBABILITY ? fibers->probability
           : which == CONE ? fibers->cone : NULL;
}

static void put_values(FILE *file, const hot_fiber_field *fibers, const float *values)
{
    for (size_t voxel = 0; voxel < hot_grid_voxels(&fibers->grid); voxel++)
        fwrite(values + voxel * (size_t)fibers->max_fibers, sizeof *values, fibers->counts[voxel], file);
}

typedef struct fixel_file {
    const hot_fiber_field *fibers;
    size_t fixels;
    int which;
    void *buffer;
} fixel_file;

static hot_status put_file(hot_context *context, FILE *file, const void *what)
{
    const fixel_file *f = what;
    const hot_fiber_field *fibers = f->fibers;
    const size_t *size = fibers->grid.size;
    const int is_index = f->which == INDEX;
    const size_t dims[] = {is_index ? size[0] : f->fixels, is_index ? size[1] : f->which == DIRECTIONS ? 3 : 1,
                           is_index ? size[2] : 1, 2};
    (void)context;
    put_header(file, &fibers->grid, dims, is_index ? 4 : 3, is_index ? "UInt32" : "Float32", f->fixels);
    if (is_index)
        put_index(file, fibers, f->buffer);
    for (int component = 0; f->which == DIRECTIONS && component < 3; component++)
        put_component(file, fibers, component, f->buffer);
    if (f->which == AMPLITUDE)
        put_component(file, fibers, 3, f->buffer);
    if (values_of(fibers, f->which))
        put_values(file, fibers, values_of(fibers, f->which));
    return HOT_OK;
}

hot_status hot_write_fixels(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    HOT_ENTRY(context);
    hot_status status = HOT_OK;
    size_t voxels = hot_grid_voxels(&fibers->grid), fixels = 0, length = strlen(path);
    for (size_t voxel = 0; voxel < voxels; voxel++)
        fixels += fibers->counts[voxel];
    if (fixels > UINT32_MAX)
        return hot_context_fail(context, HOT_ERROR_DATA, "%zu fixels are more than a fixel directory can index",
                                fixels);
    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t slash = length;
    while (slash > 0 && path[slash - 1] != '/')
        slash--;
    const size_t capacity = length + PATH_EXTRA;
    char *target = hot_context_alloc(context, capacity, 1), *temporary = NULL;
    char *file = hot_context_alloc(context, capacity, 1);
    float *buffer = hot_context_alloc(context, BLOCK, sizeof *buffer);
    int there = 0, lock = 0;
    if (!target || !file || !buffer) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    snprintf(target, capacity, "%.*s", (int)length, path);
    status = check_target(context, target, &there);
    if (status != HOT_OK)
        goto cleanup;
    hot_temporary_folder_sweep(target);
    if (hot_temporary_folder_make(context, target, &temporary, &lock) != 0) {
        status = errno == ENOMEM ? HOT_ERROR_MEMORY
                                 : hot_context_fail(context, HOT_ERROR_FILE, "cannot make the folder '%s': %s", target,
                                                    strerror(errno));
        goto cleanup;
    }
    for (int which = 0; status == HOT_OK && which < FILES; which++) {
        if (which > AMPLITUDE && !values_of(fibers, which))
            continue;
        snprintf(file, capacity, "%s/%s", temporary, names[which]);
        status = hot_output_write(context, file, put_file, &(fixel_file){fibers, fixels, which, buffer});
        if (status != HOT_OK)
            status = hot_context_add(context, status, "in the fixel directory '%s'", target);
    }
    if (status == HOT_OK && !hot_temporary_holds(target) && hot_temporary_folder_sync(temporary) != 0)
        status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", target, strerror(errno));
    if (status == HOT_OK) /* still ours after the work? */
        status = check_target(context, target, &there);
    if (status == HOT_OK)
        status = put_in_place(context, temporary, target, there);
    if (status == HOT_OK && hot_sync_folder_of(target) != 0)
        hot_context_log(context, HOT_LOG_WARNING,
                        "'%s' is complete, but its folder could not be brought to the disk: %s", target,
                        strerror(errno));
cleanup:
    if (temporary)
        remove_ours(temporary, file, capacity);
    if (lock > 0)
        close(lock);
    HOT_FREE(context, buffer, file, temporary, target);
    return status;
}
