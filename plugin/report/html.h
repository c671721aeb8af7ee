/* Text into HTML: nothing that a file is called can become markup. Numbers are written as readers expect them. */
#pragma once

#include <stdio.h>

#include "io/picture/plane.h"

/* Text with what HTML reserves escaped, safe in elements and quoted attributes; NULL is nothing. Bytes that are no
 * UTF-8 and control characters become U+FFFD. */
void hot_html_text(FILE *file, const char *text);
/* The same after formatting; at most 2000 bytes. */
void hot_html_format(FILE *file, const char *format, ...) HOT_PRINTF(2, 3);

/* A row of a table: its name (escaped) and its value (formatted, then escaped). */
void hot_html_row(FILE *file, const char *name, const char *format, ...) HOT_PRINTF(3, 4);

/* <img> with the picture as a data URL; alt is escaped. more: further attributes, not escaped. */
void hot_html_image(FILE *file, const hot_png *png, const char *more, const char *alt);

/* "1,234,567". */
enum { HOT_HTML_COUNT = 40 };
const char *hot_html_count(char text[HOT_HTML_COUNT], double count);
/* Three digits of any number: "0.914", "1,230". */
const char *hot_html_number(char text[HOT_HTML_COUNT], double value);
