/* The kernel families that the checker walks. To add one: family_NAME.c with `const check_family family_NAME`, and a
 * line here. */
#pragma once

#define CHECK_FAMILIES(X) \
    X(forms) \
    X(sshopm) \
    X(directions) \
    X(fit) \
    X(contract) \
    X(fem) \
    X(cpd) \
    X(mttkrp) \
    X(lowrank) \
    X(signal) \
    X(tridiag) \
    X(tridiag_vectors) \
    X(heev) \
    X(denoise) \
    X(msmt)
