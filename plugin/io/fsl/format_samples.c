/* Samples of the posterior as FSL's bedpostx leaves them and probtrackx reads them: a folder of merged_th1samples,
 * merged_ph1samples, merged_f1samples ... (a volume per sample), their means, dyads1 ... and nodif_brain_mask. Angles
 * are of vectors in the axes of FSL's bvecs files: (sin th cos ph, sin th sin ph, cos th). Samples are rounded to
 * 1024ths (.06 degrees): their files are a third smaller. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/arguments.h"
#include "core/samples.h"
#include "common/entry.h"
#include "io/common/image_save.h"

static const double pi = 3.14159265358979323846;

/* The files of a fibre; %d is its number. */
enum { MERGED_THETA, MERGED_PHI, MERGED_FRACTION, MEAN_THETA, MEAN_PHI, MEAN_FRACTION, DYADS, KINDS };
static const char *const names[KINDS] = {"merged_th%dsamples", "merged_ph%dsamples", "merged_f%dsamples",
                                         "mean_th%dsamples",   "mean_ph%dsamples",   "mean_f%dsamples", "dyads%d"};
static const char mask_name[] = "nodif_brain_mask.nii.gz";

/* A fibre's mean over the samples: the axis that its directions are nearest to, and its fraction. */
typedef struct mean {
    float v[3], theta, phi, fraction;
} mean;

typedef struct image {
    const hot_signal_samples *samples;
    const hot_mask *mask;
    const mean *means; /* of each fibre of each voxel of the mask */
    int fiber, kind;
} image;

static void direction_of(const hot_sampled_fiber *sample, double v[3])
{
    const double theta = sample->theta * pi / 65535, phi = sample->phi * 2 * pi / 65535;
    v[0] = sin(theta) * cos(phi);
    v[1] = sin(theta) * sin(phi);
    v[2] = cos(theta);
}

/* The first eigenvector of the mean of v v^T, by powers of it. */
static mean mean_of(const hot_signal_samples *samples, const hot_sampled_fiber *first)
{
    enum { POWERS = 6 }; /* the matrix to the power 2^6 */
    double m[3][3] = {{0}}, fraction = 0, best = 0;
    mean made = {{0}, 0, 0, 0};
    for (int s = 0; s < samples->samples; s++) {
        const hot_sampled_fiber *sample = first + s * samples->fibers;
        double v[3];
        direction_of(sample, v);
        fraction += sample->fraction / 65535.0;
        for (int a = 0; a < 3 && sample->fraction > 0; a++)
            for (int b = 0; b < 3; b++)
                m[a][b] += v[a] * v[b];
    }
    if (fraction == 0)
        return made;
    for (int power = 0; power < POWERS; power++) {
        double square[3][3], trace = 0;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                square[a][b] = m[a][0] * m[0][b] + m[a][1] * m[1][b] + m[a][2] * m[2][b];
        trace = square[0][0] + square[1][1] + square[2][2];
        for (int a = 0; a < 9; a++)
            m[a / 3][a % 3] = square[a / 3][a % 3] / trace;
    }
    for (int column = 0; column < 3; column++) { /* the longest column, upwards */
        const double length = sqrt(m[0][column] * m[0][column] + m[1][column] * m[1][column] +
                                   m[2][column] * m[2][column]);
        for (int a = 0; a < 3 && length > best; a++)
            made.v[a] = (float)(m[a][column] / (m[2][column] < 0 ? -length : length));
        best = fmax(best, length);
    }
    made.theta = acosf(fminf(made.v[2], 1));
    made.phi = atan2f(made.v[1], made.v[0]);
    made.fraction = (float)(fraction / samples->samples);
    return made;
}

/* A sample's angle, of the one of v and -v that is nearer to the mean, phi within half a turn of the mean's. */
static float angle_near(const hot_sampled_fiber *sample, const mean *near, int kind)
{
    double v[3], along = 0;
    if (sample->fraction == 0)
        return kind == MERGED_THETA ? near->theta : near->phi;
    direction_of(sample, v);
    for (int d = 0; d < 3; d++)
        along += v[d] * (double)near->v[d];
    const double sign = along < 0 ? -1 : 1;
    if (kind == MERGED_THETA)
        return (float)acos(fmin(fmax(sign * v[2], -1), 1));
    const double off = atan2(sign * v[1], sign * v[0]) - (double)near->phi;
    return (float)((double)near->phi + off - 2 * pi * round(off / (2 * pi)));
}

