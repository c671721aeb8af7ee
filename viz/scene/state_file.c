#include "state_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/common/file_open.h"
#include "io/common/output.h"

enum { TEXT = HOT_LAYER_TEXT };

void hot_view_state_put(FILE *file, const hot_view_state *state)
{
    size_t count;
    const hot_view_setting *settings = hot_view_settings(&count);
    for (size_t s = 0; s < count; s++) {
        char text[TEXT];
        hot_view_setting_print(&settings[s], state, text, sizeof text);
        fprintf(file, "%s %s\n", settings[s].name, text);
    }
    for (int n = 0; n < state->layers; n++) {
        char text[TEXT];
        hot_layer_print(&state->layer[n], text, sizeof text);
        fprintf(file, "overlay %s\n", text);
    }
}

static hot_status put(hot_context *context, FILE *file, const void *state)
{
    (void)context;
    hot_view_state_put(file, state);
    return HOT_OK;
}

hot_status hot_view_state_save(hot_context *context, const char *path, const hot_view_state *state)
{
    return hot_output_write(context, path, put, state);
}

/* What --dump_state writes besides the settings. */
static int is_count(const char *name)
{
    static const char *const names[] = {"pictures", "events", "picks", "width", "height", "pointer", "title", "voxels"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        if (strcmp(names[n], name) == 0)
            return 1;
    return strncmp(name, "at_", 3) == 0; /* where a control of the panel is */
}

static hot_status read_line(hot_context *context, const char *path, int number, char *line, hot_view_state *state)
{
    line[strcspn(line, "\r\n")] = '\0';
    char *value = line + strcspn(line, " ");
    if (!line[0])
        return HOT_OK;
    if (*value)
        *value++ = '\0';
    const int layer = strcmp(line, "overlay") == 0;
    if (!layer && !hot_view_setting_find(line))
        return is_count(line) ? HOT_OK : hot_context_fail(context, HOT_ERROR_FORMAT, "'%s', line %d: no setting '%s'",
                                                          path, number, line);
    if (hot_view_state_set(context, line, value, state) == HOT_OK)
        return HOT_OK;
    return hot_context_add(context, HOT_ERROR_FORMAT, "in line %d of '%s'", number, path);
}

hot_status hot_view_state_load(hot_context *context, const char *path, hot_view_state *state)
{
    hot_view_state read = *state;
    char line[2 * TEXT];
    FILE *file = NULL;
    memset(read.layer, 0, sizeof read.layer);
    read.layers = 0;
    hot_status status = hot_file_open(context, path, HOT_FILE_GIVEN, &file);
    if (status != HOT_OK)
        return status;
    for (int number = 1; status == HOT_OK && fgets(line, sizeof line, file); number++)
        status = read_line(context, path, number, line, &read);
    if (status == HOT_OK && ferror(file))
        status = hot_context_fail(context, HOT_ERROR_FILE, "cannot read '%s': %s", path, strerror(errno));
    fclose(file);
    if (status == HOT_OK)
        *state = read;
    return status;
}

/* ---- The command ------------------------------------------------------------------------------------------ */

/* In single quotes where the shell needs them. */
static void put_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:+=@%";
    fputc(' ', out);
    if (*word && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}

hot_status hot_view_command_line(const hot_scene *scene, const hot_view_state *state, const char *mask, char **text)
{
    size_t count, size = 0;
    char *made = NULL;
    const hot_view_setting *settings = hot_view_settings(&count);
    hot_view_state fresh;
    FILE *out = open_memstream(&made, &size);
    *text = NULL;
    if (!out)
        return HOT_ERROR_MEMORY;
    hot_view_state_default(&fresh);
    memcpy(fresh.voxel, scene->start, sizeof fresh.voxel);
    fputs("hotfiber view", out);
    for (int p = 0; p < scene->paths; p++)
        put_word(out, scene->path[p]);
    if (mask)
        fputs(" --mask", out), put_word(out, mask);
    if (scene->content[0])
        fputs(" --as", out), put_word(out, scene->content);
    if (scene->basis[0])
        fputs(" --basis", out), put_word(out, scene->basis);
    if (scene->frame[0])
        fputs(" --frame", out), put_word(out, scene->frame);
    for (size_t s = 0; s < count; s++) {
        char now[TEXT], usual[TEXT];
        hot_view_setting_print(&settings[s], state, now, sizeof now);
        hot_view_setting_print(&settings[s], &fresh, usual, sizeof usual);
        if (strcmp(now, usual) && settings[s].offset != offsetof(hot_view_state, pixel_ratio)) {
            fprintf(out, " --%s", settings[s].name); /* the screen's own size of text is no setting */
            put_word(out, now);
        }
    }
    for (int n = 0; n < state->layers; n++) {
        char layer[TEXT];
        hot_layer_print(&state->layer[n], layer, sizeof layer);
        fputs(" --overlay", out), put_word(out, layer);
    }
    if (fclose(out) == 0 && made) {
        *text = hot_context_alloc(scene->context, size + 1, 1);
        if (*text)
            memcpy(*text, made, size + 1);
    }
    free(made); /* open_memstream's */
    return *text ? HOT_OK : HOT_ERROR_MEMORY;
}
