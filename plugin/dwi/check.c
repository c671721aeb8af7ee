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

enum { CUBE = 8, BLOCKS_MIN = 8, TOLD_MIN = 12 };
static const size_t max_voxels = 150000;
static const double min_evidence_weight = 0.3; /* of a kind of evidence that tells nothing */
static const double block_bound = 0.35; /* root mean squares of a block's evidence, from which on it counts less */
static const double independent = 0.25; /* share of the blocks: an edge of the image runs through several */
static const double min_rest = 1; /* standard errors, without any one kind of evidence */

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
        double size = 0;
        for (int t = 0; t < HOT_CHECK_TABLES; t++) {
            total[t] += e[t];
            size += e[t] * e[t];
        }
        squares += size;
        used += size > 0;
    }
    for (int t = 0; t < HOT_CHECK_TABLES; t++)
        signal += total[t] * total[t];
    if (!(squares > 0) || !(squares - signal / used > 1e-9 * squares))
        return 0;
    const double ratio = signal / (squares - signal / used);
    return sqrt(fmax(ratio - 1, min_evidence_weight) / squares);
}

/* Moves the blocks with any evidence to the front. Returns how many they are. */
static size_t keep_used(size_t blocks, hot_check_evidence *evidence)
{
    size_t used = 0;
    for (size_t block = 0; block < blocks; block++) {
        int any = 0;
        for (int n = 0; n < HOT_CHECK_KINDS * HOT_CHECK_TABLES; n++)
            any |= evidence[block][n / HOT_CHECK_TABLES][n % HOT_CHECK_TABLES] != 0;
        if (any && used != block)
            memcpy(evidence[used], evidence[block], sizeof *evidence);
        used += any != 0;
    }
    return used;
}

/* The evidence of a kind becomes relative to the mean of all tables, bounded, so that a few blocks do not outweigh all
 * others, and weighted. */
static void scale_kind(size_t blocks, hot_check_evidence *evidence, int kind)
{
    double squares = 0;
    for (size_t block = 0; block < blocks; block++) {
        double *e = evidence[block][kind], mean = 0;
        for (int t = 0; t < HOT_CHECK_TABLES; t++)
            mean += e[t] / HOT_CHECK_TABLES;
        for (int t = 0; t < HOT_CHECK_TABLES; t++) {
            e[t] -= mean;
            squares += e[t] * e[t];
        }
    }
    const double bound = block_bound * block_bound * squares / (double)(blocks ? blocks : 1);
    for (size_t block = 0; block < blocks; block++) {
        double *e = evidence[block][kind], size = bound;
        for (int t = 0; t < HOT_CHECK_TABLES; t++)
            size += e[t] * e[t];
        for (int t = 0; t < HOT_CHECK_TABLES; t++)
            e[t] = size > 0 ? e[t] / sqrt(size) : 0;
    }
    const double weight = weight_of_kind(blocks, (const hot_check_evidence *)evidence, kind);
    for (size_t block = 0; block < blocks; block++)
        for (int t = 0; t < HOT_CHECK_TABLES; t++)
            evidence[block][kind][t] *= weight;
}

/* The evidence for table b over table a, in standard errors; 0 if they agree in every block. without: a kind that is
 * left out, or -1. */
static double compare(size_t blocks, const hot_check_evidence *evidence, int a, int b, int without)
{
    double total = 0, square = 0, size = 0;
    const double n = (double)blocks;
    for (size_t block = 0; block < blocks; block++) {
        double of_a = 0, of_b = 0;
        for (int kind = 0; kind < HOT_CHECK_KINDS; kind++) {
            of_a += kind == without ? 0 : evidence[block][kind][a];
            of_b += kind == without ? 0 : evidence[block][kind][b];
        }
        total += of_b - of_a;
        square += (of_b - of_a) * (of_b - of_a);
        size += of_a * of_a + of_b * of_b;
    }
    const double variance = (square - total * total / n) * n / (n - 1);
    return variance > 1e-9 * size ? total / sqrt(variance) : 0;
}

