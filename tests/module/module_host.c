/* The module in a host's process, where it must never print, exit or leave anything: loaded, run, closed and loaded
 * again; from threads, two at once, aborted anywhere, with meaningless arguments; in a host that uses Teem itself.
 *
 *   test_module_host libHotFiberLib.so dwi.nrrd      in an empty folder but for the data */
#include "check.h"
#include "entries.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <teem/biff.h>
#include <teem/nrrd.h>
#include <unistd.h>

typedef struct process_information {
    unsigned char Abort;
    float Progress, StageProgress;
    char ProgressMessage[1024];
    void (*ProgressCallbackFunction)(void *);
    void *ProgressCallbackClientData;
    double ElapsedTime;
} process_information;

typedef int entry_point(int argc, char *argv[]);

static const char *library, *data;
static entry_point *entry;

static void *load(void)
{
    void *module = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    CHECK(module != NULL, "%s", module ? "" : dlerror());
    entry = module ? (entry_point *)(size_t)dlsym(module, "ModuleEntryPoint") : NULL;
    CHECK(entry != NULL, "entry point");
    if (!entry)
        exit(1);
    return module;
}

/* Runs the module with these arguments behind the usual ones; process may be NULL. */
static int call(process_information *process, int count, const char *const *arguments)
{
    char self[32], address[32];
    char *argv[64] = {self};
    int argc = 1;
    snprintf(self, sizeof self, "slicer:%p", (void *)(size_t)entry);
    snprintf(address, sizeof address, "%p", (void *)process);
    if (process) {
        argv[argc++] = "--processinformationaddress";
        argv[argc++] = address;
    }
    argv[argc++] = "--device", argv[argc++] = "cpu";
    for (int i = 0; i < count; i++)
        argv[argc++] = (char *)(size_t)arguments[i];
    return entry(argc, argv);
}
#define CALL(process, ...) \
    call(process, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), (const char *const[]){__VA_ARGS__})

static int there(const char *name) { return access(name, F_OK) == 0; }

static int entries(void) { return entries_in("."); }

static int same_content(const char *a, const char *b)
{
    FILE *first = fopen(a, "rb"), *second = fopen(b, "rb");
    int x = first && second ? 0 : EOF, y = 0, same = first && second;
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

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

/* Refused, with a message that begins with the parameter's name and says the value. */
static void refused(const char *parameter, const char *word, int count, const char *const *arguments)
{
    process_information process = {0};
    const int before = entries();
    const int status = call(&process, count, arguments);
    CHECK(status != 0, "%s was accepted", parameter);
    CHECK(strncmp(process.ProgressMessage, parameter, strlen(parameter)) == 0 &&
              strncmp(process.ProgressMessage + strlen(parameter), ": ", 2) == 0,
          "%s: the message is '%s'", parameter, process.ProgressMessage);
    CHECK(strstr(process.ProgressMessage, word), "%s: '%s' should speak of '%s'", parameter, process.ProgressMessage,
          word);
    CHECK(entries() == before, "%s: something is left", parameter);
}
#define REFUSED(parameter, word, ...)                                                                                  \
    refused(parameter, word, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),                              \
            (const char *const[]){__VA_ARGS__})

