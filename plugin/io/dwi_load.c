/* hot_dwi_load: which reader. */
#include "io/common/paths.h"
#include "io/common/plain_numbers.h"
#include "io/fsl/fsl_dwi.h"
#include "io/nrrd/nrrd_dwi.h"

hot_status hot_dwi_load(hot_context *context, const char *path, const char *bval, const char *bvec, hot_dwi **dwi)
{
    *dwi = NULL;
    if (!path || !path[0])
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a DWI needs a file name");
    const int nifti = hot_path_is_nifti(path) || hot_path_has_suffix(path, ".hdr") || hot_path_has_suffix(path, ".img");
    if (!nifti && (bval || bvec))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, bval ? "bval" : "bvec",
                                          "bval and bvec files go with NIfTI; '%s' is no .nii or .nii.gz, and NRRD has "
                                          "its gradients within",
                                          path);
    locale_t before = hot_plain_numbers_begin();
    hot_status status = nifti ? hot_dwi_load_fsl(context, path, bval, bvec, dwi)
                              : hot_dwi_load_nrrd(context, path, dwi);
    hot_plain_numbers_end(before);
    return status;
}
