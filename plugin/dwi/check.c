/* The most probable gradient table, and the verdict. */
#include "check.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/arguments.h"
#include "common/entry.h"
#include "common/options.h"
#include "core/random.h"

enum { CUBE = 9, BLOCKS_MIN = 8, TOLD_MIN = 12 };
static const size_t max_voxels = 150000;
static const double min_evidence_weight = 0.3; /* of a kind of evidence that tells nothing */

/* Voxels of the mask, all of them or those in some cubes spread over it, in ascending order. */
static hot_status choose_voxels(hot_context *context, const hot_mask *mask, size_t most, size_t **voxel, size_t *count)
{
    const size_t *size = mask->grid.size;
    const double share = (double)(most ? most : max_voxels) / (double)(mask->inside ? mask->inside : 1);
    *count = 0;
    *voxel = hot_context_alloc(context, mask->inside, sizeof **voxel);
    if (!*voxel)
        return HOT_ERROR_MEMORY;
    for (size_t k = 0; k < size[2]; k++)
        for (size_t j = 0; j < size[1]; j++)
            for (size_t i = 0, end; i < size[0]; i = end) { /* the part of a line that is in one cube */
                const size_t line = (k * size[1] + j) * size[0];
                hot_random cube = hot_random_start(i / CUBE, j / CUBE, k / CUBE);
                end = size[0] - i < CUBE ? size[0] : i + CUBE;
                if (share < 1 && !(hot_random_uniform(&cube) < share))
                    continue;
                for (size_t n = line + i; n < line + end; n++)
                    if (mask->bytes[n])
                        (*voxel)[(*count)++] = n;
            }
    return HOT_OK;
}

/* The weight of a kind of evidence, relative to the root of its sum of squares: it grows with the spread of the tables'
 * totals compared with independent blocks (ratio: 1 without information). The given table has no special role. */
static double weight_of_kind(size_t blocks, const hot_check_evidence *evidence, int kind)
{
    double total[HOT_CHECK_TABLES] = {0}, squares = 0, signal = 0, used = 0;
    for (size_t block = 0; block < blocks; block++) {
        const double *e = evidence[block][kind];
        double mean = 0, size = 0;
        for (int t = 0; t < HOT_CHECK_TABLES; t++)
            mean += e[t] / HOT_CHECK_TABLES;
        for (int t = 0; t < HOT_CHECK_TABLES; t++) {
            total[t] += e[t] - mean;
            size += (e[t] - mean) * (e[t] - mean);
        }
        squares += size;
        used += size > 0;
    }
    for (int t = 0; t < HOT_CHECK_TABLES; t++)
        signal += total[t] * total[t];
    if (!(squares > 0) || !(squares - signal / used > 1e-9 * squares))
        return 0;
    const double ratio = signal / (squares - signal / used);
    return fmax(ratio - 1, min_evidence_weight) / sqrt(fmax(ratio, min_evidence_weight) * squares);
}

/* Adds the kinds of evidence by their weights: sum[block][table]. Returns how many blocks have any. */
static size_t add_kinds(size_t blocks, const hot_check_evidence *evidence, double (*sum)[HOT_CHECK_TABLES])
{
    size_t used = 0;
    double weight[HOT_CHECK_KINDS];
    for (int kind = 0; kind < HOT_CHECK_KINDS; kind++)
        weight[kind] = weight_of_kind(blocks, evidence, kind);
    for (size_t block = 0; block < blocks; block++) {
        double *total = sum[used];
        int any = 0;
        memset(total, 0, sizeof sum[used]);
        for (int kind = 0; kind < HOT_CHECK_KINDS; kind++) {
            const double *e = evidence[block][kind];
            double mean = 0;
            for (int t = 0; t < HOT_CHECK_TABLES; t++)
                mean += e[t] / HOT_CHECK_TABLES;
            for (int t = 0; t < HOT_CHECK_TABLES; t++) {
                any |= e[t] != 0;
                total[t] += weight[kind] * (e[t] - mean);
            }
        }
        used += any != 0;
    }
    return used;
}

/* The evidence for table b over table a, in standard errors; 0 if they agree in every block. */
static double compare(size_t blocks, const double (*sum)[HOT_CHECK_TABLES], int a, int b)
{
    double total = 0, square = 0, size = 0;
    const double n = (double)blocks;
    for (size_t block = 0; block < blocks; block++) {
        const double difference = sum[block][b] - sum[block][a];
        total += difference;
        square += difference * difference;
        size += sum[block][a] * sum[block][a] + sum[block][b] * sum[block][b];
    }
    const double variance = (square - total * total / n) * n / (n - 1);
    return variance > 1e-9 * size ? total / sqrt(variance) : 0;
}

/* The value that Student's t with these degrees of freedom exceeds once in a thousand times: the first terms of Cornish
 * and Fisher's expansion about the normal distribution's 3.09. */
