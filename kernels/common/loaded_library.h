/* Libraries that are loaded when they are wanted, and not with every program. */
#pragma once

#include <dlfcn.h>
#include <string.h>

/* By its soname, or, as it may be on no search path, from where the build found it; NULL: it is not there. A path that
 * is not absolute is not tried: it would name a file of the current folder, among data of anybody. */
static inline void *hot_library_load(const char *name, const char *path)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    return library || path[0] != '/' ? library : dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Stores the address of a function or variable in *pointer; 0: the library has no such name. */
static inline int hot_library_find(void *library, const char *name, void *pointer)
{
    void *const address = dlsym(library, name);
    memcpy(pointer, &address, sizeof address);
    return address != NULL;
}
