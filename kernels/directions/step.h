/* The arithmetic of one form of order m on a face of a cube (grid.h): a template, included once per order and type of
 * number; without HOT_ORDER, what all orders share. Compiled as C11 (with vectors, a form per lane) and by nvcc (a form
 * per thread: directions_form<ORDER> in gpu/step.cuh).
 *
 *   #define HOT_ORDER 4        even
 *   #define HOT_STEP(name)     the names made
 *   HOT_V                      float, or a vector of them, one lane per item
 *   HOT_MASK                   what a comparison of two HOT_V gives
 *   HOT_SET HOT_FMA HOT_MAX HOT_SQRT HOT_INVERSE HOT_SELECT HOT_SELECT_MASK HOT_LT HOT_GE HOT_AND HOT_NOT
 *
 * In the gnomonic projection on the face with pivot p the form is g(u, v) = sum c_ij u^i v^j, i + j <= m, and its value
 * on the sphere is F = g q^(-m/2) with q = 1 + u^2 + v^2. c_ij is the packed value times its multiplicity. Coefficients
 * are stored by powers of u, then v: c[HOT_AT(m, i, j)]. */

#ifndef HOT_DIRECTIONS_STEP_COMMON
#define HOT_DIRECTIONS_STEP_COMMON

#include "common/portable.h"

/* Place of u^i v^j among the (m+1)(m+2)/2 coefficients of a face. */
#define HOT_AT(m, i, j) ((i) * ((m) + 1) - (i) * ((i) - 1) / 2 + (j))

/* Place of x^(m-s) y^(s-t) z^t in the packed tensor. */
#define HOT_PACKED(s, t) ((s) * ((s) + 1) / 2 + (t))

/* Place in the packed tensor of the coefficient of u^i v^j on the face of pivot 0, 1, 2. */
#define HOT_FACE(face, m, i, j)                                                                                        \
    ((face) == 0   ? HOT_PACKED((i) + (j), j)                                                                          \
     : (face) == 1 ? HOT_PACKED((m) - (j), i)                                                                          \
                   : HOT_PACKED((m) - (i), (m) - (i) - (j)))

/* Refinement ends when a step is below this (in (u, v), squared): the step after it would be lost in float. */
#define HOT_STEP_DONE 1e-7f
/* A refinement that is still moving by more than this when its steps are used up has found no maximum. */
#define HOT_STEP_LOST 1e-5f
/* The longest step (in (u, v)): a third of the distance between neighbouring maxima at order 8. */
#define HOT_STEP_LONGEST 0.2f
/* A descent smaller than this fraction of F or of the tensor's largest value (which is scaled to 1) is rounding. */
#define HOT_STEP_ROUNDING 4e-6f
enum { HOT_STEPS = 14 };
#endif

#ifdef HOT_ORDER
/* The polynomial in u of one row: r[i] = sum_j c_ij v^j. */
HOT_FN void HOT_STEP(row)(const HOT_V *c, HOT_V v, HOT_V *r)
{
    HOT_UNROLL
    for (int i = 0; i <= HOT_ORDER; i++) {
        HOT_V sum = c[HOT_AT(HOT_ORDER, i, HOT_ORDER - i)];
        HOT_UNROLL
        for (int j = HOT_ORDER - 1; j >= 0; j--)
            if (j < HOT_ORDER - i)
                sum = HOT_FMA(sum, v, c[HOT_AT(HOT_ORDER, i, j)]);
        r[i] = sum;
    }
}

/* g at (u, v) and (-u, v) of a row: even and odd part are shared. u2 = u * u. */
HOT_FN void HOT_STEP(pair)(const HOT_V *r, HOT_V u, HOT_V u2, HOT_V *plus, HOT_V *minus)
{
    HOT_V even = r[HOT_ORDER], odd = r[HOT_ORDER - 1];
    HOT_UNROLL
    for (int i = HOT_ORDER - 2; i >= 0; i -= 2)
        even = HOT_FMA(even, u2, r[i]);
    HOT_UNROLL
    for (int i = HOT_ORDER - 3; i >= 1; i -= 2)
        odd = HOT_FMA(odd, u2, r[i]);
    *plus = HOT_FMA(odd, u, even);
    *minus = HOT_FMA(odd, -u, even);
}

