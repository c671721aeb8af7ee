#include "foreign_text.h"

#include <stdio.h>
#include <string.h>

/* Unicode 15, table 3-7. */
size_t hot_utf8_character(const unsigned char *at)
{
    if (at[0] < 0x80)
        return 1;
    const size_t bytes = at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < bytes; i++) /* the zero at the end is no continuation */
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    const int shorter_does = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    const int surrogate = at[0] == 0xed && at[1] > 0x9f, beyond = at[0] == 0xf4 && at[1] > 0x8f;
    return bytes == 0 || shorter_does || surrogate || beyond ? 0 : bytes;
}

unsigned hot_utf8_control(const unsigned char *at, size_t bytes)
{
    static const struct { unsigned first, last; } ranges[] = {
        {0x01, 0x1f}, {0x7f, 0x9f}, {0x061c, 0x061c}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x206f},
        {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
    unsigned code = bytes == 1 ? at[0] : at[0] & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++)
        code = code << 6 | (at[i] & 0x3fu);
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        if (code >= ranges[r].first && code <= ranges[r].last)
            return code;
    return 0;
}

size_t hot_text_escape(char *to, size_t capacity, const char *text)
{
    size_t used = 0;
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        char escaped[16];
        const size_t bytes = hot_utf8_character(at);
        const unsigned code = bytes ? hot_utf8_control(at, bytes) : 0;
        if (!bytes || (code && code < 0x80))
            snprintf(escaped, sizeof escaped, code == '\n' ? "\\n" : code == '\t' ? "\\t" : "\\x%02x", *at);
        else if (code)
            snprintf(escaped, sizeof escaped, code > 0xffff ? "\\U%08x" : "\\u%04x", code);
        const size_t length = !bytes || code ? strlen(escaped) : bytes;
        if (used + length >= capacity)
            break;
        memcpy(to + used, !bytes || code ? (const void *)escaped : (const void *)at, length);
        used += length;
        at += bytes ? bytes : 1;
    }
    if (capacity)
        to[used] = '\0';
    return used;
}
