#include "nrrd_frame.h"

#include <math.h>

int hot_nrrd_get_frame(const Nrrd *nrrd, double frame[3][3])
{
    int differs = 0;
    if (nrrd->spaceDim != 3 || !airExists(nrrd->measurementFrame[0][0]))
        return 0;
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            frame[row][column] = nrrd->measurementFrame[column][row]; /* NRRD lists the vectors one after the other */
            if (!isfinite(frame[row][column]))
                return 0;
            differs |= frame[row][column] != (row == column);
        }
    return differs;
}

void hot_nrrd_set_identity_frame(Nrrd *nrrd)
{
    for (unsigned int i = 0; i < 3; i++)
        for (unsigned int j = 0; j < 3; j++)
            nrrd->measurementFrame[i][j] = i == j;
}
