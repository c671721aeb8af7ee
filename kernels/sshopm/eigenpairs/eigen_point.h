/* One tensor's critical points in double: climbing, Newton's correction, polishing, classification. For eigenpairs.c */
#pragma once

#include "common/poll.h"
#include "sshopm/sshopm_args.h"

/* A tensor whose scale is in [1, 2). */
typedef struct hot_eigen_tensor {
    int order, dim;
    const double *values;
    double scale;
    hot_shift shift; /* how to climb */
    double alpha;    /* fixed shift, scaled as the tensor is */
    int max_iterations;
    hot_poll *poll;  /* the thread's */
} hot_eigen_tensor;

/* A point and what the tensor does there. */
typedef struct hot_eigen_point {
    double x[HOT_DIM_MAX];
    double gradient[HOT_DIM_MAX];               /* A x^(m-1) */
    double hessian[HOT_DIM_MAX * HOT_DIM_MAX];  /* A x^(m-2) */
    double lambda, residual;
    /* after hot_eigen_classify: */
    int kind;       /* 1 maximum, -1 minimum, 0 saddle or degenerate */
    int degenerate; /* a tangent eigenvalue is zero within rounding */
    int descents;   /* how many tangent directions go down */
    double rise[HOT_DIM_MAX]; /* the tangent direction along which the form rises most, or falls least; unit */
} hot_eigen_point;

/* Fills the point from its x, which is normalised first. */
void hot_eigen_evaluate(const hot_eigen_tensor *tensor, hot_eigen_point *point);
/* SS-HOPM up (sign 1) or down (-1) from the point, ended by Newton steps where the form is concave (convex). */
void hot_eigen_climb(const hot_eigen_tensor *tensor, int sign, hot_eigen_point *point);
/* Newton's correction (Jaffe, Weiss, Nadler 2018): to whatever critical point attracts. 0 when it did not converge. */
int hot_eigen_newton(const hot_eigen_tensor *tensor, hot_eigen_point *point);
/* Newton steps for as long as they make the residual smaller. */
void hot_eigen_polish(const hot_eigen_tensor *tensor, hot_eigen_point *point);
/* Classifies the critical point by the eigenvalues of the Hessian on the tangent space. */
void hot_eigen_classify(const hot_eigen_tensor *tensor, hot_eigen_point *point);
