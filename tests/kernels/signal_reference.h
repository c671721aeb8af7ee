/* The part of family_signal.c that compares fits and their evidence with plain formulas, and
 * where signals come from. */
#pragma once

#include "checker.h"

void check_signal_reference(check_run *run);
void check_signal_source(check_run *run); /* not on arrays in a GPU's memory */
