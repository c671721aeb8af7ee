#include "libraries.h"

#include <zlib.h>

#include "io/nrrd/nrrd_image.h"

const char *hot_library_teem(void) { return hot_nrrd_teem_version(); }

const char *hot_library_zlib(void) { return zlibVersion(); }
