/* A host for the module, in plain C, step by step. 3D Slicer, CTK or your pipeline uses libHotFiberLib.so in the same
 * way.
 *
 *   cc example_host.c -o example_host -ldl -lpthread
 *   ./example_host libHotFiberLib.so dwi.nhdr out
 *
 * It loads the module, reads and checks its XML, runs it on a worker thread with progress, aborts a second run in the
 * middle, runs a third time, and checks that the third wrote the same as the first. Files go to out_first.nrrd, ... It
 * needs no header of hotfiber: the interface is the hosts' own. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Shared with the module while it runs. Hosts make one per run; all of it is zero at the start. */
typedef struct process_information {
    unsigned char Abort;
    float Progress, StageProgress;
    char ProgressMessage[1024];
    void (*ProgressCallbackFunction)(void *);
    void *ProgressCallbackClientData;
    double ElapsedTime;
} process_information;

typedef int entry_point(int argc, char *argv[]);
typedef const char *logo_function(int *width, int *height, int *pixel_size, unsigned long *length);

static int fail(const char *what, const char *detail)
{
    fprintf(stderr, "example_host: %s%s%s\n", what, detail ? ": " : "", detail ? detail : "");
    return 1;
}

/* ---- The XML ----------------------------------------------------------------------------------------------------- */

/* The text between <tag> and </tag> inside [from, to), "" when there is none. */
static void text_of(const char *from, const char *to, const char *tag, char *text, size_t capacity)
{
    char open[64], close[64];
    snprintf(open, sizeof open, "<%s>", tag);
    snprintf(close, sizeof close, "</%s>", tag);
    const char *begin = memmem(from, (size_t)(to - from), open, strlen(open));
    begin = begin ? begin + strlen(open) : NULL;
    const char *end = begin ? memmem(begin, (size_t)(to - begin), close, strlen(close)) : NULL;
    snprintf(text, capacity, "%.*s", end ? (int)(end - begin) : 0, begin ? begin : "");
}

/* Lists the parameters of all groups. Returns how many there are, or -1 when one cannot be put onto a command line. */
static int read_parameters(const char *xml)
{
    int count = 0;
    for (const char *group = strstr(xml, "<parameters"); group; group = strstr(group + 1, "<parameters")) {
        const char *group_end = strstr(group, "</parameters>");
        const char *at = strstr(group, "</description>"); /* of the group: its label and description come first */
        while (at && group_end && (at = strchr(at + 1, '<')) && at < group_end) {
            char kind[40], close[48], name[64], flag[64], index[16], preset[64];
            if (at[1] == '/' || sscanf(at, "<%39[a-z-]", kind) != 1)
                continue;
            snprintf(close, sizeof close, "</%s>", kind);
            const char *end = strstr(at, close);
            if (!end)
                return -1;
            text_of(at, end, "name", name, sizeof name);
            text_of(at, end, "longflag", flag, sizeof flag);
            text_of(at, end, "index", index, sizeof index);
            text_of(at, end, "default", preset, sizeof preset);
            if (!name[0] || (!flag[0] && !index[0]))
                return -1;
            for (const char *c = flag; *c; c++)
                if (!isalnum((unsigned char)*c) && *c != '_')
                    return -1;
            printf("  %-20s %s%-22s %s\n", kind, flag[0] ? "--" : "argument ", flag[0] ? flag : index, preset);
            count++;
            at = end + strlen(close) - 1;
        }
    }
    return count;
}

/* ---- A run ------------------------------------------------------------------------------------------------------- */

typedef struct run {
    entry_point *entry;
    const char *dwi, *output;
    process_information process;
    float abort_at; /* the user presses Cancel at this progress; 2 = never */
    int calls;      /* how often the module has called back */
    int status;
} run;

/* Called by the module, on its thread: a host with windows would post an event to its own thread here. */
static void on_progress(void *client_data)
{
    run *r = client_data;
    r->calls++;
    if (r->process.Progress >= r->abort_at)
        r->process.Abort = 1; /* a host sets it from its own thread, at any time */
}