/* g and its derivatives at (u, v): d = g, g_u, g_v, g_uu, g_uv, g_vv. Horner in v for every power of u, with first and
 * second derivatives along, then Horner in u over those. */
HOT_FN void HOT_STEP(derivatives)(const HOT_V *c, HOT_V u, HOT_V v, HOT_V *d)
{
    HOT_V g, gu, gv, guu, guv, gvv; /* guu and gvv halved until the end */
    g = gu = gv = guu = guv = gvv = HOT_SET(0.0f);
    HOT_UNROLL
    for (int i = HOT_ORDER; i >= 0; i--) {
        const int degree = HOT_ORDER - i;
        HOT_V r = c[HOT_AT(HOT_ORDER, i, degree)], r1 = HOT_SET(0.0f), r2 = HOT_SET(0.0f);
        HOT_UNROLL
        for (int j = HOT_ORDER - 1; j >= 0; j--) {
            if (j < degree) {
                if (j + 2 < degree)
                    r2 = HOT_FMA(r2, v, r1);
                else if (j + 2 == degree)
                    r2 = r1;
                if (j + 1 < degree)
                    r1 = HOT_FMA(r1, v, r);
                else
                    r1 = r;
                r = HOT_FMA(r, v, c[HOT_AT(HOT_ORDER, i, j)]);
            }
        }
        if (i + 2 < HOT_ORDER)
            guu = HOT_FMA(guu, u, gu);
        else if (i + 2 == HOT_ORDER)
            guu = gu;
        if (i + 1 < HOT_ORDER)
            gu = HOT_FMA(gu, u, g);
        else if (i + 1 == HOT_ORDER)
            gu = g;
        g = i == HOT_ORDER ? r : HOT_FMA(g, u, r);
        /* r1 is there from degree 1 on, r2 from degree 2 on */
        if (degree >= 2)
            guv = degree == 2 ? gv : HOT_FMA(guv, u, gv);
        if (degree >= 1)
            gv = degree == 1 ? r1 : HOT_FMA(gv, u, r1);
        if (degree >= 2)
            gvv = degree == 2 ? r2 : HOT_FMA(gvv, u, r2);
    }
    d[0] = g;
    d[1] = gu;
    d[2] = gv;
    d[3] = guu + guu;
    d[4] = guv;
    d[5] = gvv + gvv;
}

/* The state of a candidate's refinement. */
typedef struct HOT_STEP(state) {
    HOT_V u, v;     /* the best point so far */
    HOT_V value;    /* F there */
    HOT_V du, dv;   /* the step to try next */
    HOT_V left;     /* its squared length before it was limited */
    HOT_MASK peaked; /* whether the Hessian there is negative definite */
} HOT_STEP(state);

/* F at (u, v), the step from there, whether the Hessian is negative definite, and the step's squared length. Newton's
 * step where the Hessian is negative definite; else the Hessian is shifted until it is (the same cure as SS-HOPM's
 * adaptive shift), so that the step climbs. */
