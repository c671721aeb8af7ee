/* Leave-one-out prediction of a volume from the other volumes and the rows. */
#include <math.h>
#include <string.h>

#include "check_rows.h"
#include "summary.h"

hot_status hot_rows_predict(const hot_rows *rows, const hot_rows_model *model, const size_t *order,
                            hot_rows_prediction *made)
{
    const size_t n = rows->volumes;
    const double *a = model->inverse, *g = rows->gram;
    double *line = hot_context_alloc(rows->context, n, sizeof *line);
    if (!line)
        return HOT_ERROR_MEMORY;
    for (size_t i = 0; i < n; i++) { /* (A y)_i / A_ii is what y_i is more than predicted */
        const double pivot = a[i * n + i], own = g[order[i] * n + order[i]];
        double with = 0, square = 0;
        for (size_t j = 0; j < n; j++)
            line[j] = 0;
        for (size_t k = 0; k < n; k++) {
            const double value = a[i * n + k] / pivot, *of = g + order[k] * n;
            for (size_t j = 0; j < n; j++)
                line[j] += value * of[order[j]];
        }
        for (size_t j = 0; j < n; j++)
            square += line[j] * a[i * n + j] / pivot;
        with = own - line[i];
        made[i] = (hot_rows_prediction){fmax(square, 0), with, fmax(square - own + 2 * with, 0), own, square * pivot};
    }
    hot_context_free(rows->context, line);
    return HOT_OK;
}

/* Products of the volumes' deviations from the means of their groups: c, volumes x volumes; b=0 counts for nothing. */
static void centre(const hot_rows *rows, const size_t *order, double *c)
{
    const size_t n = rows->volumes;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            c[i * n + j] = rows->group[i] < 0 || rows->group[j] < 0 ? 0 : rows->gram[order[i] * n + order[j]];
    for (int way = 0; way < 2; way++) { /* columns, then rows */
        const size_t along = way ? 1 : n, across = way ? n : 1;
        for (size_t j = 0; j < n; j++)
            for (int group = 0; group < rows->groups; group++) {
                double sum = 0, count = 0;
                for (size_t i = 0; i < n; i++)
                    if (rows->group[i] == group)
                        sum += c[i * along + j * across], count++;
                for (size_t i = 0; i < n; i++)
                    if (rows->group[i] == group)
                        c[i * along + j * across] -= sum / count;
            }
    }
}

hot_status hot_rows_contrast(const hot_rows *rows, const size_t *order, double *variance, double *patterns)
{
    const size_t n = rows->volumes;
    double *c = hot_context_alloc(rows->context, n, n * sizeof *c), trace = 0, square = 0, freedom = 0;
    if (!c)
        return HOT_ERROR_MEMORY;
    centre(rows, order, c);
    for (size_t i = 0; i < n; i++) {
        freedom += rows->group[i] >= 0;
        trace += c[i * n + i];
        for (size_t j = 0; j < n; j++)
            square += c[i * n + j] * c[i * n + j];
    }
    freedom -= rows->groups;
    *variance = freedom > 0 ? trace / freedom : 0;
    *patterns = square > 0 ? trace * trace / square : 0;
    hot_context_free(rows->context, c);
    return HOT_OK;
}

hot_status hot_rows_error(const hot_rows *rows, size_t i, const char *const *without, double *error)
{
    const size_t n = rows->volumes;
    hot_rows few = *rows;
    double *space = hot_context_alloc(rows->context, 3 * n + 70, n * sizeof *space);
    size_t *place = hot_context_alloc(rows->context, 2 * n, sizeof *place), *order = place + n, m = 0;
    int *group = hot_context_alloc(rows->context, n, sizeof *group);
    hot_status status = space && place && group ? HOT_OK : HOT_ERROR_MEMORY;
    hot_rows_model model = {.place = {2, 1, 3}, .inverse = space};
    *error = INFINITY;
    for (size_t v = 0; v < n && status == HOT_OK; v++)
        if (v != i && !without[v])
            place[m++] = v;
    if (status == HOT_OK && m >= 4) {
        few.gram = space + n * n;
        few.b = few.gram + n * n;
        few.gradients = few.b + n;
        few.group = group;
        for (size_t v = 0; v <= m; v++) { /* the last one is the volume itself */
            const size_t from = v < m ? place[v] : i;
            order[v] = v;
            group[v] = rows->group[from];
            few.b[v] = rows->b[from];
            memcpy(few.gradients + 3 * v, rows->gradients + 3 * from, 3 * sizeof(double));
        }
        for (size_t u = 0; u < m; u++)
            for (size_t v = 0; v < m; v++)
                few.gram[u * m + v] = rows->gram[place[u] * n + place[v]];
        few.volumes = m;
        status = hot_rows_choose(&few, order, &model);
    }
    if (status == HOT_OK && m >= 4) {
        double square = 0;
        few.volumes = m + 1;
        hot_rows_make(&few, &model, space + n * n + 4 * n);
        place[m] = i;
        const double *a = model.inverse + m * (m + 1), pivot = a[m];
        for (size_t u = 0; u <= m; u++)
            for (size_t v = 0; v <= m; v++)
                square += a[u] / pivot * rows->gram[place[u] * n + place[v]] * a[v] / pivot;
        *error = fmax(square, 0);
    }
    HOT_FREE(rows->context, group, place, space);
    return status;
}

hot_status hot_rows_dark_slices(const hot_rows *rows, const size_t *order, double *share)
{
    enum { FEW = 4 };
    static const double dark = 0.6;
    const size_t n = rows->volumes;
    double slices = 0, lost = 0;
    float *mean = hot_context_alloc(rows->context, 2 * n, sizeof *mean), *mates = mean + n;
    *share = 0;
    if (!mean)
        return HOT_ERROR_MEMORY;
    for (size_t first = 0, end; first < rows->voxels; first = end) { /* voxels are in the order of the file */
        for (end = first; end < rows->voxels && rows->slice[end] == rows->slice[first];)
            end++;
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t x = first; x < end; x++)
                sum += (double)rows->signals[x * n + order[i]];
            mean[i] = (float)(sum / (double)(end - first));
        }
        for (int group = 0; group < rows->groups; group++) {
            size_t count = 0;
            for (size_t i = 0; i < n; i++)
                if (rows->group[i] == group)
                    mates[count++] = mean[i];
            if (count < FEW || end - first < FEW)
                continue;
            const double median = (double)hot_sorted_at(mates, count, count / 2);
            for (size_t i = 0; i < n; i++)
                if (rows->group[i] == group)
                    slices++, lost += (double)mean[i] < dark * median;
        }
    }
    *share = slices > 0 ? lost / slices : 0;
    hot_context_free(rows->context, mean);
    return HOT_OK;
}
