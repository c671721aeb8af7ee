/* Fuzz target: the cost of reading a file. The first line has a letter for the reader and the suffix of its name, the
 * rest is its content: "d nhdr", "d nii z" (z: compressed by gzip). The context's memory, peak and number of
 * allocations, is bounded by the bytes of the file, or by what a compressed file can unpack to. So is the processor's
 * time of the call, generously.
 *   d data  m mask  v image  t tensors  h harmonics  p directions  r response  b .bval and .bvec  g .b
 *   l what was learned  k a part of a run  e report.json */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <zlib.h>

#include <hotfiber/hotfiber.h>

#include "fuzz.h"

enum { AHEAD = 16 /* bytes in front of each block, with its size */, NAME = 64, WORD = 8 };
/* Bounds: of any call, and for each byte of the file. Deflate shrinks at most 1032-fold. */
static const size_t bytes_once = 4 << 20, bytes_each = 96, requests_once = 500, requests_each = 1, unpacked = 1032;
static const double seconds_once = 2, seconds_each = 2e-5;

typedef struct meter {
    size_t live, most, requests;
} meter;

static void *take(void *user, size_t bytes)
{
    meter *m = user;
    char *memory = malloc(bytes + AHEAD);
    if (!memory)
        return NULL;
    memcpy(memory, &bytes, sizeof bytes);
    m->live += bytes;
    m->most = m->live > m->most ? m->live : m->most;
    m->requests++;
    return memory + AHEAD;
}

static void give(void *user, void *memory)
{
    size_t bytes;
    if (!memory)
        return;
    memcpy(&bytes, (char *)memory - AHEAD, sizeof bytes);
    ((meter *)user)->live -= bytes;
    free((char *)memory - AHEAD);
}

static int put(const char *name, const uint8_t *data, size_t size, int packed)
{
    if (packed) {
        gzFile zip = gzopen(name, "wb1");
        const int fine = zip && gzwrite(zip, data, (unsigned)size) == (int)size;
        return zip && gzclose(zip) == Z_OK && fine;
    }
    FILE *file = fopen(name, "wb");
    const int fine = file && fwrite(data, 1, size, file) == size;
    return file && fclose(file) == 0 && fine;
}

static void read_it(hot_context *context, char how, const char *name)
{
    hot_dwi *dwi = NULL;
    hot_tensor_field *tensors = NULL;
    hot_fiber_field *fibers = NULL;
    hot_response *response = NULL;
    hot_mask *mask = NULL;
    hot_grid grid = {.size = {2, 2, 2}, .to_world = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    float *values = NULL;
    char *record = NULL;
    switch (how) {
    case 'd': (void)hot_dwi_load(context, name, NULL, NULL, &dwi); break;
    case 'b': (void)hot_dwi_load(context, "image.nii", name, name, &dwi); break;
    case 'g': (void)hot_dwi_load(context, "image.nii", name, NULL, &dwi); break;
    case 'm': (void)hot_mask_load(context, name, &grid, &mask); break;
    case 'v': (void)hot_image_load(context, name, &grid, &values); break;
    case 't': (void)hot_tensor_field_load(context, name, &tensors); break;
    case 'h': (void)hot_tensor_field_load_sh(context, name, NULL, &tensors); break;
    case 'p': (void)hot_fiber_field_load(context, name, &fibers); break;
    case 'r': (void)hot_response_load(context, name, &response); break;
    case 'l': (void)hot_run_learned_record(context, name, &record); break;
    case 'k': (void)hot_run_parts_record(context, "cost", &record); break;
    case 'e': (void)hot_run_report(context, "cost", NULL, "cost.html"); break;
    default: break;
    }
    hot_dwi_destroy(&dwi);
    hot_mask_destroy(&mask);
    hot_tensor_field_destroy(&tensors);
    hot_fiber_field_destroy(&fibers);
    hot_response_destroy(&response);
    hot_context_free(context, values);
    hot_context_free(context, record);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void within(const char *what, double value, double bound)
{
    if (value <= bound)
        return;
    fprintf(stderr, "fuzz_cost: %g %s where %g are allowed\n", value, what, bound);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t image[352 + 24] = {[0] = 0x5c, 1, [40] = 4, 0, 2, 0, 2, 0, 2, 0, 3, 0, 1, 0, 1, 0, 1, 0,
                                            [70] = 2, 0, 8, 0, [110] = 0xb0, 0x43, [344] = 'n', '+', '1'};
    const uint8_t *end = memchr(data, '\n', size);
    char word[WORD] = "", name[NAME];
    meter m = {0};
    const hot_context_options options = {.size = sizeof options, .threads = 1, .device = HOT_DEVICE_CPU,
                                         .allocate = take, .release = give, .allocator_user = &m};
    hot_context *context = NULL;
    if (!end || end - data < 3 || end - data > 9)
        return 0;
    const char how = (char)data[0];
    const int packed = end - data > 4 && end[-1] == 'z' && end[-2] == ' ';
    for (size_t i = 2; data + i < end - 2 * packed && i < WORD + 1; i++)
        word[i - 2] = data[i] >= 'a' && data[i] <= 'z' ? (char)data[i] : 'x';
    word[WORD - 1] = '\0';
    mkdir("cost", 0700);
    if (!put("image.nii", image, sizeof image, 0) || !put("zeros.raw", image + 128, 100, 0))
        return 0;
    snprintf(name, sizeof name, how == 'k' ? "cost/part-1-of-1.nrrd" : how == 'e' ? "cost/report.json" : "cost.%s%s",
             word, packed ? ".gz" : "");
    struct stat about;
    if (!put(name, end + 1, size - (size_t)(end + 1 - data), packed) || stat(name, &about) != 0 ||
        hot_context_create(&options, &context) != HOT_OK)
        return 0;
    const size_t length = ((size_t)about.st_size + 500) * (packed ? unpacked : 1); /* and what else is there */
    const double began = now();
    read_it(context, how, name);
    if (getenv("HOT_FUZZ_TELL"))
        printf("%c %zu bytes: %zu of memory, %zu requests, %g s: %s\n", how, length, m.most, m.requests,
               now() - began, hot_context_message(context));
    within("seconds of the processor", now() - began, seconds_once + seconds_each * (double)length);
    within("bytes of memory", (double)m.most, (double)bytes_once + (double)bytes_each * (double)length);
    within("requests for memory", (double)m.requests, (double)requests_once + (double)requests_each * (double)length);
    hot_context_destroy(&context);
    if (m.live != 0)
        abort();
    (void)remove(name);
    return 0;
}
