/* Fuzz target: a DWI as MIF, also as a mask of itself, from a file in the current folder. */
#define _GNU_SOURCE
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_disk_file("fuzz.mif", data, size) ? fuzz_read_dwi("fuzz.mif") : 0;
}
