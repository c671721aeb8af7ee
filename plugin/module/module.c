/* The symbols that hosts of the Slicer execution model look up: the XML, the logo, the entry point; and main() of the
 * executable. */
#define _POSIX_C_SOURCE 200809L
#include "module.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "common/timing.h"

/* ---- The description --------------------------------------------------------------------------------------------- */

#define GROUP(label, about, advanced)                                                                             \
    "  <parameters advanced=\"" advanced "\">\n    <label>" label "</label>\n    <description>" about "</description>\n"
#define END_GROUP "  </parameters>\n"
/* The order is CTK's: name, flag, description, label, default, channel, then elements or constraints. */
#define NAMES(name) "      <name>" #name "</name>\n      <longflag>" #name "</longflag>\n"
#define TEXTS(label, about) "      <description>" about "</description>\n      <label>" label "</label>\n"
#define PRESET(text) "      <default>" text "</default>\n"
#define CHANNEL(channel) "      <channel>" channel "</channel>\n"
#define BOUNDS(low, high, step)                                                                                   \
    "      <constraints>\n        <minimum>" #low "</minimum>\n        <maximum>" #high                            \
    "</maximum>\n        <step>" #step "</step>\n      </constraints>\n"
#define ARGUMENT(name, type, suffixes, label, about)                                                              \
    "    <image type=\"" type "\" fileExtensions=\"" suffixes "\">\n      <name>" #name                             \
    "</name>\n      <index>0</index>\n" TEXTS(label, about) CHANNEL("input") "    </image>\n"
#define IMAGE(name, type, channel, suffixes, label, about)                                                        \
    "    <image type=\"" type "\" fileExtensions=\"" suffixes "\">\n" NAMES(name) TEXTS(label, about)               \
    CHANNEL(channel) "    </image>\n"
#define GEOMETRY(name, type, channel, suffixes, label, about)                                                     \
    "    <geometry type=\"" type "\" fileExtensions=\"" suffixes "\">\n" NAMES(name) TEXTS(label, about)            \
    CHANNEL(channel) "    </geometry>\n"
#define PATH(name, channel, suffixes, label, about)                                                               \
    "    <file fileExtensions=\"" suffixes "\">\n" NAMES(name) TEXTS(label, about) CHANNEL(channel) "    </file>\n"
