/* Replaces OpenMP's header in builds without OpenMP (HOTFIBER_OPENMP=OFF): one thread, whose number is 0. The compiler
 * then ignores the directives, except those for vectors. */
#pragma once

enum { omp_pause_soft = 1 };
static inline int omp_in_parallel(void) { return 0; }
static inline int omp_get_level(void) { return 0; }
static inline int omp_get_max_active_levels(void) { return 1; }
static inline int omp_get_thread_num(void) { return 0; }
static inline int omp_get_num_threads(void) { return 1; }
static inline int omp_get_num_procs(void) { return 1; }
static inline int omp_get_max_threads(void) { return 1; }
static inline int omp_pause_resource_all(int kind) { return (void)kind, 0; }