static double limit_of(size_t freedom)
{
    const double z = 3.0902, f = (double)freedom, z3 = z * z * z, z5 = z3 * z * z;
    return z + (z3 + z) / (4 * f) + (5 * z5 + 16 * z3 + 3 * z) / (96 * f * f);
}

/* Ranks the tables by the blocks' total evidence, and decides. */
static void decide(const hot_dwi *dwi, size_t blocks, const double (*sum)[HOT_CHECK_TABLES],
                   hot_check_gradients *result)
{
    double total[HOT_CHECK_TABLES] = {0};
    int order[HOT_CHECK_TABLES], likelier = 0, less = 0;
    for (size_t block = 0; block < blocks; block++)
        for (int t = 0; t < HOT_CHECK_TABLES; t++)
            total[t] += sum[block][t];
    for (int t = 0; t < HOT_CHECK_TABLES; t++) { /* insertion; of equal ones the table given stays first */
        int at = t;
        for (; at > 0 && total[order[at - 1]] < total[t] - 1e-9; at--)
            order[at] = order[at - 1];
        order[at] = t;
    }
    result->limit = blocks > 1 ? limit_of(blocks - 1) : INFINITY;
    for (int n = 0; n < HOT_CHECK_TABLES; n++) {
        hot_check_table *table = result->table + n;
        if (order[n] == 0)
            result->given = n;
        if (!hot_check_describe(dwi, order[n], table))
            result->axes = HOT_CHECK_IN_A_BVEC;
        table->z = order[n] && blocks > 1 ? compare(blocks, sum, 0, order[n]) : 0;
        table->told = fabs(table->z) > result->limit;
        likelier += table->told && table->z > 0;
        less += table->told && table->z < 0;
    }
    for (int n = 0; n < HOT_CHECK_TABLES; n++)
        result->tied[n] = n == 0 || blocks < 2 || !(fabs(compare(blocks, sum, order[n], order[0])) > result->limit);
    if (blocks < BLOCKS_MIN)
        snprintf(result->reason, sizeof result->reason, "%zu voxels are too few", result->voxels);
    else if (likelier)
        result->verdict = HOT_CHECK_WRONG;
    else if (less >= TOLD_MIN)
        result->verdict = HOT_CHECK_LIKELIEST;
    else
        snprintf(result->reason, sizeof result->reason,
                 "directions do not run on from voxel to voxel clearly enough in %zu voxels: too few of them, too "
                 "little anisotropy, or too much noise", result->voxels);
}

hot_status hot_check_gradient_table(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, size_t most,
                                    hot_check_gradients *result)
{
    HOT_ENTRY(context);
    HOT_NEED(context, dwi, result);
    hot_check_gradients nothing = HOT_CHECK_GRADIENTS_INIT;
    const hot_status known = hot_options_read(context, "hot_check_gradients", result, &nothing);
    if (known != HOT_OK)
        return known;
    hot_mask *whole = NULL;
    size_t *voxel = NULL, blocks = 0;
    hot_check_voxel *about = NULL;
    hot_check_evidence *evidence = NULL;
    double(*sum)[HOT_CHECK_TABLES] = NULL;
    int determined = 0;
    *result = (hot_check_gradients){.size = sizeof *result};
    result->axes = dwi->gradients_in == HOT_GRADIENTS_IN_SCHEME ? HOT_CHECK_IN_TABLE
                   : dwi->gradients_in == HOT_GRADIENTS_IN_NRRD ? HOT_CHECK_IN_NRRD
                                                                : HOT_CHECK_IN_BVEC;
    hot_status status = hot_mask_take(context, &mask, &dwi->grid, &whole);
    if (status == HOT_OK)
        status = choose_voxels(context, mask, most, &voxel, &result->voxels);
    if (status != HOT_OK)
        goto cleanup;
    about = hot_context_alloc(context, result->voxels, sizeof *about);
    status = about ? hot_check_fit(context, dwi, voxel, result->voxels, about, &determined) : HOT_ERROR_MEMORY;
    if (status == HOT_OK && determined)
        status = hot_check_coherence(context, &dwi->grid, voxel, result->voxels, about, &evidence, &blocks);
    sum = status == HOT_OK ? hot_context_alloc(context, blocks, sizeof *sum) : NULL;
    if (status == HOT_OK && !sum)
        status = HOT_ERROR_MEMORY;
    if (status != HOT_OK)
        goto cleanup;
    result->blocks = add_kinds(blocks, (const hot_check_evidence *)evidence, sum);
    decide(dwi, result->blocks, (const double(*)[HOT_CHECK_TABLES])sum, result);
    if (!determined)
        snprintf(result->reason, sizeof result->reason, "the directions do not determine a tensor");
cleanup:
    hot_context_free(context, sum);
    hot_context_free(context, evidence);
    hot_context_free(context, about);
    hot_context_free(context, voxel);
    hot_mask_destroy(&whole);
    return status;
}
