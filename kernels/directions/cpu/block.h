/* Directions of one block of tensors on one CPU thread: a template, included once per order in every file that is
 * compiled for another instruction set.
 *
 *   scan     lane = tensor: the form on the grid of grid.h, row by row; candidates to a list
 *   refine   lane = candidate: Newton in the gnomonic coordinates of its face, from queues (one per face)
 *   cluster  one tensor at a time
 *
 * What makes a grid point a candidate: grid.h. */

#include "directions/step.h"

#define SIDE HOT_JOIN(HOT_SIDE_, HOT_ORDER)
#define RING (SIDE + 2)
#define TERMS ((HOT_ORDER + 1) * (HOT_ORDER + 2) / 2)
/* A candidate's point: face * RING * RING + row * RING + column. */

/* The coefficients on one face from tensors `lane` ... of the block. */
HOT_FN void HOT_STEP(face)(const float *form, int face, vf *c)
{
    HOT_UNROLL
    for (int i = 0; i <= HOT_ORDER; i++) {
        HOT_UNROLL
        for (int j = 0; j <= HOT_ORDER; j++) {
            if (i + j > HOT_ORDER)
                break;
            c[HOT_AT(HOT_ORDER, i, j)] = vload(form + HOT_FACE(face, HOT_ORDER, i, j) * HOT_DIRECTIONS_BLOCK);
        }
    }
}

/* The same for candidates: lane k takes tensor index[k]. */
HOT_FN void HOT_STEP(gather)(const float *form, int face, vi index, vf *c)
{
    HOT_UNROLL
    for (int i = 0; i <= HOT_ORDER; i++) {
        HOT_UNROLL
        for (int j = 0; j <= HOT_ORDER; j++) {
            if (i + j > HOT_ORDER)
                break;
            c[HOT_AT(HOT_ORDER, i, j)] = vgather(form + HOT_FACE(face, HOT_ORDER, i, j) * HOT_DIRECTIONS_BLOCK, index);
        }
    }
}

/* Coordinates and weights (q^(-m/2)) of the grid; made once per block at negligible cost. */
typedef struct HOT_STEP(grid) {
    float coordinate[RING], weight[RING][RING];
} HOT_STEP(grid);

static void HOT_STEP(grid_make)(HOT_STEP(grid) *grid)
{
    for (int i = 0; i < RING; i++)
        grid->coordinate[i] = (float)hot_grid_coordinate(SIDE, i);
    for (int i = 0; i < RING; i++)
        for (int j = 0; j < RING; j++) {
            double u = grid->coordinate[i], v = grid->coordinate[j], p = 1 / (1 + u * u + v * v), power = p;
            for (int k = 2; k < HOT_ORDER; k += 2)
                power *= p;
            grid->weight[i][j] = (float)power;
        }
}

