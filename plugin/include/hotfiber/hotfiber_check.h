/* Is a data set what it says: its gradient table, and its volumes. Included by hotfiber.h. */
/* First of all, so that this header, too, can be included alone. */
#include <hotfiber/hotfiber.h>

#ifndef HOTFIBER_CHECK_H
#define HOTFIBER_CHECK_H

/* The gradient tables that are compared: every permutation and every flip of the axes, where flipping all three is
 * flipping none. */
enum { HOT_CHECK_TABLES = 24, HOT_CHECK_NAME = 80, HOT_CHECK_TEXT = 320, HOT_CHECK_LINE = 640 };

typedef enum hot_check_verdict {
    HOT_CHECK_UNSURE = 0, /* the data cannot tell */
    HOT_CHECK_LIKELIEST,  /* no table is clearly likelier than the one given, and at least half of them clearly less */
    HOT_CHECK_WRONG       /* another table is clearly likelier, and clearly likelier than at least half of them */
} hot_check_verdict;

/* Whose axes the names x, y and z stand for. */
typedef enum hot_check_axes {
    HOT_CHECK_IN_BVEC = 0, /* rows of the bvec file */
    HOT_CHECK_IN_TABLE,    /* columns of MRtrix's table: scanner RAS */
    HOT_CHECK_IN_NRRD,     /* numbers of the DWMRI_gradient keys */
    HOT_CHECK_IN_A_BVEC    /* rows of a bvec of this image: a table's or NRRD's own axes are oblique to the image */
} hot_check_axes;

typedef struct hot_check_table {
    char name[HOT_CHECK_NAME]; /* "as given", "x flipped", "y and z swapped", ...: what must be done to the one given */
    char rows[16];             /* x, y and z of the right table in those of the one given: "x, -y, z" */
    int matrix[3][3];          /* the same as a matrix: right = matrix given */
    double z;                  /* how much likelier than the one given, in standard errors; 0 for the one given */
    int told;                  /* 1: it and the one given can be told apart: |z| is beyond the limit, and not because of
                                  one kind of evidence alone */
} hot_check_table;

typedef struct hot_check_gradients {
    size_t size;               /* sizeof(hot_check_gradients), set by the caller */
    hot_check_verdict verdict;
    hot_check_table table[HOT_CHECK_TABLES]; /* most probable first */
    int given;                 /* where the table given is in this list */
    hot_check_axes axes;       /* that its entries speak of */
    double limit;              /* of z: an equally probable table exceeds it by chance three times in a thousand */
    size_t voxels, blocks;     /* that were looked at; blocks of 2 x 2 x 2 of them, which give the standard errors */
    char reason[HOT_CHECK_TEXT]; /* UNSURE: why */
    int tied[HOT_CHECK_TABLES];  /* since 0.3: 1: the data do not separate this one of table[] from table[0] */
} hot_check_gradients;
#define HOT_CHECK_GRADIENTS_INIT HOT_SIZED(hot_check_gradients)

/* Compares the gradient table with the 23 that flips and permutations of the image's axes make of it (in which bvec
 * files are written: this is where tables are usually wrong; on an oblique grid a flip along world axes shows as the
 * same flip of the image's axes). The result speaks of the axes of the file that has the gradients.
 * Fibres run on from voxel to voxel: along a fibre's direction the next voxel has a similar tensor, anisotropy and b=0
 * signal, and its fibre points the same way. A wrong table turns the directions of all voxels alike, so that the
 * tensors are fitted once and only their directions are turned. z: the difference of two tables' coherence, over its
 * standard error from the differences between blocks.
 *
 * mask: where to look (hot_mask_estimate makes one). most: look at about so many voxels, in cubes drawn from the mask
 * (fewer cubes, less exact); 0 = 150000.
 * result: the caller's. Data with too few directions, voxels or fibres are no failure: the verdict is UNSURE.
 * Does not depend on the number of threads. Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DATA (a mask of other sizes),
 * HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED.
 * Source: the idea, with streamlines, Jeurissen et al. 2014 and, without, Schilling et al. 2019. */
