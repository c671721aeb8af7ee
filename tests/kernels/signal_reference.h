/* The part of family_signal.c that compares fits and their evidence with plain formulas. */
#ifndef HOT_TESTS_SIGNAL_REFERENCE_H
#define HOT_TESTS_SIGNAL_REFERENCE_H

#include "checker.h"

void check_signal_reference(check_run *run);

#endif
