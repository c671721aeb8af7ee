/* Drives a fuzz target without a fuzzer: replay FOLDER [rounds [failures]]. Every file of the folder as it is, then
 * with each of its first `failures` (default 40) requests for memory failing, and then `rounds` changed copies of it
 * (default 300): bytes flipped, cut, doubled, overwritten with awkward numbers, mixed with other files. */
#include <dirent.h>

#include "check.h"
#include "fuzz.h"

enum { FILES = 1024, ROOM = 1 << 16 };

static uint8_t *contents[FILES];
static size_t sizes[FILES], count;

static const char *const awkward[] = {"0",          "-1",   "1e308",     "nan",  "99999999999999999999",
                                      "4294967296", "%s%n", ":=",        "\n\n", "(",
                                      ")",          " ",    "\"",        "\\",   "none",
                                      "LIST",       "???",  "0x1p-1074", ",",    "\r\n"};

static size_t change(uint64_t *state, const uint8_t *from, size_t size, uint8_t *to)
{
    memcpy(to, from, size);
    int changes = 1 + (int)(check_random_bits(state) % 4);
    for (int c = 0; c < changes && size > 0; c++) {
        size_t at = (size_t)(check_random_bits(state) % size), left = size - at;
        size_t length = 1 + (size_t)(check_random_bits(state) % (left < 40 ? left : 40));
        switch (check_random_bits(state) % 6) {
        case 0: to[at] ^= (uint8_t)(1u << check_random_bits(state) % 8); break;
        case 1: to[at] = (uint8_t)check_random_bits(state); break;
        case 2: /* cut out */
            memmove(to + at, to + at + length, left - length);
            size -= length;
            break;
        case 3: /* double */
            if (size + length <= ROOM) {
                memmove(to + at + length, to + at, left);
                size += length;
            }
            break;
        case 4: { /* put in */
            const char *word = awkward[check_random_bits(state) % (sizeof awkward / sizeof *awkward)];
            size_t letters = strlen(word);
            if (size + letters <= ROOM) {
                memmove(to + at + letters, to + at, left);
                memcpy(to + at, word, letters);
                size += letters;
            }
            break;
        }
        default: { /* a piece of another file over it */
            size_t other = (size_t)(check_random_bits(state) % count);
            if (sizes[other] > 0) {
                size_t start = (size_t)(check_random_bits(state) % sizes[other]);
                size_t piece = sizes[other] - start < left ? sizes[other] - start : left;
                memcpy(to + at, contents[other] + start, piece);
            }
            break;
        }
        }
    }
    return size;
}

/* One input with none of its requests failing, then each of the first ones. Nothing may be left then, either. */
static void starve(const uint8_t *data, size_t size, long most)
{
    fuzz_memory = (starved){.fail_at = -1};
    LLVMFuzzerTestOneInput(data, size);
    const long calls = fuzz_memory.calls;
    for (long call = 0; call < calls && call < most; call++) {
        fuzz_memory = (starved){.fail_at = call};
        LLVMFuzzerTestOneInput(data, size);
        if (fuzz_memory.live != 0) {
            fprintf(stderr, "%ld pieces of memory are left after request %ld failed\n", fuzz_memory.live, call);
            abort();
        }
    }
    fuzz_memory = (starved){.fail_at = -1};
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        printf("usage: %s FOLDER [rounds [failures]]\n", argv[0]);
        return 2;
    }
    const long rounds = argc > 2 ? atol(argv[2]) : 300, failures = argc > 3 ? atol(argv[3]) : 40;
    DIR *folder = opendir(argv[1]);
    for (struct dirent *entry; folder && (entry = readdir(folder)) && count < FILES;) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (!file)
            continue;
        contents[count] = malloc(ROOM);
        if (contents[count]) {
            sizes[count] = fread(contents[count], 1, ROOM, file);
            count++;
        }
        fclose(file);
    }
    if (folder)
        closedir(folder);
    uint8_t *changed = malloc(ROOM);
    if (count == 0 || !changed) {
        printf("no corpus in %s\n", argv[1]);
        return 1;
    }
    uint64_t state = 20110517;
    size_t runs = 0;
    for (size_t n = 0; n < count; n++) {
        starve(contents[n], sizes[n], failures);
        for (long round = 0; round < rounds; round++, runs++) {
            size_t size = change(&state, contents[n], sizes[n], changed);
            LLVMFuzzerTestOneInput(changed, size);
        }
    }
    printf("%zu files and %zu changed copies of them\n", count, runs);
    for (size_t n = 0; n < count; n++)
        free(contents[n]);
    free(changed);
    return 0;
}
