/* Fuzz target: a DWI as NRRD, header, keys and data. */
#define _GNU_SOURCE
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_file("nrrd.link", "", 0, data, size) ? fuzz_read_dwi("nrrd.link") : 0;
}
