#include "frames.h"

#include <math.h>

double hot_determinant(const double m[3][3])
{
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

void hot_inverse_transpose(const double m[3][3], double out[3][3])
{
    /* The cofactors over the determinant. */
    double determinant = hot_determinant(m);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            out[r][c] = (m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1]) / determinant;
        }
}

void hot_grid_image_axes(const hot_grid *grid, double frame[3][3])
{
    for (int c = 0; c < 3; c++) {
        double length = 0;
        for (int r = 0; r < 3; r++)
            length += grid->to_world[r][c] * grid->to_world[r][c];
        for (int r = 0; r < 3; r++)
            frame[r][c] = grid->to_world[r][c] / sqrt(length);
    }
    /* Orthogonal up to rounding: unchanged, so that no digits are lost. Else the polar factor, by Newton's iteration
     * X <- (X + X^-T) / 2 (Higham 1986), which converges quadratically. */
    for (int step = 0; step < 50; step++) {
        double inverse[3][3], change = 0;
        hot_inverse_transpose(frame, inverse);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                change = fmax(change, fabs(inverse[r][c] - frame[r][c]));
        if (change < 1e-14)
            break;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                frame[r][c] = (frame[r][c] + inverse[r][c]) / 2;
    }
}

void hot_grid_bvec_frame(const hot_grid *grid, double frame[3][3])
{
    double sign[3];
    hot_grid_image_axes(grid, frame);
    hot_space_ras_sign(grid->space, sign);
    if (hot_determinant(frame) * sign[0] * sign[1] * sign[2] > 0)
        for (int r = 0; r < 3; r++)
            frame[r][0] = -frame[r][0];
}