/* One face of HOT_LANES_F32 tensors: F on the grid, its extremes, candidates to the list. */
static void HOT_STEP(scan)(const HOT_STEP(grid) *grid, const float *form, int face, int lane, unsigned live,
                           vf *highest, vf *lowest, hot_directions_work *work)
{
    vf c[TERMS], value[RING][RING];
    if (face == 0)
        HOT_STEP(face)(form, 0, c);
    else if (face == 1)
        HOT_STEP(face)(form, 1, c);
    else
        HOT_STEP(face)(form, 2, c);
    vf high = *highest, low = *lowest;
    for (int row = 0; row < RING; row++) {
        vf r[HOT_ORDER + 1];
        HOT_STEP(row)(c, vset(grid->coordinate[row]), r);
        HOT_UNROLL
        for (int column = 0; column < RING / 2; column++) {
            const vf u = vset(grid->coordinate[RING - 1 - column]), w = vset(grid->weight[row][column]);
            vf plus, minus;
            HOT_STEP(pair)(r, u, u * u, &plus, &minus);
            plus = plus * w;
            minus = minus * w;
            value[row][RING - 1 - column] = plus;
            value[row][column] = minus;
            high = vmax(high, vmax(plus, minus));
            low = vmin(low, vmin(plus, minus));
        }
    }
    *highest = high;
    *lowest = low;
    /* peaked[row][column]: in which tensors the quadratic through the 3 x 3 square has its maximum near */
    uint16_t peaked[RING][RING], sure[RING][RING];
    memset(peaked, 0, sizeof peaked);
    for (int row = 1; row <= SIDE; row++) {
        for (int column = 1; column <= SIDE; column++) {
            const vf *above = value[row - 1] + column, *here = value[row] + column, *below = value[row + 1] + column;
            const vf x = here[0], twice = x + x;
            const vf gx = here[1] - here[-1], gy = below[0] - above[0];
            const vf xx = (here[1] + here[-1]) - twice, yy = (above[0] + below[0]) - twice;
            const vf xy = ((below[1] - below[-1]) - (above[1] - above[-1])) * vset(0.25f);
            const vf det = vfma(xx, yy, -(xy * xy)), limit = det * vset(2 * HOT_GRID_REACH);
            const vf sx = vfma(xy, gy, -(yy * gx)), sy = vfma(xy, gx, -(xx * gy));
            const vf far = vmax(vmax(sx, -sx), vmax(sy, -sy));
            const vk_mask good = vk_less(xx, vset(0)) & vk_less(vset(HOT_DIRECTIONS_ZERO), x) & vk_not_less(limit, far);
            peaked[row][column] = (uint16_t)(vk_bits(good) & live);
            sure[row][column] = (uint16_t)vk_bits(vk_not_less(limit * vset(HOT_GRID_SURE / HOT_GRID_REACH), far));
        }
    }
    static const int aside[4][2] = {{0, 1}, {0, -1}, {1, 0}, {-1, 0}};
    for (int row = 1; row <= SIDE; row++) {
        for (int column = 1; column <= SIDE; column++) {
            unsigned bits = peaked[row][column];
            if (!bits)
                continue;
            const unsigned all = bits & ~(unsigned)sure[row][column];
            for (int k = 0; k < 4; k++) {
                const int other = row + aside[k][0], next = column + aside[k][1];
                const unsigned both = all & peaked[other][next];
                if (both)
                    bits &= ~(both & vk_bits(vk_less(value[row][column], value[other][next])));
            }
            float lanes[HOT_LANES_F32];
            vstore(lanes, value[row][column]);
            int n = work->candidates;
            for (; bits; bits &= bits - 1) {
                const int k = __builtin_ctz(bits);
                work->value[n] = lanes[k];
                work->point[n] = (uint16_t)((face * RING + row) * RING + column);
                work->tensor[n] = (uint8_t)(lane + k);
                n++;
            }
            work->candidates = n;
        }
    }
}

/* How far the form can be from its mean over the sphere, by its coefficients: |f - mean| <= *off. Cheap, never too
 * low: nearly isotropic tensors are sorted out before the scan. */
HOT_FN void HOT_STEP(spread)(const float *form, vf *mean, vf *off)
{
    /* mean of x^a y^b z^c over the sphere = (a-1)!! (b-1)!! (c-1)!! / (m+1)!!, even exponents */
    static const float odd[7] = {1, 1, 3, 15, 105, 945, 10395};
    vf sum = vset(0.0f);
    float whole = 1;
    for (int k = 3; k <= HOT_ORDER + 1; k += 2)
        whole *= (float)k;
    for (int s = 0; s <= HOT_ORDER; s += 2)
        for (int t = 0; t <= s; t += 2)
            sum = vfma(vset(odd[(HOT_ORDER - s) / 2] * odd[(s - t) / 2] * odd[t / 2] / whole),
                          vload(form + HOT_PACKED(s, t) * HOT_DIRECTIONS_BLOCK), sum);
    vf far = vset(0.0f);
    static const float factorial[7] = {1, 1, 2, 6, 24, 120, 720};
    for (int s = 0; s <= HOT_ORDER; s++)
        for (int t = 0; t <= s; t++) {
            vf difference = vload(form + HOT_PACKED(s, t) * HOT_DIRECTIONS_BLOCK);
            if (!(s & 1) && !(t & 1)) /* (x^2 + y^2 + z^2)^(m/2) has a multinomial coefficient here */
                difference = difference - sum * vset(factorial[HOT_ORDER / 2] /
                                                        (factorial[(HOT_ORDER - s) / 2] * factorial[(s - t) / 2] *
                                                         factorial[t / 2]));
            far = far + vmax(difference, -difference);
        }
    *mean = sum;
    *off = far;
}

