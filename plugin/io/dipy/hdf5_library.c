/* See hdf5_library.h. */
#define HOT_HDF5_NAMES_ALONE
#include "io/dipy/hdf5_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

hot_hdf5 hot_hdf5_loaded;
static int complete;

/* An address, into a pointer to what is there. */
static int find(void *library, const char *name, void *pointer)
{
    void *const address = dlsym(library, name);
    memcpy(pointer, &address, sizeof address);
    return address != NULL;
}

static void load(void)
{
    void *library = dlopen(HOT_HDF5_NAME, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = dlopen(HOT_HDF5_PATH, RTLD_NOW | RTLD_LOCAL); /* it may be on no search path */
    if (!library)
        return;
    int found = 1;
#define FIND(name) found &= find(library, #name, &hot_hdf5_loaded.name);
    HOT_HDF5_FUNCTIONS(FIND)
    HOT_HDF5_NUMBERS(FIND)
#undef FIND
    complete = found;
}

hot_status hot_hdf5_load(hot_context *context)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return complete ? HOT_OK : hot_context_fail(context, HOT_ERROR_FILE, "cannot load %s, which writes HDF5's files",
                                                HOT_HDF5_NAME);
}