static void *work(void *data)
{
    run *r = data;
    char self[32], address[32];
    snprintf(self, sizeof self, "slicer:%p", (void *)(size_t)r->entry);
    snprintf(address, sizeof address, "%p", (void *)&r->process);
    char *arguments[] = {self, "--processinformationaddress", address, "--device", "cpu", "--peaks", (char *)r->output,
                         (char *)r->dwi, NULL};
    r->status = r->entry(8, arguments);
    return NULL;
}

static int start(run *r, const char *what)
{
    pthread_t thread;
    r->process.ProgressCallbackFunction = on_progress;
    r->process.ProgressCallbackClientData = r;
    if (pthread_create(&thread, NULL, work, r) != 0)
        return fail("no thread", what);
    pthread_join(thread, NULL);
    printf("%s: status %d after %.2f s and %d calls, progress %.2f: %s\n", what, r->status, r->process.ElapsedTime,
           r->calls, (double)r->process.Progress, r->process.ProgressMessage);
    return 0;
}

static int same_content(const char *a, const char *b)
{
    FILE *first = fopen(a, "rb"), *second = fopen(b, "rb");
    int x = 0, y = 0, same = first && second;
    while (same && x != EOF) {
        x = getc(first);
        y = getc(second);
        same = x == y;
    }
    if (first)
        fclose(first);
    if (second)
        fclose(second);
    return same;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return fail("usage: example_host libHotFiberLib.so DWI OUT", NULL);
    void *module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!module)
        return fail("the module does not load", dlerror());

    /* The description is an array: the symbol's address is the text. */
    const char *xml = dlsym(module, "XMLModuleDescription");
    entry_point *entry = (entry_point *)(size_t)dlsym(module, "ModuleEntryPoint");
    logo_function *logo = (logo_function *)(size_t)dlsym(module, "GetModuleLogo");
    if (!xml || !entry)
        return fail("not a module", argv[1]);
    char title[64], version[32];
    text_of(xml, xml + strlen(xml), "title", title, sizeof title);
    text_of(xml, xml + strlen(xml), "version", version, sizeof version);
    printf("%s %s\n", title, version);
    int parameters = read_parameters(xml);
    if (!title[0] || parameters < 1)
        return fail("its XML is not what a host expects", title);
    if (logo) {
        int width, height, pixel_size;
        unsigned long length;
        const char *pixels = logo(&width, &height, &pixel_size, &length);
        if (!pixels || length != (unsigned long)width * (unsigned long)height * (unsigned long)pixel_size)
            return fail("its logo is not what it says", NULL);
        printf("logo: %d x %d pixels of %d bytes\n", width, height, pixel_size);
    }

    const size_t capacity = strlen(argv[3]) + 16;
    char *first = malloc(capacity), *aborted = malloc(capacity), *third = malloc(capacity);
    if (!first || !aborted || !third)
        return fail("out of memory", NULL);
    snprintf(first, capacity, "%s_first.nrrd", argv[3]);
    snprintf(aborted, capacity, "%s_aborted.nrrd", argv[3]);
    snprintf(third, capacity, "%s_third.nrrd", argv[3]);
    run one = {.entry = entry, .dwi = argv[2], .output = first, .abort_at = 2};
    run two = {.entry = entry, .dwi = argv[2], .output = aborted, .abort_at = 0.3f};
    run three = {.entry = entry, .dwi = argv[2], .output = third, .abort_at = 2};
    if (start(&one, "first run") || start(&two, "aborted run") || start(&three, "third run"))
        return 1;
    if (one.status != 0 || three.status != 0)
        return fail("a run failed", one.status ? one.process.ProgressMessage : three.process.ProgressMessage);
    if (one.calls < 10 || one.process.Progress < 1)
        return fail("a run said too little about its progress", NULL);
    if (two.status == 0 || access(aborted, F_OK) == 0)
        return fail("the aborted run did not stop, or left its file", aborted);
    if (!same_content(first, third))
        return fail("the third run wrote something else than the first", third);
    if (dlclose(module) != 0)
        return fail("the module does not close", dlerror());
    free(first);
    free(aborted);
    free(third);
    printf("all as it should be\n");
    return 0;
}
