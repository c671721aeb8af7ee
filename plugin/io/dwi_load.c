/* hot_dwi_load: which reader. */
#include <string.h>

#include "io/nrrd/nrrdio.h"
#include "plain_numbers.h"
#include "dwi/dwi_private.h"

hot_status hot_dwi_load(hot_context *context, const char *path, const char *bval, const char *bvec, hot_dwi **dwi)
{
    *dwi = NULL;
    if (!path || !path[0])
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a DWI needs a file name");
    size_t length = strlen(path);
    int pair = length > 4 && (strcmp(path + length - 4, ".hdr") == 0 || strcmp(path + length - 4, ".img") == 0);
    int nifti = hot_path_is_nifti(path) || pair;
    if (!nifti && (bval || bvec))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, bval ? "bval" : "bvec",
                                          "bval and bvec files go with NIfTI; '%s' is no .nii or .nii.gz, and NRRD has "
                                          "its gradients within",
                                          path);
    locale_t before = hot_plain_numbers_begin();
    hot_status status = nifti ? hot_dwi_load_nifti(context, path, bval, bvec, dwi)
                              : hot_dwi_load_nrrd(context, path, dwi);
    hot_plain_numbers_end(before);
    return status;
}