static void test_bad_values(void)
{
    static const char *const values[][3] = {
        {"model", "spline", "adc, odf, fod or msmt"}, {"order", "5", "auto, 2, 4, 6 or 8"}, {"order", "", "auto, 2"},
        {"method", "guess", "lowrank"}, {"shift", "sideways", "adaptive"}, {"starts", "-1", "-1"},
        {"noise_model", "best", "gaussian"}, {"device", "tpu", "auto, cpu or cuda"},
        {"max_fibers", "-1", "0 to 16"}, {"max_fibers", "2.5", "whole"}, {"max_fibers", "many", "many"},
        {"max_fibers", "17", "17"}, {"threshold", "2", "-1 to 1"}, {"threshold", "nan", "nan"},
        {"threshold", "0,5", "0,5"}, {"min_angle", "91", "90"}, {"min_angle", "-2", "-2"},
        {"min_amplitude", "inf", "inf"}, {"min_amplitude", "x", "x"}, {"sigma", "-2", "-1"},
        {"max_cone", "91", "90"}, {"max_cone", "wide", "wide"}, {"min_probability", "1.5", "1"},
        {"sigma", "1e999", "1e999"}, {"threads", "-1", "-1"}, {"threads", "5000", "1024"},
        {"diffusivities", "0.001", "two numbers"}, {"diffusivities", "0.001,200", "0 to 100"},
        {"diffusivities", "0.0001,0.001", "larger"}, {"diffusivities", "a,b", "a,b"},
        {"diffusivities", "0.1,0.1,0.1", "two"}, {"mask", "no_such_mask.nrrd", "no_such_mask.nrrd"},
        {"constraint", "some", "nonnegative, none or hpsd"}, {"gm_response", "no_such.txt", "msmt"},
        {"csf_response", "no_such.txt", "msmt"}, {"tissues", "t.nrrd", "msmt"}, {"tissues", "t.vtp", ".nrrd"},
        {"response", "no_such.txt", "no_such.txt"}, {"bval", "no_such.bval", "NIfTI"},
        {"bvec", "no_such.bvec", "NIfTI"}, {"mask", "-", "-"},
        {"mask", "slicer:0x1#vtkMRMLScalarVolumeNode1", "memory"},
        {"peaks", "slicer:0x1#vtkMRMLVectorVolumeNode1", "memory"}, {"peaks", "peaks.png", ".nii.gz"},
        {"tensors", "t.nii.gz", ".nrrd"}, {"dec", "dec.vtp", ".nrrd"}, {"nfibers", "n.mif", ".nrrd"},
        {"fibers", "f.vtk", ".vtp"}, {"report", "r.xml", ".json"},
        {"tensors", "zero.nrrd/t.nrrd", "Not a directory"}, {"report", "zero.nrrd/such/r.json", "zero.nrrd/such"},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char flag[64], joined[256];
        snprintf(flag, sizeof flag, "--%s", values[i][0]);
        snprintf(joined, sizeof joined, "--%s=%s", values[i][0], values[i][1]);
        if (strcmp(values[i][0], "peaks") == 0)
            REFUSED(values[i][0], values[i][2], flag, values[i][1], data);
        else {
            REFUSED(values[i][0], values[i][2], "--peaks", "never.nrrd", flag, values[i][1], data);
            REFUSED(values[i][0], values[i][2], "--peaks", "never.nrrd", joined, data);
        }
    }
    REFUSED("dwi", "no_such", "--peaks", "never/never.nrrd", "no_such.nrrd");
    REFUSED("dwi", "no diffusion-weighted", "--peaks", "never.nrrd");
    REFUSED("dwi", "memory", "--peaks", "never.nrrd", "slicer:0x55d0#vtkMRMLDiffusionWeightedVolumeNode1");
    REFUSED("dwi", "-", "--peaks", "never.nrrd", "-");
    REFUSED("fibers, dec, peaks, nfibers, tissues, tensors, report", "at least one", data);
    REFUSED("fibers, dec, peaks, nfibers, tissues, tensors, report", "at least one", "--peaks", "", data);
    REFUSED("max_fibers", "signal", "--peaks", "never.nrrd", "--max_fibers", "4", data);
    REFUSED("method", "adc", "--peaks", "never.nrrd", "--model", "adc", "--method", "signal", data);
    REFUSED("method", "order", "--peaks", "never.nrrd", "--order", "2", "--method", "lowrank", data);
    REFUSED("starts", "choose the method sshopm", "--peaks", "never.nrrd", "--method", "maxima", "--starts", "9", data);
    REFUSED("shift", "default with the model fod", "--peaks", "never.nrrd", "--shift", "none", data);
    REFUSED("sigma", "choose the method signal", "--peaks", "never.nrrd", "--method", "lowrank", "--sigma", "2", data);
    REFUSED("order", "at most", "--peaks", "never.nrrd", "--order", "8", data);
    REFUSED("response", "both", "--peaks", "never.nrrd", "--response", "r.txt", "--diffusivities", "0.0017,0.0003",
            data);
    REFUSED("response", "fod", "--peaks", "never.nrrd", "--response", "r.txt", "--model", "odf", data);
    REFUSED("constraint", "msmt", "--peaks", "never.nrrd", "--constraint", "hpsd", data);
    REFUSED("diffusivities", "fod", "--peaks", "never.nrrd", "--diffusivities", "0.0017,0.0003", "--model", "odf",
            data);
    REFUSED("mask", "empty", "--peaks", "never.nrrd", "--mask", "zero.nrrd", data);
    REFUSED("mask", "voxels", "--peaks", "never.nrrd", "--mask", "small.nrrd", data);
    REFUSED("peaks", "input", "--peaks", data, data);
    REFUSED("peaks", "of dec already", "--peaks", "same.nrrd", "--dec", "same.nrrd", data);
    REFUSED("threshold", "missing", "--peaks", "never.nrrd", data, "--threshold");
    process_information process = {0};
    CHECK(CALL(&process, "--peaks", "never.nrrd", "--device", "cuda", data) == 0 ||
              strncmp(process.ProgressMessage, "device: ", 8) == 0,
          "no GPU: '%s'", process.ProgressMessage);
    unlink("never.nrrd"); /* there was one */
}

