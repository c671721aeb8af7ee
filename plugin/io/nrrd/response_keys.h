/* The single-fibre response in the keys of a NRRD: tensors and directions come with the one that they belong to. */
#pragma once

#include <teem/nrrd.h>

#include "core/fields.h"

/* The value of a key, *text NULL when it is absent; free with hot_context_free. */
hot_status hot_nrrd_find_key(hot_context *context, const Nrrd *nrrd, const char *key, char **text);

/* Sets hotfiber_response (zonal coefficients, rows separated by ;) and hotfiber_response_b; NULL = none. */
hot_status hot_nrrd_set_response(hot_context *context, Nrrd *nrrd, const hot_response *response);
/* Reads them; without the keys *response does not change. Errors: HOT_ERROR_FORMAT, HOT_ERROR_MEMORY. */
hot_status hot_nrrd_get_response(hot_context *context, const char *path, const Nrrd *nrrd, hot_response **response);
