/* Loaded into mrview (LD_PRELOAD) by view_mrview.py: how often it draws. Every call of glDrawElements is counted, the
 * pointer to which programs get from the GLX library; the number is written to $COUNT_DRAWS at the end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*function)(void);
typedef function (*resolver)(const unsigned char *);
typedef void (*draw_elements)(unsigned, int, unsigned, const void *);

static draw_elements real_draw;
static long draws;

static void counted(unsigned mode, int count, unsigned type, const void *indices)
{
    draws++;
    real_draw(mode, count, type, indices);
}

static function resolve(const char *by, const unsigned char *name)
{
    resolver real = (resolver)dlsym(RTLD_NEXT, by);
    function found = real ? real(name) : NULL;
    if (!found || strcmp((const char *)name, "glDrawElements") != 0)
        return found;
    real_draw = (draw_elements)found;
    return (function)counted;
}

function glXGetProcAddress(const unsigned char *name) { return resolve("glXGetProcAddress", name); }
function glXGetProcAddressARB(const unsigned char *name) { return resolve("glXGetProcAddressARB", name); }

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("COUNT_DRAWS");
    FILE *file = path && draws ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", draws);
        fclose(file);
    }
}
