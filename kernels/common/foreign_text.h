/* Text that others wrote (file names, headers, JSON), made fit for a line on a terminal. */
#ifndef HOT_COMMON_FOREIGN_TEXT_H
#define HOT_COMMON_FOREIGN_TEXT_H

#include <stddef.h>

#include <hotfiber/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of the UTF-8 character at `at`, 0 where it is none; the text ends with a zero. */
HOT_API size_t hot_utf8_character(const unsigned char *at);

/* What of a valid character must not reach a terminal: its code where it is a control character (C0, DEL, C1), a line
 * or paragraph separator, or changes the direction of text around it; 0 where it may be printed. */
HOT_API unsigned hot_utf8_control(const unsigned char *at, size_t bytes);

/* Copies a text of any bytes as one line: what must not be printed, and bytes that are no UTF-8, come out as \n, \t,
 * \x1b, \u202e. A backslash stays as it is, so that what was escaped once does not change. `to` always ends with a
 * zero; what does not fit is left out. Returns the length written. */
HOT_API size_t hot_text_escape(char *to, size_t capacity, const char *text);

#ifdef __cplusplus
}
#endif
#endif
