/* Replaces libcuda.so.1 by a driver with which nothing works. HOT_NO_CUDA=N is the result of cuInit (CUresult): 100 no
 * device, 2 out of memory, 46 busy, 719 lost, 803 of another version than the kernel's module, 999 unknown.
 * HOT_NO_CUDA_SEEN: a file that is made when a program has loaded this. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("HOT_NO_CUDA_SEEN");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file)
        fclose(file);
}

static int result(void)
{
    const char *text = getenv("HOT_NO_CUDA");
    return text ? atoi(text) : 100;
}

#define SHOWN __attribute__((visibility("default")))
SHOWN int cuInit(unsigned int flags);
SHOWN int cuDriverGetVersion(int *version);
SHOWN int cuGetProcAddress(const char *name, void **function, int version, unsigned long flags);
SHOWN int cuGetProcAddress_v2(const char *name, void **function, int version, unsigned long flags, int *status);
SHOWN int cuDeviceGetCount(int *count);

int cuInit(unsigned int flags)
{
    (void)flags;
    return result();
}

int cuDriverGetVersion(int *version)
{
    *version = getenv("HOT_NO_CUDA_VERSION") ? atoi(getenv("HOT_NO_CUDA_VERSION")) : 13000;
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = 0;
    return result();
}

/* Every requested function fails in the same way. */
static int fails(void) { return result(); }

int cuGetProcAddress(const char *name, void **function, int version, unsigned long flags)
{
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}

int cuGetProcAddress_v2(const char *name, void **function, int version, unsigned long flags, int *status)
{
    (void)version, (void)flags;
    *function = (void *)fails;
    if (name[0] == 'c' && name[1] == 'u' && name[2] == 'D' && name[3] == 'r')
        *function = (void *)cuDriverGetVersion;
    else if (name[2] == 'I' && name[3] == 'n' && name[4] == 'i' && name[5] == 't' && !name[6])
        *function = (void *)cuInit;
    if (status)
        *status = 0;
    return 0;
}
