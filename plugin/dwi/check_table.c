/* The names of gradient tables, relative to the given one and in the axes of its file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "frames.h"

/* Columns: the axes that the gradients are written in, in the world. */
static void written_axes(const hot_dwi *dwi, double axes[3][3])
{
    double sign[3];
    switch (dwi->gradients_in) {
    case HOT_GRADIENTS_IN_BVEC:
        hot_grid_bvec_frame(&dwi->grid, axes);
        return;
    case HOT_GRADIENTS_IN_IMAGE:
        hot_grid_image_axes(&dwi->grid, axes);
        return;
    case HOT_GRADIENTS_IN_NRRD:
        memcpy(axes, dwi->frame, sizeof dwi->frame);
        return;
    case HOT_GRADIENTS_IN_SCHEME:
        break;
    }
    hot_space_ras_sign(dwi->grid.space, sign);
    memset(axes, 0, 9 * sizeof(double));
    for (int d = 0; d < 3; d++)
        axes[d][d] = sign[d];
}

/* A table's matrix, rotated from the image's axes to others. Returns 0 if these are so oblique to the image's that it
 * is not a flip or permutation there. */
static int turn(const hot_grid *grid, const int matrix[3][3], const double axes[3][3], int turned[3][3])
{
    double image[3][3], to[3][3] = {{0}}, exact[3][3] = {{0}};
    hot_grid_image_axes(grid, image);
    for (int n = 0; n < 27; n++)
        to[n / 9][n / 3 % 3] += axes[n % 3][n / 9] * image[n % 3][n / 3 % 3];
    for (int n = 0; n < 81; n++)
        exact[n / 27][n / 9 % 3] += to[n / 27][n / 3 % 3] * matrix[n / 3 % 3][n % 3] * to[n / 9 % 3][n % 3];
    for (int r = 0; r < 3; r++) {
        int whole = 0;
        for (int c = 0; c < 3; c++) {
            turned[r][c] = (int)lround(exact[r][c]);
            whole += abs(turned[r][c]) == 1 && fabs(exact[r][c] - turned[r][c]) < 0.02;
        }
        if (whole != 1)
            return 0;
    }
    return 1;
}

int hot_check_describe(const hot_dwi *dwi, int number, hot_check_table *table)
{
    static const char letter[] = "xyz";
    double axes[3][3];
    int matrix[3][3], place[3] = {0, 1, 2}, sign[3] = {1, 1, 1}, minus = 0, moved = 0, first = -1;
    hot_check_table_matrix(number, matrix);
    written_axes(dwi, axes);
    const int written = turn(&dwi->grid, matrix, axes, table->matrix);
    if (!written) {
        hot_grid_bvec_frame(&dwi->grid, axes);
        turn(&dwi->grid, matrix, axes, table->matrix);
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            if (table->matrix[r][c]) {
                place[r] = c;
                sign[r] = table->matrix[r][c];
                minus += sign[r] < 0;
            }
    for (int r = 0; r < 3; r++) {
        sign[r] = minus > 1 ? -sign[r] : sign[r]; /* a vector and its opposite are one gradient */
        table->matrix[r][place[r]] = sign[r];
        first = sign[r] < 0 ? r : first;
        moved += place[r] != r;
    }
    snprintf(table->rows, sizeof table->rows, "%s%c, %s%c, %s%c", sign[0] < 0 ? "-" : "", letter[place[0]],
             sign[1] < 0 ? "-" : "", letter[place[1]], sign[2] < 0 ? "-" : "", letter[place[2]]);
    char flip[24] = "";
    if (first >= 0)
        snprintf(flip, sizeof flip, "%s%c flipped", moved ? ", then " : "", letter[first]);
    const char *where = written ? "" : " in a bvec's axes";
    if (moved == 3)
        snprintf(table->name, sizeof table->name, "x y z replaced by %c %c %c%s%s", letter[place[0]], letter[place[1]],
                 letter[place[2]], flip, where);
    else if (moved == 2)
        snprintf(table->name, sizeof table->name, "%c and %c swapped%s%s", place[0] != 0 ? 'x' : 'y',
                 place[2] != 2 ? 'z' : 'y', flip, where);
    else
        snprintf(table->name, sizeof table->name, "%s%s", first >= 0 ? flip : "as given", first >= 0 ? where : "");
    return written;
}

/* The first NAMED of the tables that are listed, the others counted. Returns how many there are. */
static int name_tables(const hot_check_gradients *check, const int *listed, int rows, char *text, size_t size)
{
    enum { NAMED = 4 };
    const char *const between = rows ? " or " : "; or ";
    int count = 0;
    size_t length = 0;
    text[0] = '\0';
    for (int n = 0; n < HOT_CHECK_TABLES; n++)
        if (listed[n] && count++ < NAMED && length < size)
            length += (size_t)snprintf(text + length, size - length, "%s%s", count == 1 ? "" : between,
                                       rows ? check->table[n].rows : check->table[n].name);
    if (count > NAMED && length < size)
        snprintf(text + length, size - length, "%sone of %d more", between, count - NAMED);
    return count;
}

int hot_check_name_ties(const hot_check_gradients *check, int rows, char *text, size_t size)
{
    return name_tables(check, check->tied, rows, text, size);
}

int hot_check_name_alike(const hot_check_gradients *check, char *text, size_t size)
{
    int listed[HOT_CHECK_TABLES];
    for (int n = 0; n < HOT_CHECK_TABLES; n++)
        listed[n] = n != check->given && !check->table[n].told;
    return name_tables(check, listed, 0, text, size);
}
