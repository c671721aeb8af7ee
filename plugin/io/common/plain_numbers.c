#include "plain_numbers.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t plain; /* made once, kept for the life of the process */

static void make(void) { plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0); }

locale_t hot_plain_numbers_begin(void)
{
    pthread_once(&once, make);
    return plain ? uselocale(plain) : uselocale((locale_t)0);
}

void hot_plain_numbers_end(locale_t before) { uselocale(before); }