static void test_odd_arguments(void)
{
    process_information process = {0};
    CHECK(CALL(&process, "--peaks", "one.nrrd", data) == 0, "%s", process.ProgressMessage);
    CHECK(there("one.nrrd") && process.Progress == 1 && strstr(process.ProgressMessage, "voxels"), "'%s'",
          process.ProgressMessage);
    const char *const odd[][8] = {
        {"--unknown", "--peaks", "odd.nrrd", "-q", "--zoom=3", data, "extra", "more"},
        {"--returnparameterfile", "returned.txt", "--peaks", "odd.nrrd", "--what", "ever", data, "--last"},
        {"--peaks", "odd.nrrd", "--mask", "", "--flag", data, "", "--"},
        {"--peaks=odd.nrrd", "--AllowInMemoryTransfer", "--threads", "2", data, "--echo", "-1", "slicer:0x1#other"},
    };
    for (int i = 0; i < 4; i++) {
        CHECK(call(&process, 8, odd[i]) == 0, "odd arguments %d: %s", i, process.ProgressMessage);
        CHECK(same_content("one.nrrd", "odd.nrrd"), "odd arguments %d: another result", i);
        unlink("odd.nrrd");
    }
    CHECK(!there("returned.txt"), "there are no simple return parameters to write");
    CHECK(CALL(NULL, "--peaks", "odd.nrrd", data) == 0 && same_content("one.nrrd", "odd.nrrd"),
          "no process information");
    CHECK(CALL(NULL, "--peaks", "zero.nrrd/odd.nrrd", data) != 0, "no process information, and no way to tell");
    unlink("odd.nrrd");
    CHECK(CALL(&process, "--xml") == 0 && CALL(&process, "--version") == 0 && CALL(&process, "--help") == 0,
          "asked in-process");
    CHECK(call(&process, 0, NULL) != 0, "no arguments");
    char *none[] = {NULL};
    CHECK(entry(0, none) != 0, "not even a name");
    CHECK(entry(-1, NULL) != 0, "nonsense");
}

static void test_outputs(void)
{
    process_information process = {0};
    const int before = entries();
    CHECK(CALL(&process, "--peaks", "o.nii.gz", "--fibers", "o.vtp", "--dec", "o_dec.nhdr", "--nfibers", "o_n.nrrd",
               "--tensors", "./o_t.nrrd", "--report", "new/deep/o.json", "--method",
               "maxima", "--order", "4", data) == 0,
          "%s", process.ProgressMessage);
    CHECK(there("o.nii.gz") && there("o.vtp") && there("o_dec.nhdr") && there("o_dec.raw.gz") && there("o_n.nrrd") &&
              there("o_t.nrrd") && there("new/deep/o.json"),
          "all outputs");
    CHECK(entries() == before + 7, "%d files instead of 7", entries() - before);
    const char *const names[] = {"o.nii.gz", "o.vtp", "o_dec.nhdr", "o_dec.raw.gz", "o_n.nrrd", "o_t.nrrd",
                                 "new/deep/o.json"};
    for (int i = 0; i < 7; i++)
        unlink(names[i]);
    CHECK(rmdir("new/deep") == 0 && rmdir("new") == 0, "folders are made");
}

/* ---- Abort ------------------------------------------------------------------------------------------------------- */

typedef struct watcher {
    process_information process;
    int calls, abort_at;
    float before; /* the progress at the call before */
    int went_back;
} watcher;

static void on_call(void *user)
{
    watcher *w = user;
    w->went_back += w->process.Progress < w->before || !(w->process.Progress <= 1) || !(w->process.StageProgress <= 1);
    w->before = w->process.Progress;
    if (++w->calls == w->abort_at)
        __atomic_store_n(&w->process.Abort, 1, __ATOMIC_RELAXED);
}

static int watched(watcher *w, const char *output)
{
    w->process.ProgressCallbackFunction = on_call;
    w->process.ProgressCallbackClientData = w;
    char report[64];
    snprintf(report, sizeof report, "%s.json", output);
    int status = CALL(&w->process, "--peaks", output, "--report", report, data);
    if (status == 0)
        unlink(report);
    return status;
}

