/* The output directory of a run: made under a temporary name, replaced only if it is ours, nothing left after a
 * failure. */
#include "check.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/common/report.h"
#include "run/folder.h"

static hot_context *context;
static char root[] = "/tmp/hotfiber-folder-XXXXXX";

static const char *in_root(const char *name)
{
    static char paths[8][256];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static int holds(const char *path, const char *text)
{
    char got[256] = "";
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    size_t length = fread(got, 1, sizeof got - 1, file);
    fclose(file);
    got[length] = '\0';
    return strcmp(got, text) == 0;
}

static int entries(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    if (!folder)
        return -1;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2;
}

static int fill(const hot_folder *folder, const char *text)
{
    char name[512];
    snprintf(name, sizeof name, "%s/peaks.nrrd", folder->temporary);
    check_write(name, text);
    snprintf(name, sizeof name, "%s/fixels", folder->temporary);
    mkdir(name, 0777);
    snprintf(name, sizeof name, "%s/fixels/index.mif", folder->temporary);
    check_write(name, text);
    snprintf(name, sizeof name, "%s/report.json", folder->temporary);
    check_write(name, "{\"hotfiber\": \"0.1.0\", \"files\": [\"peaks.nrrd\", \"fixels/index.mif\"]}");
    return 1;
}

/* A run in small: two files, a folder, a report that names them. */
static hot_status write_run(const char *path, int force, const char *text)
{
    hot_folder folder;
    hot_status status = hot_folder_begin(context, path, force, &folder);
    if (status != HOT_OK)
        return status;
    fill(&folder, text);
    return hot_folder_commit(context, &folder);
}

static void refused(const char *path, int force, const char *words)
{
    hot_folder folder;
    int before = entries(root);
    hot_status status = hot_folder_begin(context, path, force, &folder);
    CHECK(status == HOT_ERROR_FILE, "'%s' gave %d", path, (int)status);
    CHECK(strstr(hot_context_message(context), words), "message: %s", hot_context_message(context));
    CHECK(!folder.temporary && !folder.path, "nothing is held");
    CHECK(entries(root) == before, "nothing is left beside '%s'", path);
    hot_folder_discard(context, &folder);
}

static void test_new_and_replaced(void)
{
    char out[256]; /* in_root's paths are reused after a while */
    snprintf(out, sizeof out, "%s", in_root("out"));
    CHECK(write_run(out, 0, "first") == HOT_OK, "%s", hot_context_message(context));
    CHECK(holds(in_root("out/peaks.nrrd"), "first") && holds(in_root("out/fixels/index.mif"), "first"), "files");
    CHECK(entries(root) == 1, "no other entries: %d", entries(root));
    refused(out, 0, "--force");
    CHECK(write_run(in_root("out///"), 1, "second") == HOT_OK, "%s", hot_context_message(context));
    CHECK(holds(in_root("out/peaks.nrrd"), "second") && entries(out) == 3 && entries(root) == 1, "replaced as a whole");
    check_write(in_root("out/notes.txt"), "mine");
    refused(out, 1, "notes.txt");
    CHECK(holds(in_root("out/notes.txt"), "mine") && holds(in_root("out/peaks.nrrd"), "second"), "nothing touched");
    remove(in_root("out/notes.txt"));
    check_write(in_root("out/fixels/notes.txt"), "mine");
    refused(out, 1, "fixels/notes.txt");
    remove(in_root("out/fixels/notes.txt"));
    mkdir(in_root("out/sub"), 0777);
    refused(out, 1, "sub/");
    rmdir(in_root("out/sub"));
    mkdir(in_root("out/fixels/deep"), 0777);
    refused(out, 1, "deep/");
    rmdir(in_root("out/fixels/deep"));

    /* Of two concurrent runs the one that ends last replaces the other's directory if it has --force; else not. */
    char both[256];
    snprintf(both, sizeof both, "%s", in_root("both"));
    for (int force = 0; force < 2; force++) {
        hot_folder first, last;
        CHECK(hot_folder_begin(context, both, force, &first) == HOT_OK && fill(&first, "one"), "one begins");
        CHECK(hot_folder_begin(context, both, force, &last) == HOT_OK && fill(&last, "two"), "two begins");
        CHECK(hot_folder_commit(context, &first) == HOT_OK, "%s", hot_context_message(context));
        const hot_status status = hot_folder_commit(context, &last);
        CHECK(status == (force ? HOT_OK : HOT_ERROR_FILE), "force %d: %s", force, hot_context_message(context));
        CHECK(holds(in_root("both/peaks.nrrd"), force ? "two" : "one"), "force %d", force);
        CHECK(entries(root) == 2, "force %d: no other entries: %d", force, entries(root));
        for (size_t i = 0; i < 3; i++)
            remove(in_root((const char *[]){"both/peaks.nrrd", "both/report.json", "both/fixels/index.mif"}[i]));
        rmdir(in_root("both/fixels"));
        rmdir(both);
    }

    /* A file that appears while the run works is not lost. */
    hot_folder folder;
    CHECK(hot_folder_begin(context, out, 1, &folder) == HOT_OK, "%s", hot_context_message(context));
    check_write(in_root("out/late.txt"), "mine");
    CHECK(hot_folder_commit(context, &folder) == HOT_ERROR_FILE && holds(in_root("out/late.txt"), "mine"), "late file");
    CHECK(entries(root) == 1, "the new one is cleared away");
    remove(in_root("out/late.txt"));
    CHECK(write_run(out, 1, "third") == HOT_OK && holds(in_root("out/peaks.nrrd"), "third"), "still replaceable");
}

static void test_refusals(void)
{
    mkdir(in_root("empty"), 0777);
    CHECK(write_run(in_root("empty"), 0, "x") == HOT_OK && holds(in_root("empty/peaks.nrrd"), "x"),
          "an empty folder is used: %s", hot_context_message(context));
    mkdir(in_root("other"), 0777);
    check_write(in_root("other/thesis.tex"), "years of work");
    refused(in_root("other"), 0, "--force");
    refused(in_root("other"), 1, "does not look like");
    check_write(in_root("other/report.json"), "{\"title\": \"sales\"}");
    refused(in_root("other"), 1, "does not look like");
    check_write(in_root("other/report.json"), "{\"hotfiber\": \"0.1.0\", \"files\": [");
    refused(in_root("other"), 1, "does not look like");
    check_write(in_root("other/report.json"), "{\"hotfiber\": \"0.1.0\", \"files\": [\"../../x\", 7]}");
    refused(in_root("other"), 1, "thesis.tex");
    CHECK(holds(in_root("other/thesis.tex"), "years of work"), "kept");
    check_write(in_root("file"), "x");
    refused(in_root("file"), 1, "is a file");
    refused(in_root("file/parent"), 0, "Not a directory");
    hot_folder above;
    CHECK(hot_folder_begin(context, in_root("a/b/out"), 0, &above) == HOT_OK, "%s", hot_context_message(context));
    hot_folder_discard(context, &above);
    CHECK(access(in_root("a"), F_OK) != 0, "the folders that were made for it go with it");
    CHECK(write_run(in_root("a/b/out"), 0, "deep") == HOT_OK && holds(in_root("a/b/out/peaks.nrrd"), "deep"),
          "folders that lack are made: %s", hot_context_message(context));
    (void)!symlink("nowhere", in_root("dangling"));
    refused(in_root("dangling"), 1, "link");
    refused(".", 1, "current folder");
    refused("/", 1, "current folder");
    char gone[256], text[400];
    snprintf(gone, sizeof gone, "%s", in_root("gone"));
    snprintf(text, sizeof text, "cannot read the folder '%s': No such file or directory", gone);
    CHECK(hot_folder_walk(context, &(hot_folder){.temporary = gone}, NULL, NULL) == HOT_ERROR_FILE &&
              strcmp(hot_context_message(context), text) == 0, "'%s'", hot_context_message(context));
    CHECK(hot_folder_begin(context, "", 0, &(hot_folder){0}) == HOT_ERROR_ARGUMENT, "no name");

    (void)!symlink("empty", in_root("link"));
    CHECK(write_run(in_root("link"), 1, "through") == HOT_OK && holds(in_root("empty/peaks.nrrd"), "through"),
          "a link to a run is followed: %s", hot_context_message(context));
    struct stat about;
    CHECK(lstat(in_root("link"), &about) == 0 && S_ISLNK(about.st_mode), "and stays a link");
}

static void test_inputs(void)
{
    hot_folder folder;
    CHECK(hot_folder_begin(context, in_root("empty"), 1, &folder) == HOT_OK, "%s", hot_context_message(context));
    check_write(in_root("dwi.nrrd"), "data");
    (void)!symlink("empty/peaks.nrrd", in_root("alias.nrrd"));
    CHECK(hot_folder_check_input(context, &folder, in_root("dwi.nrrd")) == HOT_OK, "beside is fine");
    CHECK(hot_folder_check_input(context, &folder, NULL) == HOT_OK, "none is fine");
    CHECK(hot_folder_check_input(context, &folder, "-") == HOT_OK, "a pipe is fine");
    CHECK(hot_folder_check_input(context, &folder, in_root("empty/peaks.nrrd")) == HOT_ERROR_FILE, "inside");
    CHECK(hot_folder_check_input(context, &folder, in_root("alias.nrrd")) == HOT_ERROR_FILE, "inside, by a link");
    CHECK(hot_folder_check_input(context, &folder, in_root("empty")) == HOT_ERROR_FILE, "the folder itself");
    check_write(in_root("emptyish.nrrd"), "x");
    CHECK(hot_folder_check_input(context, &folder, in_root("emptyish.nrrd")) == HOT_OK,
          "a longer name is another name");
    int before = entries(root);
    hot_folder_discard(context, &folder);
    CHECK(entries(root) == before - 1, "discard removes the temporary folder");
    hot_folder_discard(context, &folder);
}

static void test_report(void)
{
    cJSON *made = cJSON_CreateObject(), *back = NULL;
    cJSON_AddNumberToObject(made, "value", .1);
    cJSON_AddNumberToObject(made, "missing", NAN);
    const char *path = in_root("r.json");
    CHECK(hot_report_save(context, made, path) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_report_load(context, path, &back) == HOT_OK, "%s", hot_context_message(context));
    CHECK_NEAR(cJSON_GetNumberValue(cJSON_GetObjectItem(back, "value")), .1, 1e-17, "value");
    CHECK(cJSON_IsNull(cJSON_GetObjectItem(back, "missing")), "NaN is null");
    cJSON_Delete(back);
    CHECK(hot_report_save(context, made, "/dev/full") == HOT_ERROR_FILE, "full disk");
    CHECK(hot_report_save(context, NULL, path) == HOT_ERROR_MEMORY, "no report");
    CHECK(hot_report_load(context, in_root("none.json"), &back) == HOT_ERROR_FILE && !back, "not there");
    check_write(path, "{");
    CHECK(hot_report_load(context, path, &back) == HOT_ERROR_FORMAT && !back, "not JSON");
    CHECK(hot_report_load(context, root, &back) != HOT_OK && !back, "a folder");
    cJSON_Delete(made);
}

/* The leftovers of a killed run are removed by the next one to the same name; those of another name, in use, or with
 * only a similar name stay. */
static void test_abandoned(void)
{
    static const struct { const char *name; int old, locked, goes; } cases[] = {
        {".part-4000001-1-swept", 1, 0, 1},  {".part-4000002-2-swept", 0, 0, 1}, {".part-4000003-3-swept", 1, 1, 0},
        {".part-4000004-4-other", 1, 0, 0},  {".part-x-5-swept", 1, 0, 0},       {"part-4000005-6-swept", 1, 0, 0},
        {".part-4000006-7-swept2", 1, 0, 0}, {".part-4000007-swept", 1, 0, 0},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    const struct timespec long_ago[2] = {{1000000000, 0}, {1000000000, 0}};
    int handles[CASES];
    for (int i = 0; i < CASES; i++) {
        char inside[256];
        const char *path = in_root(cases[i].name);
        snprintf(inside, sizeof inside, "%s/tensors.nrrd", path);
        CHECK(mkdir(path, 0700) == 0, "%s", path);
        check_write(inside, "half");
        handles[i] = open(path, O_RDONLY | O_DIRECTORY);
        CHECK(!cases[i].locked || flock(handles[i], LOCK_EX) == 0, "lock");
        CHECK(!cases[i].old || utimensat(AT_FDCWD, path, long_ago, 0) == 0, "age");
    }
    CHECK(write_run(in_root("swept"), 0, "new") == HOT_OK, "%s", hot_context_message(context));
    for (int i = 0; i < CASES; i++) {
        CHECK((access(in_root(cases[i].name), F_OK) != 0) == cases[i].goes, "%s", cases[i].name);
        close(handles[i]);
    }
    /* and a run that is under way is safe from another, however old its folder looks */
    hot_folder one, two;
    CHECK(hot_folder_begin(context, in_root("busy"), 0, &one) == HOT_OK, "%s", hot_context_message(context));
    char folder[256];
    snprintf(folder, sizeof folder, "%s", one.temporary);
    CHECK(utimensat(AT_FDCWD, folder, long_ago, 0) == 0, "age");
    pid_t other = fork(); /* another process, with another name for its folder */
    if (other == 0) {
        hot_status status = hot_folder_begin(context, in_root("busy"), 0, &two);
        hot_folder_discard(context, &two);
        _exit(status != HOT_OK);
    }
    int state = 1;
    CHECK(other > 0 && waitpid(other, &state, 0) == other && state == 0, "the other run: %d", state);
    CHECK(access(folder, F_OK) == 0, "a run under way lost its folder");
    hot_folder_discard(context, &one);
    CHECK(access(folder, F_OK) != 0, "its own end removes it");
}

int main(void)
{
    if (!mkdtemp(root) || hot_context_create(NULL, &context) != HOT_OK)
        return 1;
    test_new_and_replaced();
    test_refusals();
    test_inputs();
    test_report();
    test_abandoned();
    hot_context_destroy(&context);
    char command[64];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    CHECK(system(command) == 0, "clean up");
    HOT_TEST_END();
}
