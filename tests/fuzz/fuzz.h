/* A fuzz target: any bytes in, no crash, no leak, no hang. Returns 0. */
#ifndef HOT_TESTS_FUZZ_H
#define HOT_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
