/* See hdf5_library.h. */
#define HOT_HDF5_NAMES_ALONE
#include "io/dipy/hdf5_library.h"

#include <pthread.h>

#include "common/loaded_library.h"

hot_hdf5 hot_hdf5_loaded;
static int complete;

static void load(void)
{
    void *library = hot_library_load(HOT_HDF5_NAME, HOT_HDF5_PATH);
    if (!library)
        return;
    int found = 1;
#define FIND(name) found &= hot_library_find(library, #name, &hot_hdf5_loaded.name);
    HOT_HDF5_FUNCTIONS(FIND)
    HOT_HDF5_NUMBERS(FIND)
#undef FIND
    complete = found;
}

hot_status hot_hdf5_load(hot_context *context)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return complete ? HOT_OK : hot_context_fail(context, HOT_ERROR_FILE, "cannot load %s, which .pam5 files need: "
                                                "install %s", HOT_HDF5_NAME, HOT_HDF5_INSTALL);
}
