/* Fuzz target: what a run has kept for another: parts, which a merge reads; the folder OUT.resume; what was learned.
 * The first letter says which file, the rest are changes of the true one: two bytes where, one how many bytes go,
 * one how many come, and these; or 255 255, the lengths of two words, these: the first word becomes the second. p,
 * P: part 1 of 2; r, R: `found`; m: model.json of OUT.resume; c: complete; l: the file of hotfiber learn. Capitals:
 * by the method maxima. Without changes every call must do. t: part 2 is lacking; u: there is one of three, too; o:
 * options of parts, a number each. */
#define _GNU_SOURCE /* memmem */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <hotfiber/hotfiber.h>

#include "fuzz.h"

enum { ROOM = 1 << 16, KINDS = 2, MODEL = 0, FOUND, COMPLETE, PART, OTHER, LEARNED, KEPT };

static struct kept {
    char name[64];
    uint8_t *bytes;
    size_t size;
} kept[KINDS][KEPT];

static hot_run_options options_of(int kind)
{
    static const hot_peaks_options peaks[KINDS] = {{.size = sizeof *peaks, .method = "signal"},
                                                   {.size = sizeof *peaks, .method = "maxima"}};
    return (hot_run_options){.size = sizeof(hot_run_options), .input = "kept.nrrd", .force = 1, .outputs = "peaks",
                             .record = "a record\\", .peaks = &peaks[kind]};
}

static void take(int kind, int which, const char *name)
{
    struct kept *to = &kept[kind][which];
    FILE *file = fopen(name, "rb");
    to->bytes = malloc(ROOM);
    if (!file || !to->bytes)
        abort();
    to->size = fread(to->bytes, 1, ROOM, file);
    fclose(file);
    snprintf(to->name, sizeof to->name, "%s", name);
}

