/* Index classes of symmetric tensors (Ballard, Kolda, Plantenga 2011, section III): the non-decreasing index tuples in
 * lexicographic order, walked one by one, so that no table is needed whatever the order and the dimension. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <hotfiber/symtensor.h>

#include "common/poll.h"

/* One index class, as its tuple and as runs of equal indices: index of run r is run_index[r], run_length[r] times. */
typedef struct hot_class {
    int order, dim;
    int index[HOT_ORDER_MAX];
    int runs;
    int run_index[HOT_ORDER_MAX], run_length[HOT_ORDER_MAX];
} hot_class;

/* The first class, 0 0 ... 0. */
void hot_class_first(hot_class *self, int order, int dim);
/* The next one in lexicographic order (figure 4 of the paper); 0 after the last. */
int hot_class_next(hot_class *self);
/* m! / (k1! ... kn!), exact: 16! < 2^53. */
double hot_class_multiplicity(const hot_class *self);
/* hot_symtensor_multiplicity and hot_symtensor_hessian_f64 for tensors of any size in a call that can be cancelled;
 * poll: NULL = it cannot. */
void hot_class_multiplicities(hot_poll *poll, int order, int dim, double *multiplicity);
void hot_symtensor_hessian_polled(hot_poll *poll, int order, int dim, const double *tensor, const double *x,
                                  double *hessian);
/* hot_symtensor_count, with the one value of order 0. */
static inline size_t hot_class_count(int order, int dim) { return order == 0 ? 1 : hot_symtensor_count(order, dim); }
/* The places, in a packed tensor of this order, of a sorted tuple of order - 1 indices together with one more index,
 * `first` to dim - 1. */
void hot_class_places(int order, int dim, const int *tuple, int first, uint32_t *places);
/* The first degree - 1 indices of the classes of this degree >= 1 that differ in more than the last one: 4 bits each,
 * the last in the lowest bits; for block_product. Returns how many there are. */
int hot_class_prefixes(int degree, int dim, uint64_t *prefix);
/* Whether order and dimension are within the bounds of the general routines and the count fits. */
int hot_class_valid(int order, int dim);
