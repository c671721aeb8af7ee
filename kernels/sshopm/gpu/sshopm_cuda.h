/* The CUDA backend's device level: everything already on the GPU. For the host-level backend, for benchmarks, and for
 * kernels that go on from the results. */
#ifndef HOT_SSHOPM_CUDA_H
#define HOT_SSHOPM_CUDA_H

#include "common/cuda_status.h"
#include "sshopm/sshopm_args.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hot_sshopm_design {
    HOT_DESIGN_AUTO = 0, /* the fastest that does what the plan asks; the others are run as they are asked for */
    HOT_DESIGN_GENERAL,  /* a thread per start; any shape, precision, shift */
    HOT_DESIGN_CHART,    /* every start iterated in a chart, lanes refilled as they converge. Dimension 3, orders
                            4 6 8, float, no shift */
    HOT_DESIGN_CAPTURE   /* maxima first; a start goes on until it is in the cone of one (basin.h). As CHART,
                            with at most 1024 starts; of batches of up to 2^18 starts AUTO takes CHART, which is
                            faster there */
} hot_sshopm_design;

/* What the kernels need of a shape, made once: on the device. */
typedef struct hot_sshopm_tables {
    double *multiplicity;   /* unique */
    unsigned char *index;   /* unique x order: the index tuple of each class */
    int processors;         /* of the GPU that they are on */
    float *chart;           /* unique x chart terms, then the multiplicities; NULL unless dimension 3, order 4 6 8 */
    void *room;             /* for what a launch leaves to its second kernel: hot_sshopm_tables_room; may be NULL */
    size_t room_bytes;
} hot_sshopm_tables;

hot_status hot_sshopm_tables_create(hot_context *context, int order, int dim, hot_sshopm_tables *tables);
void hot_sshopm_tables_destroy(hot_sshopm_tables *tables);

/* Gets the room that launches of HOT_DESIGN_CAPTURE of up to plan->count tensors can use. Two launches that run at once
 * need tables of their own. */
hot_status hot_sshopm_tables_room(hot_context *context, const hot_sshopm_args *args, hot_sshopm_tables *tables);

/* Launches the plan, whose pointers are all on the device, on `stream` (a cudaStream_t; NULL = the default one).
 * `start` holds unit vectors. Returns when launched. HOT_ERROR_ARGUMENT when the design cannot do what the plan
 * asks. */
hot_status hot_sshopm_launch(hot_context *context, const hot_sshopm_args *args, const hot_sshopm_tables *tables,
                             hot_sshopm_design design, void *stream);

#ifdef __cplusplus
}
#endif
#endif