/* Fills work->form and work->state from the rows of the block. */
static void HOT_STEP(load)(const hot_directions_args *args, size_t first, int count, hot_directions_work *work)
{
    float multiplicity[TERMS];
    for (int s = 0, k = 0; s <= HOT_ORDER; s++) {
        float outer = 1, inner = 1;
        for (int i = 0; i < s; i++)
            outer = outer * (float)(HOT_ORDER - i) / (float)(i + 1);
        for (int t = 0; t <= s; t++, k++) {
            multiplicity[k] = outer * inner;
            inner = inner * (float)(s - t) / (float)(t + 1);
        }
    }
    for (int item = 0; item < HOT_DIRECTIONS_BLOCK; item++) {
        const float *row = args->tensors + (first + (size_t)item) * args->stride;
        float largest = 0, odd = 0, factor = 0;
        work->state[item] = HOT_ITEM_NONE;
        work->scale[item] = 0;
        work->peak[item] = 0;
        work->head[item] = -1;
        if (item < count && (!args->mask || args->mask[first + (size_t)item])) {
            for (int k = 0; k < TERMS; k++) {
                const float size = fabsf(row[k]);
                largest = size > largest ? size : largest;
                odd += row[k] * 0.0f; /* NaN for NaN and Inf */
            }
            if (odd != 0)
                work->state[item] = HOT_ITEM_INVALID;
            else if (largest > 0)
                work->state[item] = HOT_ITEM_LIVE;
        }
        if (work->state[item] != HOT_ITEM_LIVE) {
            for (int k = 0; k < TERMS; k++)
                work->form[k * HOT_DIRECTIONS_BLOCK + item] = 0;
            continue;
        }
        /* Largest value 1, so that products neither overflow nor vanish; in two factors for denormal tensors. */
        const float lift = largest < 1e-30f ? 0x1p100f : 1.0f;
        factor = 1.0f / (largest * lift);
        work->scale[item] = largest;
        for (int k = 0; k < TERMS; k++)
            work->form[k * HOT_DIRECTIONS_BLOCK + item] = row[k] * lift * factor * multiplicity[k];
    }
}

static void HOT_STEP(refine)(const HOT_STEP(grid) *grid, int face, int from, int count, hot_directions_work *work)
{
    int32_t tensor[HOT_LANES_F32];
    float u0[HOT_LANES_F32], v0[HOT_LANES_F32];
    for (int k = 0; k < HOT_LANES_F32; k++) {
        const int candidate = work->queue[face][from + (k < count ? k : 0)]; /* idle lanes repeat the first */
        const int point = work->point[candidate] % (RING * RING);
        tensor[k] = work->tensor[candidate];
        u0[k] = grid->coordinate[point % RING];
        v0[k] = grid->coordinate[point / RING];
    }
    vf c[TERMS];
    const vi index = vload(tensor);
    if (face == 0)
        HOT_STEP(gather)(work->form, 0, index, c);
    else if (face == 1)
        HOT_STEP(gather)(work->form, 1, index, c);
    else
        HOT_STEP(gather)(work->form, 2, index, c);
    HOT_STEP(state) state;
    HOT_STEP(newton)(c, vload(u0), vload(v0), &state);
    for (int step = 1; step < HOT_STEPS; step++)
        if (!vk_bits(HOT_STEP(climb)(c, &state)))
            break;
    unsigned good = vk_bits(state.peaked & vk_less(vset(HOT_DIRECTIONS_ZERO), state.value) &
                            vk_less(state.left, vset(HOT_STEP_LOST)));
    const vf u = state.u + state.du, v = state.v + state.dv, one = vset(1.0f);
    const vf length = one / vsqrt(vfma(u, u, vfma(v, v, one)));
    float axis[3][HOT_LANES_F32], value[HOT_LANES_F32];
    vstore(axis[face], length);
    vstore(axis[(face + 1) % 3], u * length);
    vstore(axis[(face + 2) % 3], v * length);
    vstore(value, state.value);
    for (int k = 0; k < count; k++) {
        if (!(good >> k & 1))
            continue;
        const int n = work->maxima++;
        work->maximum[n] = (hot_maximum){value[k], axis[0][k], axis[1][k], axis[2][k]};
        work->next[n] = work->head[tensor[k]];
        work->head[tensor[k]] = n;
    }
}

