/* Outputs appear whole or not at all, and never over an input. */
#include "check.h"

#include <unistd.h>

#include "common/output.h"

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

int main(void)
{
    char folder[] = "/tmp/hot_output_XXXXXX";
    hot_context *context = NULL;
    hot_output output;
    FILE *file;
    CHECK(mkdtemp(folder) && chdir(folder) == 0, "folder");
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    put("in", "data");
    put("other", "data");
    CHECK(symlink("in", "soft") == 0 && link("in", "hard") == 0 && symlink("nothing", "dangling") == 0, "links");
    const char *same[] = {"in", "./in", "soft", "hard"};
    for (int i = 0; i < 4; i++)
        CHECK(hot_output_spares(context, "in", same[i]) == HOT_ERROR_ARGUMENT, "%s is in", same[i]);
    CHECK(strstr(hot_context_message(context), "hard") && strstr(hot_context_message(context), "'in'"), "%s",
          hot_context_message(context));
    const char *spared[] = {"other", "new", "-", "dangling", NULL};
    for (int i = 0; i < 5; i++)
        CHECK(hot_output_spares(context, "in", spared[i]) == HOT_OK, "%d", i);
    CHECK(hot_output_spares(context, "/dev/null", "/dev/null") == HOT_OK, "a device");

    /* given up: the old file stays, nothing else is left; committed: the new one is there */
    CHECK(hot_output_begin(context, "other", &output) == HOT_OK, "begin");
    CHECK(hot_output_file(context, &output, &file) == HOT_OK && fputs("new", file) >= 0, "write");
    CHECK(hot_output_end(context, &output, HOT_ERROR_DATA) == HOT_ERROR_DATA, "given up");
    char text[8] = "";
    file = fopen("other", "r");
    CHECK(file && fgets(text, sizeof text, file) && strcmp(text, "data") == 0, "'%s'", text);
    fclose(file);
    CHECK(hot_output_begin(context, "other", &output) == HOT_OK, "begin");
    CHECK(hot_output_file(context, &output, &file) == HOT_OK && fputs("new", file) >= 0, "write");
    CHECK(hot_output_end(context, &output, HOT_OK) == HOT_OK, "commit");
    file = fopen("other", "r");
    CHECK(file && fgets(text, sizeof text, file) && strcmp(text, "new") == 0, "'%s'", text);
    fclose(file);
    CHECK(hot_output_begin(context, "none/file", &output) == HOT_ERROR_FILE, "no such folder");
    CHECK(hot_output_begin(context, folder, &output) == HOT_ERROR_FILE, "a folder");
    const char *names[] = {"in", "other", "soft", "hard", "dangling"};
    for (int i = 0; i < 5; i++)
        unlink(names[i]);
    CHECK(chdir("/") == 0 && rmdir(folder) == 0, "nothing else was left");
    hot_context_destroy(&context);
    HOT_TEST_END();
}
