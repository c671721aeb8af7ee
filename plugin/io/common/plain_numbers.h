/* Numbers in files have a decimal point, whatever the host program's locale (a German desktop makes printf write 0,5
 * and strtod stop at the point): between begin and end this thread reads and writes numbers plainly. */
#ifndef HOT_PLUGIN_PLAIN_NUMBERS_H
#define HOT_PLUGIN_PLAIN_NUMBERS_H

#include <locale.h>

/* Returns the thread's locale so far, for hot_plain_numbers_end. Pairs may nest. */
locale_t hot_plain_numbers_begin(void);
void hot_plain_numbers_end(locale_t before);

#endif
