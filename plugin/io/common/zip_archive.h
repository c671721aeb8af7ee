/* Zip files of arrays, for reading: TRX and ODX archives. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include <hotfiber/context.h>

enum { HOT_ZIP_NAME = 128, HOT_ZIP_ENTRIES = 256 };

typedef struct hot_zip_entry {
    char name[HOT_ZIP_NAME];
    uint64_t packed, bytes, at; /* sizes; where its local header is */
    int method;
} hot_zip_entry;

typedef struct hot_zip {
    hot_context *context;
    const char *path, *kind; /* kind: "TRX", for messages */
    FILE *file;
    uint64_t size;
    int count;
    hot_zip_entry entries[HOT_ZIP_ENTRIES]; /* those with short names */
} hot_zip;

/* Opens a file and reads its directory. Errors: HOT_ERROR_FILE, HOT_ERROR_FORMAT, HOT_ERROR_CANCELLED; it is closed
 * then. */
hot_status hot_zip_open(hot_context *context, const char *path, const char *kind, hot_zip *in);
void hot_zip_close(hot_zip *in);
/* The first entry whose name begins like this, or NULL. */
const hot_zip_entry *hot_zip_find(const hot_zip *in, const char *begin);
/* An entry's bytes, in context memory, also after a failure. */
hot_status hot_zip_load(const hot_zip *in, const hot_zip_entry *e, unsigned char **bytes);
/* "'PATH' is no KIND archive: what". */
hot_status hot_zip_fail(const hot_zip *in, const char *what);

/* Little-endian numbers: an integer of up to 8 bytes; a floating-point number of 2, 4 or 8. */
uint64_t hot_zip_little(const unsigned char *from, int bytes);
double hot_zip_float(const unsigned char *from, int bytes);
/* Bytes of a number, by the bits at the end of an entry's name: "float16" has 2. 0 = another type. */
int hot_zip_sample(const char *name, const char *before);
