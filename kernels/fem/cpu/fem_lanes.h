/* Template (see contract_tile.h): mass operators of finite elements. The action works on a vector of elements at a
 * time, each value a vector, so that every basis size runs at the same speed; the assembly is a small matrix product
 * per column block of the matrix. */

/* Contracts one axis of an array of vectors: out[b, t, a] = sum over f of m[t * m_to + f * m_from] in[b, f, a], with b
 * (of `before`) the fastest index. */
static void TILE(along)(const TILE_V *restrict in, TILE_V *restrict out, size_t before, size_t from, size_t to,
                        size_t after, const TILE_T *m, size_t m_to, size_t m_from)
{
    for (size_t a = 0; a < after; a++)
        for (size_t b = 0; b < before; b++) {
            const TILE_V *column = in + b + before * from * a;
            TILE_V *result = out + b + before * to * a;
            size_t t = 0;
            for (; t + 4 <= to; t += 4) {
                TILE_V sum[4] = {{0}, {0}, {0}, {0}};
                for (size_t f = 0; f < from; f++)
                    HOT_UNROLL for (size_t j = 0; j < 4; j++)
                        sum[j] += m[(t + j) * m_to + f * m_from] * column[before * f];
                HOT_UNROLL for (size_t j = 0; j < 4; j++)
                    result[before * (t + j)] = sum[j];
            }
            for (; t < to; t++) {
                TILE_V sum = {0};
                for (size_t f = 0; f < from; f++)
                    sum += m[t * m_to + f * m_from] * column[before * f];
                result[before * t] = sum;
            }
        }
}

static void TILE(action)(const hot_fem_args *args, size_t first, size_t count, void *scratch)
{
    const size_t p = args->dofs, q = args->points, dofs = hot_fem_power(p, args->dim),
                 points = hot_fem_power(q, args->dim);
    const size_t cube = hot_fem_power(p > q ? p : q, args->dim);
    const TILE_T *basis = args->basis, *d = (const TILE_T *)args->d + first * points;
    const TILE_T *v = (const TILE_T *)args->v + first * dofs;
    TILE_T *u = (TILE_T *)args->out + first * dofs;
    TILE_V *x = scratch, *y = x + cube;
    for (size_t begin = 0; begin < count; begin += TILE_LANES) {
        const size_t here = count - begin < TILE_LANES ? count - begin : TILE_LANES;
        TILE_T *flat = (TILE_T *)x;
        for (size_t lane = 0; lane < TILE_LANES; lane++) { /* lanes without an element repeat the last one */
            const TILE_T *from = v + (begin + (lane < here ? lane : here - 1)) * dofs;
            for (size_t i = 0; i < dofs; i++)
                flat[i * TILE_LANES + lane] = from[i];
        }
        /* To the points along axis 1, 2, 3; and back along 3, 2, 1. */
        TILE(along)(x, y, 1, p, q, args->dim == 2 ? p : p * p, basis, 1, q);
        TILE(along)(y, x, q, p, q, args->dim == 2 ? 1 : p, basis, 1, q);
        TILE_V *at_points = x, *other = y;
        if (args->dim == 3) {
            TILE(along)(x, y, q * q, p, q, 1, basis, 1, q);
            at_points = y, other = x;
        }
        flat = (TILE_T *)at_points;
        for (size_t lane = 0; lane < here; lane++)
            for (size_t k = 0; k < points; k++)
                flat[k * TILE_LANES + lane] *= d[(begin + lane) * points + k];
        if (args->dim == 3) {
            TILE(along)(at_points, other, q * q, q, p, 1, basis, q, 1);
            TILE_V *swap = at_points;
            at_points = other, other = swap;
        }
        TILE(along)(at_points, other, q, q, p, args->dim == 2 ? 1 : p, basis, q, 1);
        TILE(along)(other, at_points, 1, q, p, args->dim == 2 ? p : p * p, basis, q, 1);
        flat = (TILE_T *)at_points;
        for (size_t lane = 0; lane < here; lane++)
            for (size_t i = 0; i < dofs; i++)
                u[(begin + lane) * dofs + i] = flat[i * TILE_LANES + lane];
    }
}

static void TILE(assemble)(const hot_fem_args *args, size_t first, size_t count, void *scratch)
{
    const size_t p = args->dofs, q = args->points, dofs = hot_fem_power(p, args->dim),
                 points = hot_fem_power(q, args->dim);
    const size_t cube = hot_fem_power(p > q ? p : q, args->dim), rest = dofs / p, lasts = args->dim == 3 ? p : 1;
    const TILE_T *basis = args->basis;
    TILE_T *products = scratch, *first_sum = products + cube, *second_sum = first_sum + cube;
    /* products[j][k, i] = phi_i(q_k) phi_j(q_k): the matrix that the last sum, over the first axis, multiplies with. In
     * 2-D a cube has but p^2 values: there it is made anew for every j. */
    const int all_products = args->dim == 3;
    for (size_t j = 0; j < p && all_products; j++)
        for (size_t k = 0; k < q; k++)
            for (size_t i = 0; i < p; i++)
                products[(j * q + k) * p + i] = basis[k + q * i] * basis[k + q * j];
    for (size_t e = first; e < first + count; e++) {
        const TILE_T *d = (const TILE_T *)args->d + e * points;
        TILE_T *m = (TILE_T *)args->out + e * dofs * dofs;
        for (size_t j3 = 0; j3 < lasts; j3++) {
            const TILE_T *slab = d; /* k1, k2, and in 3-D i3 */
            if (args->dim == 3) {
                for (size_t i3 = 0; i3 < p; i3++)
                    for (size_t k = 0; k < q * q; k++) {
                        TILE_T sum = 0;
                        for (size_t k3 = 0; k3 < q; k3++)
                            sum += basis[k3 + q * i3] * basis[k3 + q * j3] * d[k + q * q * k3];
                        first_sum[k + q * q * i3] = sum;
                    }
                slab = first_sum;
            }
            for (size_t j2 = 0; j2 < p; j2++) {
                for (size_t i3 = 0; i3 < lasts; i3++)
                    for (size_t i2 = 0; i2 < p; i2++)
                        for (size_t k1 = 0; k1 < q; k1++) {
                            TILE_T sum = 0;
                            for (size_t k2 = 0; k2 < q; k2++)
                                sum += basis[k2 + q * i2] * basis[k2 + q * j2] * slab[k1 + q * (k2 + q * i3)];
                            second_sum[k1 + q * (i2 + p * i3)] = sum;
                        }
                for (size_t j1 = 0; j1 < p; j1++) {
                    const TILE_T *factor = all_products ? products + j1 * q * p : products;
                    for (size_t k = 0; k < q && !all_products; k++)
                        for (size_t i = 0; i < p; i++)
                            products[k * p + i] = basis[k + q * i] * basis[k + q * j1];
                    const hot_tile tile = {.rows = rest,
                                           .columns = p,
                                           .sums = q,
                                           .items = 1,
                                           .a = second_sum,
                                           .a_row = q,
                                           .a_sum = 1,
                                           .b = factor,
                                           .b_sum = p,
                                           .alpha = 1,
                                           .c = m + (j1 + p * (j2 + p * j3)) * dofs,
                                           .c_row = p};
                    TILE(run)(&tile);
                }
            }
        }
    }
}
