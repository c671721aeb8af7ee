#include "sh_basis.h"

#include <string.h>

static const char *const names[] = {"tournier07", "descoteaux07", "descoteaux07_legacy"};
enum { BASES = sizeof names / sizeof names[0], LMAX = 12 };

int hot_sh_basis_find(const char *name, hot_sh_basis *basis)
{
    for (int i = 0; i < BASES; i++)
        if (strcmp(names[i], name) == 0) {
            *basis = (hot_sh_basis)i;
            return 1;
        }
    return 0;
}

const char *hot_sh_basis_name(hot_sh_basis basis) { return names[basis]; }

/* With Y(l, m) the complex harmonic, ours are sqrt(2) Im Y(l, |m|) for m < 0 and sqrt(2) Re Y(l, m) for m > 0.
 * Descoteaux et al. 2007 have sqrt(2) Re Y(l, m) for m < 0 and sqrt(2) Im Y(l, m) for m > 0; Y(l, -m) is (-1)^m times
 * the conjugate of Y(l, m). DIPY's older form takes |m| there, which leaves the sign out. */
void hot_sh_basis_map(hot_sh_basis basis, int lmax, size_t *place, double *sign)
{
    for (int l = 0; l <= lmax; l += 2)
        for (int m = -l; m <= l; m++) {
            const size_t middle = (size_t)(l * (l + 1) / 2), ours = (size_t)((int)middle + m);
            place[ours] = basis == HOT_SH_TOURNIER07 ? ours : (size_t)((int)middle - m);
            sign[ours] = basis == HOT_SH_DESCOTEAUX07 && m > 0 && m % 2 != 0 ? -1 : 1;
        }
}

int hot_sh_lmax(size_t count)
{
    for (int l = 2; l <= LMAX; l += 2)
        if (count == (size_t)((l + 1) * (l + 2) / 2))
            return l;
    return 0;
}