/* Whether tables a and b are told apart, z standard errors: clearly, and not by one kind of evidence alone, which one
 * large structure of the image can feign. */
static int is_told(size_t blocks, const hot_check_evidence *evidence, int a, int b, double z, double limit)
{
    int told = fabs(z) > limit;
    for (int kind = 0; kind < HOT_CHECK_KINDS && told; kind++)
        told = (z > 0 ? 1 : -1) * compare(blocks, evidence, a, b, kind) > min_rest;
    return told;
}

/* The value that Student's t with f degrees of freedom exceeds three times in a thousand: the first terms of Cornish
 * and Fisher's expansion about the normal distribution's 2.75. */
static double limit_of(double f)
{
    const double z = 2.7478, z3 = z * z * z, z5 = z3 * z * z;
    return z + (z3 + z) / (4 * f) + (5 * z5 + 16 * z3 + 3 * z) / (96 * f * f);
}

/* Ranks the tables by the blocks' total evidence, and decides. */
static void decide(const hot_dwi *dwi, size_t blocks, const hot_check_evidence *evidence, hot_check_gradients *result)
{
    double total[HOT_CHECK_TABLES] = {0};
    int order[HOT_CHECK_TABLES], likelier = 0, less = 0, apart = 0;
    for (size_t block = 0; block < blocks; block++)
        for (int n = 0; n < HOT_CHECK_KINDS * HOT_CHECK_TABLES; n++)
            total[n % HOT_CHECK_TABLES] += evidence[block][n / HOT_CHECK_TABLES][n % HOT_CHECK_TABLES];
    for (int t = 0; t < HOT_CHECK_TABLES; t++) { /* insertion; of equal ones the table given stays first */
        int at = t;
        for (; at > 0 && total[order[at - 1]] < total[t] - 1e-9; at--)
            order[at] = order[at - 1];
        order[at] = t;
    }
    result->limit = blocks > 1 ? limit_of(fmax(1, (double)(blocks - 1) * independent)) : INFINITY;
    for (int n = 0; n < HOT_CHECK_TABLES; n++) {
        hot_check_table *table = result->table + n;
        if (order[n] == 0)
            result->given = n;
        if (!hot_check_describe(dwi, order[n], table))
            result->axes = HOT_CHECK_IN_A_BVEC;
        table->z = order[n] && blocks > 1 ? compare(blocks, evidence, 0, order[n], -1) : 0;
        table->told = is_told(blocks, evidence, 0, order[n], table->z, result->limit);
        likelier += table->told && table->z > 0;
        less += table->told && table->z < 0;
    }
    for (int n = 0; n < HOT_CHECK_TABLES; n++) {
        result->tied[n] = n == 0 || blocks < 2 ||
                          !is_told(blocks, evidence, order[n], order[0],
                                   compare(blocks, evidence, order[n], order[0], -1), result->limit);
        apart += !result->tied[n];
    }
    if (blocks < BLOCKS_MIN)
        snprintf(result->reason, sizeof result->reason, "%zu voxels are too few", result->voxels);
    else if (likelier && apart >= TOLD_MIN) /* by chance it is apart from a few, without fibres that run on */
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
    HOT_TRY(hot_options_read(context, "hot_check_gradients", result, &nothing));
    hot_mask *whole = NULL;
    size_t *voxel = NULL, blocks = 0;
    hot_check_voxel *about = NULL;
    hot_check_evidence *evidence = NULL;
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
    if (status != HOT_OK)
        goto cleanup;
    result->blocks = keep_used(blocks, evidence);
    for (int kind = 0; kind < HOT_CHECK_KINDS; kind++)
        scale_kind(result->blocks, evidence, kind);
    decide(dwi, result->blocks, (const hot_check_evidence *)evidence, result);
    if (!determined)
        snprintf(result->reason, sizeof result->reason, "the directions do not determine a tensor");
cleanup:
    HOT_FREE(context, evidence, about, voxel);
    hot_mask_destroy(&whole);
    return status;
}
