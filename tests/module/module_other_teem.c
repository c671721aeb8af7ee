/* A host that carries another version of Teem, whose symbols come before those of the library that the module was built
 * with: the module must not trust structs that may differ, and says what to do instead. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The dynamic linker finds these first: this program is linked with -rdynamic. */
__attribute__((visibility("default"))) const char *airTeemVersion = "1.99.0";

typedef int entry_point(int argc, char *argv[]);
static struct {
    unsigned char abort;
    float progress, stage;
    char message[1024];
    void *callback, *client;
    double seconds;
} process;

int main(int argc, char **argv)
{
    void *module = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    entry_point *entry = module ? (entry_point *)(size_t)dlsym(module, "ModuleEntryPoint") : NULL;
    if (!entry) {
        printf("the module does not load: %s\n", module ? "no entry point" : dlerror());
        return 1;
    }
    char address[32];
    snprintf(address, sizeof address, "%p", (void *)&process);
    char *arguments[] = {"slicer:0x1", "--processinformationaddress", address, "--peaks", "peaks.nrrd", argv[2], NULL};
    int status = entry(6, arguments);
    if (status == 0 || !strstr(process.message, "1.99.0") || !strstr(process.message, "executable") ||
        access("peaks.nrrd", F_OK) == 0) {
        printf("not so: status %d, '%s'\n", status, process.message);
        return 1;
    }
    return 0;
}
