/* The list of recent files: order, length, who may read it, and that nothing about it fails. */
#include "scene/recent.h"
#include "scenes.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[256];

/* A scene of these files, which are made. */
static void add(hot_context *context, hot_recent *recent, const char *first, const char *second)
{
    static hot_scene scene;
    char path[2][300];
    const char *const names[2] = {first, second};
    scene.paths = second ? 2 : first ? 1 : 0;
    for (int p = 0; p < scene.paths; p++) {
        snprintf(path[p], sizeof path[p], "%s/%s", folder, names[p]);
        FILE *file = fopen(path[p], "w");
        CHECK(file && fclose(file) == 0, "%s", path[p]);
        scene.path[p] = path[p];
    }
    hot_recent_add(context, &scene, recent);
}

static int holds(const hot_recent *recent, int place, const char *first, const char *second)
{
    char wanted[700];
    if (second)
        snprintf(wanted, sizeof wanted, "%s/%s\t%s/%s", folder, first, folder, second);
    else
        snprintf(wanted, sizeof wanted, "%s/%s", folder, first);
    return place < recent->count && strcmp(recent->entry[place], wanted) == 0;
}

static void test_list(hot_context *context)
{
    hot_recent recent, again;
    char path[300], copy[700];
    const char *paths[HOT_SCENE_PATHS];
    struct stat about;
    CHECK(getcwd(folder, sizeof folder - 40) != NULL, "folder");
    snprintf(path, sizeof path, "%s/state", folder);
    setenv("XDG_STATE_HOME", path, 1);
    snprintf(path, sizeof path, "%s/state/hotfiber/recent", folder);
    unlink(path);
    hot_recent_load(context, &recent);
    CHECK(recent.count == 0, "no list yet: %d", recent.count);
    add(context, &recent, NULL, NULL);
    CHECK(recent.count == 0 && access(path, F_OK) != 0, "a scene without files");
    add(context, &recent, "a", NULL);
    add(context, &recent, "b", "c d");
    add(context, &recent, "a", NULL);
    CHECK(recent.count == 2 && holds(&recent, 0, "a", NULL) && holds(&recent, 1, "b", "c d"), "the newest first, once");
    CHECK(stat(path, &about) == 0 && (about.st_mode & 0777) == 0600, "for the user alone: %o", about.st_mode);
    snprintf(path, sizeof path, "%s/state/hotfiber", folder);
    CHECK(stat(path, &about) == 0 && (about.st_mode & 0777) == 0700, "its folder, too: %o", about.st_mode);
    hot_recent_load(context, &again);
    CHECK(again.count == 2 && strcmp(again.entry[1], recent.entry[1]) == 0, "read back");
    snprintf(copy, sizeof copy, "%s", again.entry[1]);
    CHECK(hot_recent_split(copy, paths) == 2 && strcmp(strrchr(paths[0], '/'), "/b") == 0 &&
              strcmp(strrchr(paths[1], '/'), "/c d") == 0, "two paths");
    hot_recent_free(context, &again);
    add(context, &recent, "with\ttab", NULL);
    add(context, &recent, "with\nline", NULL);
    CHECK(recent.count == 2, "names that the list cannot hold are left out: %d", recent.count);
    for (int n = 0; n < HOT_RECENT + 3; n++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", n);
        add(context, &recent, name, NULL);
    }
    CHECK(recent.count == HOT_RECENT && holds(&recent, 0, "n14", NULL) && holds(&recent, HOT_RECENT - 1, "n3", NULL),
          "%d entries, the oldest are forgotten", recent.count);
    add(context, &recent, "n3", NULL);
    CHECK(recent.count == HOT_RECENT && holds(&recent, 0, "n3", NULL) && holds(&recent, HOT_RECENT - 1, "n4", NULL),
          "the last becomes the first");
    hot_recent_free(context, &recent);
}

/* Lists of others, and folders that cannot be written. */
static void test_bad(hot_context *context)
{
    hot_recent recent;
    char path[300];
    snprintf(path, sizeof path, "%s/state/hotfiber/recent", folder);
    FILE *file = fopen(path, "w");
    fputs("/x/first\n/x/second\nrelative\n/x/third\n", file);
    fclose(file);
    hot_recent_load(context, &recent);
    CHECK(recent.count == 2, "up to the first relative path: %d", recent.count);
    hot_recent_free(context, &recent);
    file = fopen(path, "w");
    fputs("/x/cut off", file);
    fclose(file);
    hot_recent_load(context, &recent);
    CHECK(recent.count == 0, "a line without its end: %d", recent.count);
    unlink(path);
    CHECK(mkdir(path, 0700) == 0, "a folder in its place");
    hot_recent_load(context, &recent);
    CHECK(recent.count == 0, "a folder: %d", recent.count);
    add(context, &recent, "a", NULL);
    CHECK(recent.count == 1, "kept in the window");
    hot_recent_free(context, &recent);
    rmdir(path);
    static const char *const places[] = {"/dev/null/state", "relative", "/proc/none"};
    for (int p = 0; p < 3; p++) {
        setenv("XDG_STATE_HOME", places[p], 1);
        setenv("HOME", p == 1 ? "/dev/null" : folder, 1);
        hot_recent_load(context, &recent);
        CHECK(recent.count == 0, "%s: %d", places[p], recent.count);
        add(context, &recent, "a", NULL);
        CHECK(recent.count == 1 && holds(&recent, 0, "a", NULL), "%s: %d", places[p], recent.count);
        hot_recent_free(context, &recent);
    }
    CHECK(access("relative", F_OK) != 0, "a relative folder is ignored");
}

int main(void)
{
    static void (*const tests[])(hot_context *) = {test_list, test_bad, NULL};
    return scene_run_tests(tests);
}