#define HIDDEN(name, about)                                                                                       \
    "    <boolean hidden=\"true\">\n" NAMES(name) TEXTS(#name, about) PRESET("false") "    </boolean>\n"
/* Those of run/options.inc. */
#define F(word) "      <element>" #word "</element>\n"
#define E(word) F(word)
#define FLAG(group, member, option, use, shown, label, help)                                                      \
    "    <boolean>\n" NAMES(option) TEXTS(label, help) PRESET("false") "    </boolean>\n"
#define CHOICE(group, member, option, kind, use, shown, preset, label, help, words)                               \
    "    <string-enumeration>\n" NAMES(option) TEXTS(label, help) PRESET(preset) words "    </string-enumeration>\n"
#define NUMBER(group, member, option, use, shown, value, low, high, step, label, help)                            \
    "    <double>\n" NAMES(option) TEXTS(label, help) PRESET("-1") BOUNDS(-1, high, step) "    </double>\n"
#define COUNT(group, member, option, kind, use, shown, low, high, label, help)                                    \
    "    <integer>\n" NAMES(option) TEXTS(label, help) PRESET("0") BOUNDS(0, high, 1) "    </integer>\n"
#define WORD(group, member, option, kind, use, shown, value, preset, label, help)                                 \
    "    <string>\n" NAMES(option) TEXTS(label, help) PRESET(preset) "    </string>\n"
#define PAIR(group, member, second, option, use, shown, value, low, high, step, label, help)                      \
    "    <double-vector>\n" NAMES(option) TEXTS(label, help) PRESET("0,0") BOUNDS(0, high, step)                  \
    "    </double-vector>\n"
#define FILE_OPTION(group, member, option, kind, use, shown, value, suffixes, label, help)                        \
    PATH(option, "input", suffixes, label, help)
#define IMAGE_OPTION(group, member, option, kind, use, shown, value, suffixes, label, help)                       \
    IMAGE(option, "label", "input", suffixes, label, help)

/* An array: hosts take the symbol's address for the text. */
HOT_API extern char XMLModuleDescription[];
char XMLModuleDescription[] =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
    "<executable>\n"
    "  <category>Diffusion.Fiber directions</category>\n"
    "  <title>HotFiber</title>\n"
    "  <description>Fibre directions from diffusion-weighted data by higher-order tensors: how many fibres cross in "
    "each voxel, where they point, and how strong each is.</description>\n"
    "  <version>" HOTFIBER_VERSION_STRING "</version>\n"
    "  <license>BSD-3-Clause</license>\n"
    "  <contributor>The authors of hotfiber</contributor>\n"
#include "parameters.inc"
    "</executable>\n";

/* ---- The logo ---------------------------------------------------------------------------------------------------- */

/* Some hosts look up the variables, others the function. The pixels are bytes red green blue alpha; a buffer of width x
 * height x pixel size is used without decoding. */
enum { LOGO = 48 };
HOT_API extern unsigned char ModuleLogoImage[];
HOT_API extern int ModuleLogoWidth, ModuleLogoHeight, ModuleLogoPixelSize;
HOT_API extern unsigned long ModuleLogoLength;
unsigned char ModuleLogoImage[LOGO * LOGO * 4] = {
#include "logo.inc"
};
int ModuleLogoWidth = LOGO, ModuleLogoHeight = LOGO, ModuleLogoPixelSize = 4;
unsigned long ModuleLogoLength = sizeof ModuleLogoImage;

HOT_API const char *GetModuleLogo(int *width, int *height, int *pixel_size, unsigned long *length);
const char *GetModuleLogo(int *width, int *height, int *pixel_size, unsigned long *length)
{
    *width = LOGO;
    *height = LOGO;
    *pixel_size = 4;
    *length = sizeof ModuleLogoImage;
    return (const char *)ModuleLogoImage;
}

/* ---- In a host's process ----------------------------------------------------------------------------------------- */

typedef struct inside {
    hot_module_process *process; /* NULL = the host does not want to know */
    double began, reported;      /* the progress when the host was last called back */
} inside;

static void report_to_host(inside *in, const char *message, double all, double of_stage)
{
    hot_module_process *process = in->process;
    if (!process)
        return;
    const int same = strncmp(process->ProgressMessage, message, sizeof process->ProgressMessage - 1) == 0;
    if (!same)
        snprintf(process->ProgressMessage, sizeof process->ProgressMessage, "%s", message);
    process->Progress = (float)all;
    process->StageProgress = (float)of_stage;
    process->ElapsedTime = seconds_now() - in->began;
    if (process->ProgressCallbackFunction && (!same || all >= in->reported + 0.005 || all >= 1)) {
        in->reported = all;
        process->ProgressCallbackFunction(process->ProgressCallbackClientData);
    }
}

static int inside_progress(void *user, const char *stage, double all, double of_stage)
{
    report_to_host(user, stage, all, of_stage);
    return 0;
}

static int inside_stop(void *user)
{
    const inside *in = user;
    return in->process && __atomic_load_n(&in->process->Abort, __ATOMIC_RELAXED);
}

/* The host calls this on one of its threads, with its own addresses and files. Returns 0 on success. Never prints,
 * never exits: messages go into the process information. */
HOT_API int ModuleEntryPoint(int argc, char *argv[]);
int ModuleEntryPoint(int argc, char *argv[])
{
    hot_module_values values;
    hot_module_request request;
    char message[MODULE_MESSAGE];
    int bad = hot_module_parse(argc, argv, 1, &values, &request, message);
    inside in = {.process = request.process, .began = seconds_now(), .reported = -1};
    const hot_module_watch watch = {.progress = inside_progress, .stop = inside_stop, .user = &in};
    if (!bad && (request.xml || request.version || request.help))
        snprintf(message, sizeof message, "HotFiber %s", hot_version());
    else if (!bad)
        bad = hot_module_run(&values, &watch, message);
    report_to_host(&in, message, bad && in.process ? in.process->Progress : 1, bad ? 0 : 1);
    return bad;
}

/* ---- As a program
 * ------------------------------------------------------------------------------------------------- */

static atomic_int interrupted; /* read by other threads */
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a handler of signals sets it");

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

typedef struct outside {
    char stage[64];
    double reported;
} outside;

static int outside_progress(void *user, const char *stage, double all, double of_stage)
{
    outside *out = user;
    if (strncmp(out->stage, stage, sizeof out->stage - 1) != 0) {
        snprintf(out->stage, sizeof out->stage, "%s", stage);
        printf("<filter-progress-text progress=\"%.4f\">%s</filter-progress-text>\n", all, stage);
        out->reported = -1;
    }
    if (all >= out->reported + 0.005 || all >= 1) {
        out->reported = all;
        printf("<filter-progress>%.4f</filter-progress>\n<filter-stage-progress>%.4f</filter-stage-progress>\n", all,
               of_stage);
    }
    fflush(stdout);
    return 0;
}

static int outside_stop(void *user)
{
    (void)user;
    return interrupted != 0;
}

static void outside_warn(void *user, const char *line)
{
    (void)user;
    fprintf(stderr, "HotFiber: warning: %s\n", line);
}

/* Under an option, in lines of at most 100 characters. */
static void print_folded(const char *text)
{
    enum { INDENT = 6, WIDTH = 100 };
    int column = WIDTH;
    for (const char *word = text; *word;) {
        const int length = (int)strcspn(word, " ");
        if (column + 1 + length > WIDTH)
            column = printf("\n%*s%.*s", INDENT, "", length, word) - 1;
        else
            column += printf(" %.*s", length, word);
        word += length + strspn(word + length, " ");
    }
    putchar('\n');
}

static void print_help(void)
{
    size_t count;
    const hot_module_parameter *parameters = hot_module_parameters(&count);
    printf("usage: HotFiber [options] DWI\n\n"
           "HotFiber %s: fibre directions from diffusion-weighted data, as a module for 3D Slicer and other hosts\n"
           "of its execution model. At a terminal, `hotfiber run` does the same and more. `HotFiber --xml` describes\n"
           "it to hosts.\n\n",
           hot_version());
    for (size_t i = 1; i < count; i++) {
        const hot_module_parameter *p = &parameters[i];
        static const char *const kinds[] = {"FILE in", "FILE out", "", "", "N", "X", "A,B", ""};
        char text[192] = "";
        if (p->kind == MODULE_SWITCH && p->words)
            continue;
        if (p->kind == MODULE_CHOICE)
            snprintf(text, sizeof text, "%.*s", (int)strlen(p->words) - 1, p->words);
        else if (p->words)
            snprintf(text, sizeof text, "%s (%s)", kinds[p->kind], p->words);
        else if (p->kind == MODULE_WORD)
            snprintf(text, sizeof text, "TEXT");
        else if (p->kind != MODULE_SWITCH)
            snprintf(text, sizeof text, "%s (%.10g to %.10g)", kinds[p->kind], p->low, p->high);
        printf("  --%s %s", p->name, text);
        if (p->preset)
            printf("; default %s", p->preset);
        print_folded(p->about);
    }
    printf("  --xml --version --help\n");
}

int main(int argc, char **argv)
{
    hot_module_values values;
    hot_module_request request;
    char message[MODULE_MESSAGE];
    const double began = seconds_now();
    int bad = hot_module_parse(argc, argv, 0, &values, &request, message);
    if (!bad && (request.xml || request.version || request.help)) {
        if (request.xml)
            fputs(XMLModuleDescription, stdout);
        else if (request.version)
            printf("HotFiber %s\n", hot_version());
        else
            print_help();
        return ferror(stdout) || fflush(stdout) != 0;
    }
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a host that has gone must not leave incomplete files behind */
    outside out = {.reported = -1};
    const hot_module_watch watch = {.progress = outside_progress, .stop = outside_stop, .warn = outside_warn,
                                    .user = &out};
    if (!bad && request.unknown[0])
        fprintf(stderr, "HotFiber: warning: there is no option %s, it is passed over; HotFiber --help lists them\n",
                request.unknown);
    if (!bad) {
        printf("<filter-start>\n<filter-name>HotFiber</filter-name>\n"
               "<filter-comment>\"fibre directions\"</filter-comment>\n</filter-start>\n");
        fflush(stdout);
        bad = hot_module_run(&values, &watch, message);
        if (!bad)
            printf("<filter-progress>1</filter-progress>\n");
        printf("<filter-end>\n<filter-name>HotFiber</filter-name>\n<filter-time>%.2f</filter-time>\n</filter-end>\n",
               seconds_now() - began);
    }
    if (bad)
        fprintf(stderr, "HotFiber: %s\n", message);
    else
        printf("%s\n", message);
    fflush(stdout);
    return bad;
}
