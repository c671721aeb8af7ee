/* Arrays with a forbidden page behind them: who reads or writes past the end does not live to tell. */
#pragma once

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Memory that ends where a page without any access begins; its pages from *pages on. */
typedef struct walled {
    char *pages, *values;
    size_t length;
} walled;

/* A copy of the data; taken down by munmap(pages, length). */
static walled wall_up(const void *data, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    walled made = {.length = whole + page};
    made.pages = mmap(NULL, made.length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made.pages == MAP_FAILED || mprotect(made.pages + whole, page, PROT_NONE) != 0)
        abort();
    made.values = made.pages + whole - bytes;
    memcpy(made.values, data, bytes);
    return made;
}