HOT_FN void HOT_STEP(newton)(const HOT_V *c, HOT_V u, HOT_V v, HOT_STEP(state) *s)
{
    const float m = HOT_ORDER;
    HOT_V d[6];
    HOT_STEP(derivatives)(c, u, v, d);
    const HOT_V one = HOT_SET(1.0f);
    const HOT_V p = HOT_INVERSE(HOT_FMA(u, u, HOT_FMA(v, v, one))), mp = p * HOT_SET(m);
    const HOT_V a = u * mp, b = v * mp, k = HOT_SET((m + 2) / m);
    /* derivatives of F over q^(-m/2) */
    const HOT_V fu = HOT_FMA(-a, d[0], d[1]), fv = HOT_FMA(-b, d[0], d[2]);
    const HOT_V ka = k * a, two = HOT_SET(2.0f);
    const HOT_V huu = HOT_FMA(HOT_FMA(ka, a, -mp), d[0], HOT_FMA(-two * a, d[1], d[3]));
    const HOT_V huv = HOT_FMA(ka * b, d[0], HOT_FMA(-b, d[1], HOT_FMA(-a, d[2], d[4])));
    const HOT_V hvv = HOT_FMA(HOT_FMA(k * b, b, -mp), d[0], HOT_FMA(-two * b, d[2], d[5]));
    const HOT_V half = HOT_SET(0.5f);
    const HOT_V mean = (huu + hvv) * half, part = (huu - hvv) * half;
    const HOT_V spread = HOT_SQRT(HOT_FMA(part, part, huv * huv));
    const HOT_V top = mean + spread;
    const HOT_V size = HOT_MAX(mean, -mean) + spread;
    s->peaked = HOT_LT(top, HOT_SET(-1e-4f) * HOT_MAX(d[0], -d[0]));
    const HOT_V shift = HOT_SELECT(HOT_LT(top, HOT_SET(0.0f)), HOT_SET(0.0f), HOT_FMA(size, HOT_SET(0.05f), top));
    const HOT_V suu = huu - shift, svv = hvv - shift;
    const HOT_V inverse = HOT_INVERSE(HOT_MAX(HOT_FMA(suu, svv, -(huv * huv)), HOT_SET(1e-30f)));
    const HOT_V du = HOT_FMA(huv, fv, -(svv * fu)) * inverse, dv = HOT_FMA(huv, fu, -(suu * fv)) * inverse;
    const HOT_V length2 = HOT_FMA(du, du, dv * dv);
    const HOT_V scale = HOT_SELECT(HOT_LT(HOT_SET(HOT_STEP_LONGEST * HOT_STEP_LONGEST), length2),
                                   HOT_SET(HOT_STEP_LONGEST) * HOT_INVERSE(HOT_SQRT(length2)), one);
    s->u = u;
    s->v = v;
    s->du = du * scale;
    s->dv = dv * scale;
    s->left = length2;
    HOT_V power = p;
    HOT_UNROLL
    for (int i = 2; i < HOT_ORDER; i += 2)
        power = power * p;
    s->value = d[0] * power;
}

/* One step of refinement of a state made by HOT_STEP(newton): accepts the next point if F does not fall there, else
 * tries a quarter of the step next. Finished lanes do not change. Returns which are not finished. */
HOT_FN HOT_MASK HOT_STEP(climb)(const HOT_V *c, HOT_STEP(state) *s)
{
    const HOT_MASK moving = HOT_LT(HOT_SET(HOT_STEP_DONE), s->left);
    HOT_STEP(state) next;
    HOT_STEP(newton)(c, s->u + s->du, s->v + s->dv, &next);
    const HOT_MASK up = HOT_GE(next.value, HOT_FMA(HOT_SET(-HOT_STEP_ROUNDING),
                                                   HOT_MAX(HOT_MAX(s->value, -s->value), HOT_SET(1.0f)), s->value));
    const HOT_MASK take = HOT_AND(moving, up), shrink = HOT_AND(moving, HOT_NOT(up));
    const HOT_V quarter = HOT_SELECT(shrink, HOT_SET(0.25f), HOT_SET(1.0f));
    s->u = HOT_SELECT(take, next.u, s->u);
    s->v = HOT_SELECT(take, next.v, s->v);
    s->value = HOT_SELECT(take, next.value, s->value);
    s->du = HOT_SELECT(take, next.du, s->du * quarter);
    s->dv = HOT_SELECT(take, next.dv, s->dv * quarter);
    s->left = HOT_SELECT(take, next.left, s->left * quarter * quarter);
    s->peaked = HOT_SELECT_MASK(take, next.peaked, s->peaked);
    return HOT_AND(moving, HOT_LT(HOT_SET(HOT_STEP_DONE), s->left));
}
#endif
