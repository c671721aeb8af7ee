/* See paper.h. Seconds are those that the papers state in tables and text; figures without numbers have none. Times
 * derived from a stated share of a bound are marked "derived". */
#include "paper.h"

#define NO_CPU 0, 0
#define SSHOPM(count, steps, on, name, card, seconds, one_core, cores) \
    {PAPER_SSHOPM, 3, count, steps, on, "Ballard, " name, card, seconds, one_core, cores}
#define HEEV(n, count, on, name, card, seconds) \
    {PAPER_HEEV, n, count, 0, on, "Cosnuau, " name, card, seconds, NO_CPU}
#define TRIDIAG(n, digits, name, card, seconds) \
    {PAPER_TRIDIAG, n, 1, digits, PAPER_BOTH, "Lessig, " name, card, seconds, NO_CPU}
/* figure 3: above 90 % of 2 n^3 flops in the time that 32 n^2 bytes take at 180 GB/s */
#define PRODUCTS(n, on) \
    {PAPER_PRODUCTS, n, 100000, 0, on, "Abdelfattah, figure 3: 100,000 of " #n " x " #n, "K40c, derived", \
     32. * (n) * (n) * 1e5 / 180e9 / .9, NO_CPU}
#define MASS(order, dim) \
    {PAPER_ACTION, order, 0, dim, PAPER_BOTH, "Abdelfattah, U = M V: " #dim "-D, p = " #order, NULL, 0, NO_CPU}, \
    {PAPER_ASSEMBLY, order, 0, dim, PAPER_BOTH, "Abdelfattah, M = B^T D B: " #dim "-D, p = " #order, NULL, 0, NO_CPU}
#define CUBE(n, on) \
    {PAPER_MTTKRP, n, 1, 1, on, "Liu, figure 3: side " #n ", mode 1", NULL, 0, NO_CPU}, \
    {PAPER_MTTKRP, n, 1, 2, on, "Liu, figure 3: side " #n ", mode 2", NULL, 0, NO_CPU}, \
    {PAPER_MTTKRP, n, 1, 3, on, "Liu, figure 3: side " #n ", mode 3", NULL, 0, NO_CPU}, \
    {PAPER_CP, n, 1, 10, on, "Liu, figure 4: side " #n ", ten iterations", NULL, 0, NO_CPU}

const paper_case paper_cases[] = {
    SSHOPM(1024, 0, PAPER_BOTH, "table III: 1,024 tensors, to the stop", "Tesla C2050", 1.9e-3, 289e-3, 61e-3),
    SSHOPM(1024, 50, PAPER_BOTH, "table III: 1,024 tensors, 50 steps", NULL, 0, 0, 0),
    SSHOPM(16, 50, PAPER_BOTH, "figure 5: 16 tensors, 50 steps", NULL, 0, 0, 0),
    SSHOPM(64, 50, PAPER_BOTH, "figure 5: 64 tensors, 50 steps", NULL, 0, 0, 0),
    SSHOPM(256, 50, PAPER_BOTH, "figure 5: 256 tensors, 50 steps", NULL, 0, 0, 0),
    SSHOPM(65536, 50, PAPER_GPU, "beyond figure 5: 65,536 tensors, 50 steps", NULL, 0, 0, 0),
    SSHOPM(1048576, 50, PAPER_GPU, "beyond figure 5: 1,048,576 tensors, 50 steps", NULL, 0, 0, 0),
    SSHOPM(1048576, 0, PAPER_GPU, "beyond figure 5: 1,048,576 tensors, to the stop", NULL, 0, 0, 0),
    HEEV(64, 1, PAPER_BOTH, "table 1: 64 x 1", "Fermi M2070", 13.2e-3),
    HEEV(128, 1, PAPER_BOTH, "table 1: 128 x 1", "Fermi M2070", 51.5e-3),
    HEEV(256, 1, PAPER_BOTH, "table 1: 256 x 1", "Fermi M2070", 228e-3),
    HEEV(512, 1, PAPER_BOTH, "table 1: 512 x 1", "Fermi M2070", 1113e-3),
    HEEV(64, 180, PAPER_BOTH, "table 2: 64 x 180", "Fermi M2070", 45.1e-3),
    HEEV(128, 180, PAPER_BOTH, "table 2: 128 x 180", "Fermi M2070", 263.9e-3),
    HEEV(256, 180, PAPER_GPU, "table 2: 256 x 180", "Fermi M2070", 1979.8e-3),
    HEEV(512, 180, PAPER_GPU, "table 2: 512 x 180", "Fermi M2070", 15183.5e-3),
    HEEV(128, 180, PAPER_GPU, "its application: 128 x 180", "K20", 193.54e-3),
    TRIDIAG(512, 5, "one block: n 512, to 1e-5", NULL, 0),
    TRIDIAG(2048, 5, "default output: n 2,048, to 1e-5", "its card, not named", 11.679418e-3),
    TRIDIAG(4096, 3, "example of the flags: n 4,096, to 1e-3", NULL, 0),
    PRODUCTS(4, PAPER_BOTH), PRODUCTS(8, PAPER_BOTH), PRODUCTS(12, PAPER_BOTH), PRODUCTS(16, PAPER_BOTH),
    PRODUCTS(24, PAPER_GPU), PRODUCTS(32, PAPER_GPU),
    MASS(2, 2), MASS(4, 2), MASS(8, 2), MASS(2, 3), MASS(4, 3), MASS(8, 3),
    CUBE(100, PAPER_BOTH), CUBE(200, PAPER_BOTH), CUBE(400, PAPER_GPU), CUBE(800, PAPER_GPU), CUBE(1200, PAPER_GPU),
};
const size_t paper_case_count = sizeof paper_cases / sizeof paper_cases[0];
