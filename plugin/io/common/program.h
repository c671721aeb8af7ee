/* Programs of this package that another one starts. */
#pragma once

#include <limits.h>

#include <hotfiber/context.h>

/* The full path of a program: in the folder of the running one, in bin/ near the library that this code is in, or in a
 * folder of PATH. Relative folders of PATH are passed over. Returns 0 if it is nowhere; path is then "". */
HOT_API int hot_program_find(const char *name, char path[PATH_MAX]);