HOT_API hot_status hot_check_gradient_table(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, size_t most,
                                            hot_check_gradients *result);

typedef enum hot_check_rows_verdict {
    HOT_CHECK_ROWS_UNSURE = 0, /* no volume contradicts its row, but these data cannot tell whether the directions
                                  belong to the volumes */
    HOT_CHECK_ROWS_AGREE,      /* the rows explain the volumes */
    HOT_CHECK_ROWS_VOLUMES,    /* some volumes contradict their rows */
    HOT_CHECK_ROWS_ORDER,      /* the rows are in another order than the volumes, or many belong to other volumes */
    HOT_CHECK_ROWS_FOREIGN     /* the directions do not belong to these volumes */
} hot_check_rows_verdict;

typedef struct hot_check_rows {
    size_t size;                      /* sizeof(hot_check_rows), set by the caller */
    hot_check_rows_verdict verdict;   /* beyond AGREE: the table is wrong */
    size_t voxels, volumes;           /* that were compared */
    double z;                         /* log-likelihood of the signals minus that with directions permuted within
                                         shells, in standard deviations of the latter; and per voxel, nats */
    double gain;
    size_t series;                    /* the volume from which on all are brighter or darker than before: series that
                                         were joined; 0 = none */
    double brightness;                /* and how much, as a factor; else 0 */
    int *row;                         /* NULL, or room for an int a volume (set by the caller): the row that the volume
                                         looks like, its own without a contradiction, -1 = none */
    char text[HOT_CHECK_LINE];        /* one line: the contradiction, or why the data do not decide; AGREE: empty.
                                         Volumes and rows are counted from 0 */
    char remedy[HOT_CHECK_TEXT];      /* how to correct the table; empty if that is uncertain */
} hot_check_rows;
#define HOT_CHECK_ROWS_INIT HOT_SIZED(hot_check_rows)

/* Compares each volume with its row: the likelihood of its signals given those of the other volumes. The signals of all
 * volumes are a Gaussian process over b-value and direction, with the covariance of randomly oriented tissues; its
 * scales are fitted. A much more probable order of the volumes (rows exchanged, shifted, reversed) is reported. Flips
 * and permutations of axes do not matter here: hot_check_gradient_table compares those, and its verdict is meaningful
 * only if this one is AGREE or UNSURE.
 *
 * mask: where to look; NULL = all voxels. most: look at so many voxels at most, the brighter ones of a sample; 0 =
 * 2000. result: the caller's. Data with too few directions or voxels are no failure: the verdict is UNSURE. Does not
 * depend on the number of threads. Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DATA (a mask of other sizes),
 * HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED.
 * Source: Gaussian processes for diffusion data, Andersson and Sotiropoulos 2015. */
HOT_API hot_status hot_check_volume_rows(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, size_t most,
                                         hot_check_rows *result);

typedef struct hot_check_finding {
    const char *kind;          /* "duplicate_volumes", "b_jitter", ...: static */
    int warning;               /* 0: good to know; 1: something to mend */
    char text[HOT_CHECK_TEXT]; /* one line: what it is and what to do */
} hot_check_finding;

typedef struct hot_check_findings hot_check_findings;

/* Looks for volumes and slices that are damaged, copies of each other, clipped or darker than they should be, for drift
 * of the b=0 signal, and for gaps in the scheme. mask: that of the head (hot_mask_estimate makes one).
 * Owner: the caller, until hot_check_findings_destroy. Errors: HOT_ERROR_DATA (a mask of other sizes),
 * HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_check_volumes(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                                     hot_check_findings **findings);
/* The findings, *count of them; owned by the object. */
HOT_API const hot_check_finding *hot_check_findings_list(const hot_check_findings *findings, size_t *count);
/* The change of the mean b=0 signal over the scan in per cent, and its t (slope over standard error, with the number of
 * b=0 volumes less two degrees of freedom); NaN with fewer than three b=0 volumes, or if all are at one end of it. */
HOT_API void hot_check_findings_drift(const hot_check_findings *findings, double *percent, double *t);
HOT_API void hot_check_findings_destroy(hot_check_findings **findings);

#endif
