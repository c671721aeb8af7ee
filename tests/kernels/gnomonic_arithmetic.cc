/* The templates of kernels/sshopm/gpu/gnomonic_step.cuh for the CPU, with names for C. */
#include "sshopm/gpu/gnomonic_step.cuh"

namespace {

/* The residual of the step from (u, v), and over lambda. */
template <int ORDER> void judge(const float *c, float u, float v, float *residual, float *turn)
{
    float to_u = u, to_v = v, gz;
    gnomonic_step<ORDER>(c, &to_u, &to_v, &gz);
    const hot_motion m = gnomonic<ORDER>::motion(0, 0, u, v, to_u, to_v, gz);
    *residual = sqrtf(m.residual2);
    *turn = sqrtf(m.turn2);
}

template <int ORDER> void step(const float *c, float *u, float *v)
{
    float gz;
    gnomonic_step<ORDER>(c, u, v, &gz);
}

} // namespace

extern "C" {

float gnomonic_test_polynomial(int order, const float *c, float u, float v)
{
    return order == 4   ? gnomonic<4>::polynomial(c, u, v)
           : order == 6 ? gnomonic<6>::polynomial(c, u, v)
                        : gnomonic<8>::polynomial(c, u, v);
}

void gnomonic_test_step(int order, const float *c, float *u, float *v)
{
    (order == 4 ? step<4> : order == 6 ? step<6> : step<8>)(c, u, v);
}

void gnomonic_test_judge(int order, const float *c, float u, float v, float *residual, float *turn)
{
    (order == 4 ? judge<4> : order == 6 ? judge<6> : judge<8>)(c, u, v, residual, turn);
}

float gnomonic_test_shift(int order, const float *tensor, const float *x)
{
    return order == 4   ? gnomonic<4>::shift(tensor, x[0], x[1], x[2])
           : order == 6 ? gnomonic<6>::shift(tensor, x[0], x[1], x[2])
                        : gnomonic<8>::shift(tensor, x[0], x[1], x[2]);
}

float gnomonic_test_least_eigenvalue(const float *h) { return sshopm_step3<4>::min_eigenvalue(h); }
}