static void HOT_STEP(block)(const hot_directions_args *args, size_t first, int count, hot_directions_work *work)
{
    HOT_STEP(grid) grid;
    HOT_STEP(grid_make)(&grid);
    HOT_STEP(load)(args, first, count, work);
    work->candidates = work->maxima = 0;
    for (int lane = 0; lane < count; lane += HOT_LANES_F32) {
        const float *form = work->form + lane;
        unsigned live = 0;
        for (int k = 0; k < HOT_LANES_F32; k++)
            live |= (unsigned)(work->state[lane + k] == HOT_ITEM_LIVE) << k;
        vf mean, off;
        HOT_STEP(spread)(form, &mean, &off);
        const vf range = vset(args->min_relative_range);
        /* isotropic for certain, or nowhere above 0 */
        live &= vbits((off + off >= range * vmax(mean, -mean)) & (mean + off > HOT_DIRECTIONS_ZERO));
        if (!live)
            continue;
        vf high = vset(-1e30f), low = vset(1e30f);
        const int before = work->candidates;
        for (int face = 0; face < 3; face++)
            HOT_STEP(scan)(&grid, form, face, lane, live, &high, &low, work);
        const unsigned shaped = vbits(high - low >= range * vmax(high, -high));
        if ((shaped & live) != live) { /* take back what isotropic forms have listed */
            int kept = before;
            for (int n = before; n < work->candidates; n++) {
                if (!(shaped >> (work->tensor[n] - lane) & 1))
                    continue;
                work->value[kept] = work->value[n];
                work->point[kept] = work->point[n];
                work->tensor[kept++] = work->tensor[n];
            }
            work->candidates = kept;
        }
    }
    for (int n = 0; n < work->candidates; n++)
        if (work->value[n] > work->peak[work->tensor[n]])
            work->peak[work->tensor[n]] = work->value[n];
    /* A grid value is lower than its maximum, at this spacing by no more than HOT_GRID_LOSS of the largest. */
    work->queued[0] = work->queued[1] = work->queued[2] = 0;
    for (int n = 0; n < work->candidates; n++)
        if (work->value[n] >= args->threshold * HOT_GRID_LOSS * work->peak[work->tensor[n]]) {
            const int face = work->point[n] / (RING * RING);
            work->queue[face][work->queued[face]++] = n;
        }
    for (int face = 0; face < 3; face++)
        for (int from = 0; from < work->queued[face]; from += HOT_LANES_F32) {
            const int left = work->queued[face] - from;
            HOT_STEP(refine)(&grid, face, from, left < HOT_LANES_F32 ? left : HOT_LANES_F32, work);
        }
    for (int item = 0; item < count; item++) {
        hot_maximum maxima[HOT_BLOCK_POINTS];
        int n = 0;
        /* At orders 10 and 12 floats lose more than HOT_DIRECTIONS_ZERO if large terms cancel, as for a form that is
         * nowhere above 0: m roundings of their sum. */
        float zero = 0;
        for (int k = 0; k < TERMS && HOT_ORDER > 8; k++)
            zero += fabsf(work->form[k * HOT_DIRECTIONS_BLOCK + item]) * (HOT_ORDER * 0x1p-24f);
        for (int at = work->head[item]; at >= 0; at = work->next[at]) {
            if (work->maximum[at].value <= zero)
                continue;
            maxima[n] = work->maximum[at];
            maxima[n++].value *= work->scale[item];
        }
        float *out = args->directions + (first + (size_t)item) * 3 * (size_t)args->keep;
        const int found = hot_directions_cluster(args, maxima, n, out);
        if (args->found)
            args->found[first + (size_t)item] =
                (uint8_t)(work->state[item] == HOT_ITEM_INVALID ? HOT_DIRECTIONS_INVALID : found);
    }
}

#undef SIDE
#undef RING
#undef TERMS
