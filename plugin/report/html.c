#include "html.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "common/foreign_text.h"

void hot_html_text(FILE *file, const char *text)
{
    static const char unknown[] = "\xef\xbf\xbd"; /* U+FFFD */
    for (const unsigned char *at = (const unsigned char *)(text ? text : ""); *at;) {
        const size_t bytes = hot_utf8_character(at);
        const int control = bytes && at[0] != '\n' && at[0] != '\t' && hot_utf8_control(at, bytes) != 0;
        switch (at[0]) {
        case '&': fputs("&amp;", file); break;
        case '<': fputs("&lt;", file); break;
        case '>': fputs("&gt;", file); break;
        case '"': fputs("&quot;", file); break;
        case '\'': fputs("&#39;", file); break;
        default:
            if (bytes == 0 || control)
                fputs(unknown, file);
            else
                fwrite(at, 1, bytes, file);
        }
        at += bytes ? bytes : 1;
    }
}

static void put_list(FILE *file, const char *format, va_list arguments)
{
    char text[2000];
    vsnprintf(text, sizeof text, format, arguments);
    hot_html_text(file, text);
}

void hot_html_format(FILE *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put_list(file, format, arguments);
    va_end(arguments);
}

void hot_html_row(FILE *file, const char *name, const char *format, ...)
{
    fputs("<tr><th scope=\"row\">", file);
    hot_html_text(file, name);
    fputs("</th><td>", file);
    va_list arguments;
    va_start(arguments, format);
    put_list(file, format, arguments);
    va_end(arguments);
    fputs("</td></tr>\n", file);
}

/* RFC 4648, section 4. */
static void put_base64(FILE *file, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const unsigned group = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
            (left > 2 ? (unsigned)bytes[i + 2] : 0);
        const char out[4] = {digits[group >> 18], digits[group >> 12 & 63], left > 1 ? digits[group >> 6 & 63] : '=',
                             left > 2 ? digits[group & 63] : '='};
        fwrite(out, 1, sizeof out, file);
    }
}

void hot_html_image(FILE *file, const hot_png *png, const char *more, const char *alt)
{
    fprintf(file, "<img %s alt=\"", more);
    hot_html_text(file, alt);
    fputs("\" src=\"data:image/png;base64,", file);
    put_base64(file, (const unsigned char *)png->bytes, png->size);
    fputs("\">", file);
}

const char *hot_html_count(char text[HOT_HTML_COUNT], double count)
{
    char digits[HOT_HTML_COUNT / 2];
    snprintf(digits, sizeof digits, "%.0f", isfinite(count) && fabs(count) < 1e15 ? count : 0);
    const size_t length = strlen(digits);
    char *to = text;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

const char *hot_html_number(char number[HOT_HTML_COUNT], double value)
{
    const double size = fabs(value);
    if (size >= 1000 && size < 1e7) { /* three digits, without an exponent */
        const double unit = pow(10, floor(log10(size)) - 2);
        return hot_html_count(number, unit * round(value / unit));
    }
    snprintf(number, HOT_HTML_COUNT, "%.3g", value);
    return number;
}