static float rounded(float value) { return roundf(1024 * value) / 1024; }

static void fill(hot_context *context, const void *from, size_t number, size_t first, size_t count, float *samples)
{
    const image *what = from;
    const hot_signal_samples *drawn = what->samples;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t voxel = first; voxel < first + count; voxel++) {
        float *sample = samples + (voxel - first);
        *sample = 0;
        if (!what->mask->bytes[voxel])
            continue;
        const size_t place = drawn->place[voxel] * (size_t)drawn->fibers;
        const hot_sampled_fiber *own = drawn->values + place * (size_t)drawn->samples + what->fiber;
        const mean *m = what->means + place + (size_t)what->fiber;
        switch (what->kind) {
        case MERGED_FRACTION: *sample = rounded(own[number * (size_t)drawn->fibers].fraction / 65535.0f); break;
        case MEAN_THETA: *sample = m->theta; break;
        case MEAN_PHI: *sample = m->phi; break;
        case MEAN_FRACTION: *sample = m->fraction; break;
        case DYADS: *sample = m->v[number]; break;
        default: *sample = rounded(angle_near(own + number * (size_t)drawn->fibers, m, what->kind)); break;
        }
    }
}

hot_status hot_signal_samples_save(hot_context *context, const hot_signal_maps *maps, const hot_mask *mask,
                                   const char *folder)
{
    HOT_ENTRY(context);
    HOT_NEED(context, maps, folder);
    if (!mask)
        HOT_RETURN_WITH_ALL(context, &maps->grid, hot_signal_samples_save(context, maps, all, folder));
    const hot_signal_samples *samples = maps->samples;
    if (!samples)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "there are no samples of the posterior to write");
    hot_status status = hot_mask_check(context, mask, &maps->grid);
    if (status != HOT_OK)
        return status;
    const size_t size = strlen(folder) + 40, means = samples->voxels * (size_t)samples->fibers;
    char *path = hot_context_alloc(context, size, 1);
    mean *mean_values = hot_context_alloc(context, means, sizeof *mean_values);
    image what = {.samples = samples, .mask = mask, .means = mean_values};
    int made = 0, written = 0;
    if (!path || !mean_values) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    if (mkdir(folder, 0777) != 0) {
        status = hot_context_fail(context, HOT_ERROR_FILE, "cannot make the folder '%s': %s", folder, strerror(errno));
        goto cleanup;
    }
    made = 1;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t i = 0; i < means; i++) {
        const size_t fibers = (size_t)samples->fibers, voxel = i / fibers;
        mean_values[i] = mean_of(samples, samples->values + voxel * fibers * (size_t)samples->samples + i % fibers);
    }
    for (; status == HOT_OK && written < KINDS * samples->fibers; written++) {
        what.fiber = written / KINDS;
        what.kind = written % KINDS;
        const size_t volumes = what.kind <= MERGED_FRACTION ? (size_t)samples->samples : what.kind == DYADS ? 3 : 1;
        const int at = snprintf(path, size, "%s/", folder);
        snprintf(path + at, size - (size_t)at, names[what.kind], what.fiber + 1);
        strcat(path, ".nii.gz");
        status = hot_image_save(context, path, &maps->grid, what.kind == DYADS ? HOT_CONTENT_DYADS : HOT_CONTENT_MAP,
                                volumes, fill, &what);
    }
    snprintf(path, size, "%s/%s", folder, mask_name);
    if (status == HOT_OK)
        status = hot_image_save_bytes(context, path, &maps->grid, mask->bytes);
cleanup:
    if (status != HOT_OK && made) { /* all or none */
        for (int i = 0; i < written; i++) {
            const int at = snprintf(path, size, "%s/", folder);
            snprintf(path + at, size - (size_t)at, names[i % KINDS], i / KINDS + 1);
            strcat(path, ".nii.gz");
            remove(path);
        }
        rmdir(folder);
    }
    HOT_FREE(context, mean_values, path);
    return status;
}
