/* Text that others wrote (file names, headers, JSON), made fit for a line on a terminal. */
#pragma once

#include <stddef.h>

#include <hotfiber/status.h>

HOT_C_BEGIN

/* Bytes of the UTF-8 character at `at`, 0 if it is not valid; the text ends with a zero. */
HOT_API size_t hot_utf8_character(const unsigned char *at);

/* Returns the code of a valid character that must not reach a terminal: a control character (C0, DEL, C1), a line or
 * paragraph separator, or one that changes the direction of the text around it. 0: it may be printed. */
HOT_API unsigned hot_utf8_control(const unsigned char *at, size_t bytes);

/* Copies a text of any bytes as one line: characters that must not be printed, and bytes that are not UTF-8, are
 * written as \n, \t, \x1b, \u202e. A backslash is copied, so that escaping twice changes nothing. `to` always ends with
 * a zero; text that does not fit is cut off. Returns the length written. */
HOT_API size_t hot_text_escape(char *to, size_t capacity, const char *text);

HOT_C_END
