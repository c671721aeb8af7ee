/* Fuzz target: a DWI as NIfTI (with a table that fits the corpus). Works on files in the current folder, because
 * niftilib needs names. */
#define _GNU_SOURCE
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char b[] = "0 1000 1000\n", g[] = "0 1 0\n0 0 1\n0 0 0\n";
    static int tables;
    if (!tables)
        tables = fuzz_disk_file("fuzz.bval", b, sizeof b - 1) && fuzz_disk_file("fuzz.bvec", g, sizeof g - 1);
    return tables && fuzz_disk_file("fuzz.nii", data, size) ? fuzz_read_dwi("fuzz.nii") : 0;
}
