/* Text of others on one line: what hot_text_escape lets through; messages, log lines and JSON go through it. */
#include <hotfiber/hotfiber.h>

#include "check.h"
#include "common/foreign_text.h"
#include "io/common/report.h"

static const struct { const char *raw, *shown; } cases[] = {
    {"", ""},
    {"plain text, 100 %, \\ and 'quotes'", "plain text, 100 %, \\ and 'quotes'"},
    {"Z\xc3\xbcrich \xe2\x80\x93 \xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\xa7\xa0", /* umlaut, dash, Han, a brain */
     "Z\xc3\xbcrich \xe2\x80\x93 \xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\xa7\xa0"},
    {"a\nb\tc\rd", "a\\nb\\tc\\x0dd"},
    {"\x1b[2J\x1b]0;x\x07", "\\x1b[2J\\x1b]0;x\\x07"},
    {"\x7f\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\\x7f\\u0080\\u009b\\u009f\xc2\xa0"}, /* the last is a blank */
    {"\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9\xd8\x9c\xe2\x80\x8f", "\\u202e\\u2066\\u2069\\u061c\\u200f"},
    {"\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf", "\\u2028\\u2029\\ufeff"},
    {"\xf3\xa0\x81\x81", "\\U000e0041"},
    {"\xff\xc3", "\\xff\\xc3"},
    {"\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80", "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80"},
};

static char logged[4096];

static void hear(void *user, hot_log_level level, const char *line)
{
    (void)user, (void)level;
    snprintf(logged, sizeof logged, "%s", line);
}

int main(void)
{
    const hot_context_options options = {.size = sizeof options, .log = hear};
    hot_context *context = NULL;
    char text[256], expected[512];
    CHECK(hot_context_create(&options, &context) == HOT_OK, "a context");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t length = strlen(cases[i].shown);
        CHECK(hot_text_escape(text, sizeof text, cases[i].raw) == length, "%zu: length", i);
        CHECK(strcmp(text, cases[i].shown) == 0, "%zu: '%s', not '%s'", i, text, cases[i].shown);
        hot_text_escape(expected, sizeof expected, text);
        CHECK(strcmp(text, expected) == 0, "%zu: escaping twice changes nothing", i);
        for (size_t room = 0; room <= length; room++) { /* cut between characters, and ended */
            memset(text, 'x', sizeof text);
            const size_t used = hot_text_escape(text, room, cases[i].raw);
            CHECK(room == 0 ? used == 0 && text[0] == 'x' : used < room && !text[used] && text[room] == 'x',
                  "%zu in %zu bytes", i, room);
            CHECK(strncmp(text, cases[i].shown, used) == 0, "%zu in %zu bytes: the beginning", i, room);
        }
        hot_context_fail(context, HOT_ERROR_DATA, "in '%s'", cases[i].raw);
        snprintf(expected, sizeof expected, "in '%s'", cases[i].shown);
        CHECK(strcmp(hot_context_message(context), expected) == 0, "%zu: a message", i);
        hot_context_add(context, HOT_ERROR_DATA, "%s", cases[i].raw);
        snprintf(expected, sizeof expected, "in '%s'; %s", cases[i].shown, cases[i].shown);
        CHECK(strcmp(hot_context_message(context), expected) == 0, "%zu: in a message", i);
        hot_context_fail_parameter(context, HOT_ERROR_DATA, "mask", "%s", cases[i].raw);
        hot_context_set_parameter(context, HOT_ERROR_DATA, "mask");
        snprintf(expected, sizeof expected, "mask: %s", cases[i].shown);
        CHECK(strcmp(hot_context_message(context), expected) == 0, "%zu: a parameter", i);
        hot_context_log(context, HOT_LOG_NOTE, "%s", cases[i].raw);
        CHECK(strcmp(logged, cases[i].shown) == 0, "%zu: a line of the log", i);
        cJSON *json = cJSON_CreateString(cases[i].raw);
        char *line = hot_report_line(json);
        for (const char *at = line; *at;) {
            const size_t bytes = hot_utf8_character((const unsigned char *)at);
            CHECK(bytes && !hot_utf8_control((const unsigned char *)at, bytes), "%zu: JSON '%s'", i, line);
            at += bytes ? bytes : 1;
        }
        cJSON *back = cJSON_Parse(line);
        CHECK(back && (strchr(cases[i].shown, '\xff') || strlen(back->valuestring) > 0 || !cases[i].raw[0]),
              "%zu: JSON that can be read", i);
        if (i < 9)
            CHECK(strcmp(back->valuestring, cases[i].raw) == 0, "%zu: JSON says the same", i);
        cJSON_free(line);
        cJSON_Delete(json);
        cJSON_Delete(back);
    }
    hot_context_destroy(&context);
    HOT_TEST_END();
}
