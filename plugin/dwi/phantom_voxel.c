/* One voxel of a phantom: its tissue and the signals of that. */
#include "phantom.h"

#include <math.h>
#include <string.h>

static const double radian = 0.017453292519943295;

/* Unit vectors every two of which make an angle drawn from the range; the first along z. */
static void crossing(hot_random *random, const hot_phantom_condition *c, double direction[][3])
{
    memset(direction, 0, sizeof(double[HOT_PHANTOM_FIBERS][3]));
    direction[0][2] = 1;
    if (c->fibers < 2)
        return;
    for (int attempt = 0;; attempt++) {
        double a = radian * hot_random_between(random, c->angle);
        direction[1][0] = sin(a), direction[1][2] = cos(a);
        if (c->fibers < 3)
            return;
        double b = radian * hot_random_between(random, c->angle),
               between = radian * hot_random_between(random, c->angle);
        if (attempt > 1000) /* a range that hardly ever fits: an even trio always does */
            b = between = a;
        /* the third from its angles b to the first and `between` to the second */
        double x = (cos(between) - cos(a) * cos(b)) / sin(a), square = 1 - cos(b) * cos(b) - x * x;
        if (square > 1e-12) {
            direction[2][0] = x, direction[2][1] = sqrt(square), direction[2][2] = cos(b);
            return;
        }
    }
}

void hot_phantom_draw_condition(hot_random *random, const hot_phantom_condition *c, size_t column,
                                phantom_voxel *voxel)
{
    memset(voxel, 0, sizeof *voxel);
    voxel->s0 = 1;
    voxel->fibers = c->fibers;
    if (c->fibers == 0) {
        voxel->water = 1;
        voxel->water_diffusivity = c->isotropic[column % 2];
        return;
    }
    double local[HOT_PHANTOM_FIBERS][3], rotation[3][3];
    crossing(random, c, local);
    hot_random_rotation(random, rotation);
    double share = c->fibers > 1 ? hot_random_between(random, c->fraction) : 1;
    for (int i = 0; i < c->fibers; i++) {
        voxel->fraction[i] = i == 0 ? share : (1 - share) / (c->fibers - 1);
        for (int d = 0; d < 3; d++)
            voxel->direction[i][d] =
                rotation[d][0] * local[i][0] + rotation[d][1] * local[i][1] + rotation[d][2] * local[i][2];
    }
}

static double share_of(const hot_phantom_options *o, size_t condition)
{
    return o->share ? o->share[condition] : 1;
}

void hot_phantom_draw_mixture(hot_random *random, const hot_phantom_options *o, phantom_voxel *voxel)
{
    double total = 0;
    for (size_t i = 0; i < o->condition_count; i++)
        total += share_of(o, i);
    double at = total * hot_random_uniform(random);
    size_t which = 0;
    for (; which + 1 < o->condition_count && at >= share_of(o, which); which++)
        at -= share_of(o, which);
    hot_phantom_draw_condition(random, &o->conditions[which], 0, voxel);
    if (voxel->fibers == 0) {
        voxel->water = fmin(fmax(2 * hot_random_uniform(random) - 0.5, 0), 1);
        voxel->grey = 1 - voxel->water;
        voxel->water_diffusivity = HOT_CSF_DIFFUSIVITY;
    }
}

/* Weights instead of the condition's fractions. */
static void draw_weights(hot_random *random, const double range[2], phantom_voxel *voxel)
{
    double sum = 0, whole = 0;
    for (int i = 0; i < voxel->fibers; i++) {
        whole += voxel->fraction[i];
        sum += voxel->fraction[i] = hot_random_between(random, range);
    }
    for (int i = 0; i < voxel->fibers; i++)
        voxel->fraction[i] *= whole / sum;
}

double hot_phantom_true_fraction(const phantom_voxel *voxel, hot_phantom_tissue tissue, int fiber)
{
    return tissue == HOT_TISSUE_BALL_STICK ? voxel->fraction[fiber] * voxel->intra[fiber] : voxel->fraction[fiber];
}

