/* Compares drawings, as lines of text, with lines in a file. */
#pragma once

#include "check.h"

/* Whether lines are the same, with numbers equal but for the last place's rounding. */
static inline int same_line(const char *a, const char *b)
{
    while (*a && *b) {
        char *after_a, *after_b;
        const double x = strtod(a, &after_a), y = strtod(b, &after_b);
        if (after_a == a || after_b == b || strchr("inIN", *a)) {
            if (*a++ != *b++)
                return 0;
        } else {
            if (!(fabs(x - y) <= 0.0101))
                return 0;
            a = after_a, b = after_b;
        }
    }
    return *a == *b;
}

/* Compares the lines that put(user, file) writes with the file `path`; --write makes that file from them first. */
static inline void check_lines(const char *path, int count, char **arguments, void (*put)(void *user, FILE *file),
                               void *user)
{
    char got[1024], want[1024], title[1024] = "";
    if (count > 1 && strcmp(arguments[1], "--write") == 0) {
        FILE *file = fopen(path, "w");
        put(user, file);
        fclose(file);
    }
    FILE *found = tmpfile(), *wanted = fopen(path, "r");
    CHECK(found && wanted, "%s", path);
    if (found && wanted) {
        size_t lines = 0;
        put(user, found);
        rewind(found);
        while (fgets(want, sizeof want, wanted)) {
            if (strncmp(want, "====", 4) == 0)
                strcpy(title, want);
            if (!fgets(got, sizeof got, found))
                got[0] = '\0';
            CHECK(same_line(got, want), "%s: line %zu is %s, not %s", title, lines + 1, got, want);
            lines++;
        }
        CHECK(!fgets(got, sizeof got, found), "more than is wanted: %s", got);
        CHECK(lines > 300, "%zu lines", lines);
        fclose(found);
        fclose(wanted);
    }
}
