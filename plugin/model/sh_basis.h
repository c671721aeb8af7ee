/* The bases in which programs store real spherical harmonics of even degree, against that of symtensor.h (MRtrix's).
 * All have the same harmonics up to order and sign within a degree. */
#pragma once

#include <hotfiber/status.h>
#include <stddef.h>

typedef enum hot_sh_basis {
    HOT_SH_TOURNIER07,         /* MRtrix 3 */
    HOT_SH_DESCOTEAUX07,       /* DIPY with legacy=False */
    HOT_SH_DESCOTEAUX07_LEGACY /* DIPY's default */
} hot_sh_basis;

/* The basis of this name; 0 if unknown. */
int hot_sh_basis_find(const char *name, hot_sh_basis *basis);
const char *hot_sh_basis_name(hot_sh_basis basis);

/* ours[i] = sign[i] * theirs[place[i]], and theirs[place[i]] = sign[i] * ours[i], for the coefficients up to degree
 * lmax: (lmax + 1)(lmax + 2) / 2 of each. */
void hot_sh_basis_map(hot_sh_basis basis, int lmax, size_t *place, double *sign);

/* The even lmax, up to 12, with `count` coefficients; 0 if none has. */
int hot_sh_lmax(size_t count);
