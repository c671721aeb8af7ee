/* hot_dwi_load: which reader. */
#include "common/arguments.h"
#include "core/memory.h"
#include "common/entry.h"
#include "dwi_image.h"
#include "dwi_load.h"
#include "io/nrrd/nrrd_dwi.h"

hot_status hot_dwi_load_sample(hot_context *context, const char *path, const char *bval, const char *bvec,
                               hot_dwi_sample *sample, hot_dwi **dwi)
{
    hot_input input;
    *dwi = NULL;
    if (!path || !path[0])
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a DWI needs a file name");
    hot_status status = hot_input_open(context, path, &input);
    if (status == HOT_OK && input.kind == HOT_FILE_NRRD && (bval || bvec))
        status = hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, bval ? "bval" : "bvec",
                                            "gradient tables go with NIfTI and MIF; '%s' is NRRD, which has its "
                                            "gradients within", path);
    else if (status == HOT_OK)
        status = input.kind == HOT_FILE_NRRD ? hot_dwi_load_nrrd(context, &input, sample, dwi)
                                             : hot_dwi_load_image(context, &input, bval, bvec, sample, dwi);
    hot_input_close(context, &input);
    return status;
}

hot_status hot_dwi_load(hot_context *context, const char *path, const char *bval, const char *bvec, hot_dwi **dwi)
{
    HOT_ENTRY(context);
    HOT_CLEAR(dwi);
    HOT_NEED(context, path, dwi);
    return hot_dwi_load_sample(context, path, bval, bvec, NULL, dwi);
}

hot_status hot_dwi_load_within(hot_context *context, const char *path, const char *bval, const char *bvec,
                               size_t memory, const char *output, hot_dwi **dwi)
{
    /* OURS: the program and its tables. Results need about half as much memory as the data. */
    enum { OURS = 160 << 20, MIN_WINDOW = 1 << 16, MAX_WINDOW = 256 << 20 };
    char folder[HOT_MEMORY_FOLDER];
    const size_t most = hot_memory_bound(context, memory, output, folder), window = most / 16;
    hot_dwi_sample within = {
        .small = most > OURS ? (size_t)((double)(most - OURS) / 1.6) : 0,
        .window = window < MIN_WINDOW ? MIN_WINDOW : window > MAX_WINDOW ? MAX_WINDOW : window,
        .scratch = folder};
    return hot_dwi_load_sample(context, path, bval, bvec, &within, dwi);
}