static void test_abort(void)
{
    watcher whole = {.abort_at = 0};
    CHECK(watched(&whole, "whole.nrrd") == 0, "%s", whole.process.ProgressMessage);
    CHECK(whole.calls > 9 && !whole.went_back, "%d calls, %d times back", whole.calls, whole.went_back);
    CHECK(same_content("one.nrrd", "whole.nrrd"), "the callback changes the result");
    unlink("whole.nrrd");
    process_information early = {.Abort = 1};
    const int before = entries();
    CHECK(CALL(&early, "--peaks", "early.nrrd", data) != 0 && strstr(early.ProgressMessage, "cancelled"), "'%s'",
          early.ProgressMessage);
    CHECK(entries() == before, "aborted before it began: something is left");
    /* the last call says that all is done; HOT_TEST_LONG=1: 25 places */
    for (int at = 1; at < whole.calls; at += 1 + whole.calls / (getenv("HOT_TEST_LONG") ? 25 : 10)) {
        watcher w = {.abort_at = at};
        CHECK(watched(&w, "aborted.nrrd") != 0, "aborted at call %d of %d", at, whole.calls);
        CHECK(strstr(w.process.ProgressMessage, "cancelled"), "call %d: '%s'", at, w.process.ProgressMessage);
        CHECK(w.calls <= at + 1, "%d calls after the abort at %d", w.calls - at, at);
        CHECK(entries() == before, "aborted at call %d: something is left", at);
    }
    /* and what stood there before stays */
    FILE *kept = fopen("kept.nrrd", "w");
    fputs("mine", kept);
    fclose(kept);
    watcher w = {.abort_at = whole.calls / 2};
    CHECK(watched(&w, "kept.nrrd") != 0, "aborted");
    struct stat about;
    CHECK(stat("kept.nrrd", &about) == 0 && about.st_size == 4, "the earlier file stays");
    unlink("kept.nrrd");
}

/* ---- Threads, Teem, loading again -------------------------------------------------------------------------------- */

static void *in_thread(void *output)
{
    process_information process = {0};
    int status = 0;
    for (int i = 0; i < 2 && status == 0; i++)
        status = CALL(&process, "--peaks", output, data);
    return (void *)(size_t)status;
}

static void test_threads(void)
{
    static char names[3][16] = {"two_0.nrrd", "two_1.nrrd", "two_2.nrrd"};
    pthread_t threads[3];
    void *status;
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, in_thread, names[i]) == 0, "thread");
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], &status);
        CHECK(status == NULL && same_content("one.nrrd", names[i]), "run %d of three at once", i);
        unlink(names[i]);
    }
}

/* Our host has used Teem, and has not read the messages yet. */
static void test_biff(void)
{
    Nrrd *nrrd = nrrdNew();
    process_information process = {0};
    CHECK(nrrdLoad(nrrd, "the_hosts_own.nrrd", NULL) != 0, "no such file");
    biffAdd(NRRD, "and the host's second message");
    char *mine = biffGet(NRRD);
    CHECK(mine && strstr(mine, "the_hosts_own"), "%s", mine ? mine : "no message");
    CHECK(CALL(&process, "--peaks", "biff.nrrd", data) == 0 && same_content("one.nrrd", "biff.nrrd"), "%s",
          process.ProgressMessage);
    unlink("biff.nrrd");
    CHECK(CALL(&process, "--peaks", "biff.nrrd", "broken.nrrd") != 0, "a broken file");
    CHECK(strstr(process.ProgressMessage, "type") && !strstr(process.ProgressMessage, "host"), "'%s'",
          process.ProgressMessage);
    char *after = biffGetDone(NRRD);
    CHECK(after && strcmp(after, mine) == 0, "the host's messages were\n%sand are\n%s", mine, after ? after : "gone");
    FREE(mine, after);
    CHECK(CALL(&process, "--peaks", "biff.nrrd", "broken.nrrd") != 0 && !biffCheck(NRRD), "none of ours is left there");
    nrrdNuke(nrrd);
}

static void put(const char *name, const char *text, size_t zeros)
{
    FILE *file = fopen(name, "wb");
    fputs(text, file);
    while (zeros-- > 0)
        fputc(0, file);
    fclose(file);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    library = argv[1], data = argv[2];
    /* Anything that the module prints goes here. */
    int printed = open("printed.txt", O_RDWR | O_CREAT | O_TRUNC, 0600), out = dup(1), errors = dup(2);
    fflush(stdout);
    put("zero.nrrd", "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 12 12 5\nencoding: raw\n\n", 720);
    put("small.nrrd", "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 2 2 2\nencoding: raw\n\n", 8);
    put("broken.nrrd", "NRRD0004\ntype: colour\ndimension: 3\nsizes: 2 2 2\nencoding: raw\n\n", 8);
    char *said = NULL;
    size_t said_size = 0;
    FILE *mine = open_memstream(&said, &said_size), *stream = stdout;
    stdout = mine; /* what CHECK says is shown at the end */
    dup2(printed, 1);
    dup2(printed, 2);
    void *module = load();
    test_odd_arguments();
    test_bad_values();
    test_outputs();
    test_abort();
    test_threads();
    test_biff();
    CHECK(dlclose(module) == 0, "closes");
    module = load();
    test_threads();
    CHECK(dlclose(module) == 0, "closes again");
    stdout = stream;
    dup2(out, 1);
    dup2(errors, 2);
    fclose(mine);
    fputs(said, stdout);
    free(said);
    CHECK(lseek(printed, 0, SEEK_END) == 0, "the module has printed %ld bytes (printed.txt)",
          (long)lseek(printed, 0, SEEK_END));
    unlink("one.nrrd");
    HOT_TEST_END();
}