static void put(const char *name, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(name, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        abort();
}

/* Ends a run once something was found, as a kill would. */
static int when_found(void *user, const char *stage, double fraction)
{
    struct stat about;
    (void)stage, (void)fraction;
    return stat(user, &about) == 0 && about.st_size > 2000;
}

/* Ends a run that has read all kept files: the rest, output files with all their syncs, is that of any other run.
 * user: its input; one without changes goes to the end, one of what was learned to where that is used. */
static int when_read(void *user, const char *stage, double fraction)
{
    const char *input = user;
    (void)fraction;
    return input[1] && (strcmp(stage, "writing") == 0 ||
                        ((input[0] | 0x20) == 'l' && strncmp(stage, "finding", 7) == 0));
}

static void must(hot_context *context, hot_status status)
{
    if (status == HOT_OK)
        return;
    fprintf(stderr, "fuzz_kept: %s\n", hot_context_message(context));
    abort();
}

static void make(hot_context *context, int kind)
{
    char folder[32], found[64], name[64];
    hot_run_options options = options_of(kind);
    for (int part = 1; part <= 2; part++) {
        snprintf(folder, sizeof folder, "parts%d", kind);
        options.part = part;
        options.parts = 2;
        options.output = folder;
        must(context, hot_run(context, &options, NULL));
        snprintf(name, sizeof name, "%s/part-%d-of-2.nrrd", folder, part);
        take(kind, part == 1 ? PART : OTHER, name);
    }
    options = options_of(kind);
    options.learn = "learned.json";
    must(context, hot_run(context, &options, NULL));
    take(kind, LEARNED, "learned.json");
    options = options_of(kind);
    snprintf(folder, sizeof folder, "out%d", kind);
    snprintf(found, sizeof found, "%s.resume/found", folder);
    (void)remove(found); /* of a target that was stopped */
    snprintf(name, sizeof name, "%s.resume/model.json", folder);
    (void)remove(name);
    const hot_context_options settings = {.size = sizeof settings, .threads = 1, .device = HOT_DEVICE_CPU,
                                          .progress = when_found, .progress_user = found};
    hot_context *killed = NULL;
    options.output = folder;
    options.resume = 1;
    if (hot_context_create(&settings, &killed) != HOT_OK ||
        hot_run(killed, &options, NULL) != HOT_ERROR_CANCELLED)
        abort();
    hot_context_destroy(&killed);
    take(kind, FOUND, found);
    snprintf(name, sizeof name, "%s.resume/model.json", folder);
    take(kind, MODEL, name);
    snprintf(kept[kind][COMPLETE].name, sizeof name, "%s.resume/complete", folder);
    kept[kind][COMPLETE].bytes = malloc(ROOM);
    if (!kept[kind][COMPLETE].bytes)
        abort();
    kept[kind][COMPLETE].size = (size_t)sprintf((char *)kept[kind][COMPLETE].bytes, "1 2\n");
}

/* The data, and all files of a whole run in pieces; once. */
static void begin(void)
{
    const hot_context_options settings = {.size = sizeof settings, .threads = 1, .device = HOT_DEVICE_CPU};
    const hot_phantom_options shape = {.size = sizeof shape, .layout = HOT_PHANTOM_MIXTURE, .volume = {5, 4, 3},
                                       .directions = 20, .b0 = 2};
    hot_context *context = NULL;
    hot_phantom *phantom = NULL;
    if (hot_context_create(&settings, &context) != HOT_OK)
        abort();
    must(context, hot_phantom_create(context, &shape, &phantom));
    must(context, hot_phantom_save(context, phantom, NULL, "kept.nrrd"));
    hot_phantom_destroy(&phantom);
    for (int kind = 0; kind < KINDS; kind++)
        make(context, kind);
    hot_context_destroy(&context);
}

/* The true file with the changes. Returns its size. */
static size_t change(const struct kept *from, const uint8_t *data, size_t size, uint8_t *to)
{
    size_t length = from->size;
    memcpy(to, from->bytes, length);
    while (size >= 4) {
        if (data[0] == 255 && data[1] == 255) {
            const size_t old = data[2], new = data[3];
            uint8_t *there = old + new <= size - 4 && old ? memmem(to, length, data + 4, old) : NULL;
            if (old + new > size - 4)
                break;
            if (there && length - old + new <= ROOM) {
                memmove(there + new, there + old, length - (size_t)(there - to) - old);
                memcpy(there, data + 4 + old, new);
                length += new - old;
            }
            data += 4 + old + new;
            size -= 4 + old + new;
            continue;
        }
        const size_t at = (data[0] + 256u * data[1]) % (length + 1), left = length - at;
        const size_t gone = data[2] < left ? data[2] : left;
        size_t come = data[3] < size - 4 ? data[3] : size - 4;
        if (length - gone + come > ROOM)
            come = 0;
        memmove(to + at + come, to + at + gone, left - gone);
        memcpy(to + at, data + 4, come);
        length += come - gone;
        data += 4 + come;
        size -= 4 + come;
    }
    return length;
}

static hot_status resume(hot_context *context, int kind, const struct kept *changed, const uint8_t *bytes, size_t size)
{
    hot_run_options options = options_of(kind);
    char folder[80];
    snprintf(folder, sizeof folder, "out%d.resume", kind);
    mkdir(folder, 0700);
    for (int which = MODEL; which <= COMPLETE; which++)
        put(kept[kind][which].name, kept[kind][which].bytes, kept[kind][which].size);
    put(changed->name, bytes, size);
    options.output = kind ? "out1" : "out0";
    options.resume = 1;
    return hot_run(context, &options, NULL);
}

static hot_status merge(hot_context *context, int kind, const struct kept *changed, const uint8_t *bytes, size_t size)
{
    hot_run_options options = options_of(kind);
    char *record = NULL;
    put(changed->name, bytes, size);
    options.merge = kind ? "parts1" : "parts0";
    options.output = "merged";
    if (hot_run_parts_record(context, options.merge, &record) == HOT_OK)
        hot_context_free(context, record);
    return hot_run(context, &options, NULL);
}

static hot_status learned(hot_context *context, int kind, const struct kept *changed, const uint8_t *bytes, size_t size)
{
    hot_run_options options = options_of(kind);
    char *record = NULL;
    put(changed->name, bytes, size);
    options.learned = changed->name;
    options.output = "merged";
    if (hot_run_learned_record(context, changed->name, &record) == HOT_OK)
        hot_context_free(context, record);
    return hot_run(context, &options, NULL);
}

/* Options that go together, and that do not. */
static void try_options(hot_context *context, const uint8_t *data, size_t size)
{
    hot_run_options options = options_of(1);
    char name[64];
    if (size < 3)
        return;
    options.part = (int8_t)data[0];
    options.parts = (int8_t)data[1];
    options.output = data[2] & 1 ? NULL : data[2] & 64 ? "" : "tried/";
    options.learn = data[2] & 2 ? "learned2.json" : NULL;
    options.learned = data[2] & 4 ? "learned.json" : NULL;
    options.merge = data[2] & 8 ? "parts1" : NULL;
    options.input = data[2] & 16 ? "-" : "kept.nrrd";
    options.resume = data[2] >> 5 & 1;
    options.force = data[2] >> 7;
    (void)hot_run(context, &options, NULL);
    snprintf(name, sizeof name, "tried/part-%d-of-%d.nrrd", options.part, options.parts);
    (void)remove(name);
}

/* A folder of parts that lacks one, or has one of another run. */
static hot_status merge_others(hot_context *context, int lacks)
{
    const struct kept *other = &kept[1][OTHER];
    const char *third = "parts1/part-3-of-3.nrrd";
    if (lacks)
        (void)remove(other->name);
    else
        put(third, other->bytes, other->size);
    const hot_status status = merge(context, 1, &kept[1][PART], kept[1][PART].bytes, kept[1][PART].size);
    (void)remove(third);
    put(other->name, other->bytes, other->size);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char letters[] = "mrcp?l";
    static uint8_t changed[ROOM];
    static int begun;
    if (!begun)
        begin();
    begun = 1;
    if (size == 0)
        return 0;
    char input[] = {size ? (char)data[0] : 0, size > 1};
    const hot_context_options until = {.size = sizeof until, .progress = when_read, .progress_user = input};
    hot_context *context = fuzz_context(&until);
    if (!context)
        return 0;
    if (data[0] == 'o')
        try_options(context, data + 1, size - 1);
    if ((data[0] == 't' || data[0] == 'u') && merge_others(context, data[0] == 't') == HOT_OK)
        abort();
    const int kind = data[0] >= 'A' && data[0] <= 'Z';
    const char *letter = strchr(letters, data[0] | 0x20);
    if (!letter || !*letter || *letter == '?') {
        fuzz_context_end(&context);
        return 0;
    }
    const struct kept *which = &kept[kind][letter - letters];
    const size_t length = change(which, data + 1, size - 1, changed);
    const hot_status status = *letter == 'p'   ? merge(context, kind, which, changed, length)
                              : *letter == 'l' ? learned(context, kind, which, changed, length)
                                               : resume(context, kind, which, changed, length);
    if (getenv("HOT_FUZZ_TELL"))
        printf("%d %s\n", (int)status, status == HOT_OK ? "" : hot_context_message(context));
    if (size == 1 && fuzz_memory.fail_at < 0)
        must(context, status);
    fuzz_context_end(&context);
    return 0;
}
