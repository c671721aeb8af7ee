/* Fuzz target: what the viewer alone reads. The first byte says what the rest is: a .vtp (v), tracks (t), a TRX archive
 * (z), directions of DSI Studio (f) or ODX (o), or settings, a line of `name value` each (s). */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <hotfiber/hotfiber.h>

#include "fuzz.h"
#include "io/common/fiber_archive.h"
#include "io/common/tracks.h"
#include "scene/view_state.h"
#include "scene/vtp.h"

static void read_file(hot_context *context, char kind, const char *text, size_t size)
{
    static int descriptor = -1;
    char path[64];
    hot_fiber_field *fibers = NULL;
    hot_tracks tracks = {.count = 0};
    if (descriptor < 0)
        descriptor = memfd_create("fuzz_view", 0);
    if (descriptor < 0 || ftruncate(descriptor, 0) != 0 || pwrite(descriptor, text, size, 0) != (ssize_t)size)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    const int directions = kind == 'v' || kind == 'f' || kind == 'o';
    if (directions && (kind == 'v' ? hot_vtp_load : kind == 'f' ? hot_fz_load : hot_odx_load)(context, path, &fibers) ==
                          HOT_OK)
        hot_fiber_field_destroy(&fibers);
    if (!directions && (kind == 'z' ? hot_trx_load : hot_tracks_load)(context, path, &tracks) == HOT_OK)
        for (size_t t = 0; t < tracks.count; t++) /* every streamline has points */
            if (tracks.first[t] >= tracks.first[t + 1] || tracks.first[t + 1] > tracks.points)
                abort();
    hot_tracks_free(context, &tracks);
}

static void read_settings(hot_context *context, char *text)
{
    hot_view_state state;
    char *rest = NULL, printed[256];
    hot_view_state_default(&state);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *blank = strchr(line, ' ');
        if (blank)
            *blank = '\0';
        const hot_view_setting *setting = hot_view_setting_find(line);
        if (strcmp(line, "overlay") == 0 && hot_view_state_set(context, line, blank ? blank + 1 : "", &state) == HOT_OK)
            hot_layer_print(&state.layer[state.layers - 1], printed, sizeof printed);
        if (!setting || hot_view_setting_parse(context, setting, blank ? blank + 1 : "", &state) != HOT_OK)
            continue;
        hot_view_setting_print(setting, &state, printed, sizeof printed);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hot_context *context;
    char *text;
    if (!fuzz_text_begin(data, size, 1, &context, &text))
        return 0;
    if (data[0] == 'v' || data[0] == 't' || data[0] == 'z' || data[0] == 'f' || data[0] == 'o')
        read_file(context, (char)data[0], text, size - 1);
    else if (data[0] == 's')
        read_settings(context, text);
    return fuzz_text_end(&context, text);
}
