/* hot_dwi_load: which reader. */
#include "dwi_image.h"
#include "dwi_load.h"
#include "io/common/plain_numbers.h"
#include "io/nrrd/nrrd_dwi.h"

hot_status hot_dwi_load_sample(hot_context *context, const char *path, const char *bval, const char *bvec,
                               hot_dwi_sample *sample, hot_dwi **dwi)
{
    hot_input input;
    *dwi = NULL;
    if (!path || !path[0])
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a DWI needs a file name");
    locale_t before = hot_plain_numbers_begin();
    hot_status status = hot_input_open(context, path, &input);
    if (status == HOT_OK && input.kind == HOT_FILE_NRRD && (bval || bvec))
        status = hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, bval ? "bval" : "bvec",
                                            "gradient tables go with NIfTI and MIF; '%s' is NRRD, which has its "
                                            "gradients within", path);
    else if (status == HOT_OK)
        status = input.kind == HOT_FILE_NRRD ? hot_dwi_load_nrrd(context, &input, sample, dwi)
                                             : hot_dwi_load_image(context, &input, bval, bvec, sample, dwi);
    hot_input_close(context, &input);
    hot_plain_numbers_end(before);
    return status;
}

hot_status hot_dwi_load(hot_context *context, const char *path, const char *bval, const char *bvec, hot_dwi **dwi)
{
    return hot_dwi_load_sample(context, path, bval, bvec, NULL, dwi);
}