void hot_phantom_draw_tissue(hot_random *random, const hot_phantom_options *o, phantom_voxel *voxel)
{
    if (voxel->fibers == 0)
        return;
    double water = hot_random_between(random, o->csf);
    if (voxel->water == 0) {
        voxel->water = water;
        voxel->water_diffusivity = HOT_CSF_DIFFUSIVITY;
        for (int i = 0; i < voxel->fibers; i++)
            voxel->fraction[i] *= 1 - water;
    }
    for (int i = 0; i < voxel->fibers; i++) {
        double a, b;
        voxel->dispersion[i] = radian * hot_random_between(random, o->dispersion);
        hot_random_normals(random, &a, &b);
        voxel->axial[i] = o->axial * (1 + o->vary * fmin(fmax(a, -3), 3));
        voxel->radial[i] = o->radial * (1 + o->vary * fmin(fmax(b, -3), 3));
    }
    /* Newer parts draw their random numbers last, so that phantoms without them do not change between versions. */
    if (o->weight[1] > 0)
        draw_weights(random, o->weight, voxel);
    double grey = hot_random_between(random, o->grey), before = 0, factor;
    for (int i = 0; i < voxel->fibers; i++)
        before += voxel->fraction[i];
    factor = grey > 0 && before > 0 ? fmax(before - grey, 0) / before : 1;
    voxel->grey = (1 - factor) * before;
    for (int i = 0; i < voxel->fibers; i++) {
        voxel->fraction[i] *= factor;
        voxel->intra[i] = hot_random_between(random, o->intra);
        if (o->tissue != HOT_TISSUE_ZEPPELIN && o->radial == 0)
            voxel->radial[i] = (1 - voxel->intra[i]) * voxel->axial[i];
    }
}

static double fiber_signal(double b, const double g[3], const double v[3], double axial, double radial)
{
    double dot = g[0] * v[0] + g[1] * v[1] + g[2] * v[2];
    return exp(-b * (radial + (axial - radial) * dot * dot));
}

/* The orientations of one fibre. */
typedef struct spread {
    int count;
    double direction[HOT_PHANTOM_PARTS][3], weight[HOT_PHANTOM_PARTS];
} spread;

/* A tensor in all of a fibre's orientations. */
static double mean_signal(const spread *s, double b, const double g[3], double axial, double radial)
{
    double sum = 0;
    for (int p = 0; p < s->count; p++)
        sum += s->weight[p] * fiber_signal(b, g, s->direction[p], axial, radial);
    return sum;
}

/* The mean squared cosine between the orientations and their axis. */
static double alignment(const spread *s, const double v[3])
{
    double sum = 0;
    for (int p = 0; p < s->count; p++) {
        const double *u = s->direction[p];
        double dot = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
        sum += s->weight[p] * dot * dot;
    }
    return sum;
}

void hot_phantom_signals(const phantom_voxel *voxel, hot_phantom_tissue tissue, size_t volumes, const double *b,
                         const double *gradients, double *signals)
{
    spread s;
    for (size_t v = 0; v < volumes; v++)
        signals[v] = voxel->s0 * voxel->water * exp(-b[v] * voxel->water_diffusivity);
    for (size_t v = 0; v < volumes && voxel->grey > 0; v++)
        signals[v] += voxel->s0 * voxel->grey * exp(-b[v] * HOT_GREY_DIFFUSIVITY);
    for (int i = 0; i < voxel->fibers; i++) {
        double scale = voxel->s0 * voxel->fraction[i], intra = voxel->intra[i];
        double axial = voxel->axial[i], radial = voxel->radial[i];
        const double *direction = voxel->direction[i];
        s.count = 1;
        s.weight[0] = 1;
        memcpy(s.direction[0], direction, sizeof s.direction[0]);
        if (voxel->dispersion[i] > 0)
            s.count = (tissue == HOT_TISSUE_ZEPPELIN ? hot_phantom_normal_parts : hot_phantom_watson_parts)(
                direction, voxel->dispersion[i], s.direction, s.weight);
        /* the zeppelin's mean over the orientations is a tensor about the same axis */
        double aligned = tissue == HOT_TISSUE_NODDI ? alignment(&s, direction) : 1;
        for (size_t v = 0; v < volumes; v++) {
            const double *g = gradients + 3 * v;
            double sum;
            if (b[v] == 0)
                sum = 1;
            else if (tissue == HOT_TISSUE_ZEPPELIN)
                sum = mean_signal(&s, b[v], g, axial, radial);
            else {
                sum = intra * mean_signal(&s, b[v], g, axial, 0);
                if (tissue == HOT_TISSUE_BALL_STICK)
                    sum += (1 - intra) * exp(-b[v] * axial);
                else if (tissue == HOT_TISSUE_STICK_ZEPPELIN)
                    sum += (1 - intra) * mean_signal(&s, b[v], g, axial, radial);
                else
                    sum += (1 - intra) * fiber_signal(b[v], g, direction, radial + (axial - radial) * aligned,
                                                      radial + (axial - radial) * (1 - aligned) / 2);
            }
            signals[v] += scale * sum;
        }
    }
}
