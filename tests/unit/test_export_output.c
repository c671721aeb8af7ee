/* Outputs appear whole or not at all, and never over an input. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/common/output.h"
#include "io/common/parents.h"
#include "io/common/volume_writer.h"

static int locked_by_another(const char *path)
{
    int handle = open(path, O_RDONLY);
    CHECK(handle >= 0, "%s", path);
    int locked = flock(handle, LOCK_EX | LOCK_NB) != 0;
    close(handle);
    return locked;
}

/* From its first moment to its last name, whoever writes to it, and by whatever library. */
static void test_locked(hot_context *context)
{
    hot_output output;
    hot_volume_writer volume;
    FILE *file;
    CHECK(hot_output_begin(context, "locked", &output) == HOT_OK && locked_by_another(output.temporary), "begun");
    CHECK(hot_output_file(context, &output, &file) == HOT_OK && fputs("new", file) >= 0, "write");
    CHECK(hot_output_finish(context, &output) == HOT_OK && locked_by_another(output.temporary), "finished");
    CHECK(hot_output_commit(context, &output) == HOT_OK && !locked_by_another("locked"), "committed");
    const char *names[] = {"volume.nii", "volume.nii.gz"};
    for (int i = 0; i < 2; i++) {
        CHECK(hot_volume_begin(context, names[i], "head", 4, 4, &volume) == HOT_OK, "%s", names[i]);
        CHECK(locked_by_another(volume.output.temporary), "%s is written without a lock", names[i]);
        CHECK(hot_volume_write(context, &volume, "data", 4) == HOT_OK, "%s", names[i]);
        CHECK(hot_volume_end(context, &volume, HOT_OK) == HOT_OK && unlink(names[i]) == 0, "%s", names[i]);
    }
    unlink("locked");
}

/* The temporary name is unpredictable, and existing files are never opened. */
static void test_own(hot_context *context)
{
    hot_output one, two;
    CHECK(hot_output_begin(context, "own", &one) == HOT_OK && hot_output_begin(context, "own", &two) == HOT_OK, "two");
    CHECK(strcmp(one.temporary, two.temporary) != 0, "both are %s", one.temporary);
    unsigned int first, second;
    CHECK(sscanf(one.temporary, ".part-%*d-%u-", &first) == 1 && sscanf(two.temporary, ".part-%*d-%u-", &second) == 1,
          "numbers in %s", one.temporary);
    CHECK(first > 1000 || second > 1000, "they count: %u %u", first, second); /* by chance once in 10^12 */
    hot_output_discard(context, &one);
    hot_output_discard(context, &two);
}

/* In the C library's place: while `foretold`, names can be guessed after all. */
static unsigned int foretold;
ssize_t getrandom(void *to, size_t bytes, unsigned int flags)
{
    if (!foretold || bytes != sizeof foretold)
        return syscall(SYS_getrandom, to, bytes, flags);
    memcpy(to, &foretold, sizeof foretold);
    foretold++;
    return (ssize_t)bytes;
}

/* A link that stands under the next name: what it leads to is not touched, another name is taken. */
static void test_planted(hot_context *context)
{
    hot_output output;
    char name[64], kept[16] = "";
    check_write("precious", "data");
    snprintf(name, sizeof name, ".part-%ld-4711-planted", (long)getpid());
    CHECK(symlink("precious", name) == 0, "a link");
    foretold = 4711;
    CHECK(hot_output_begin(context, "planted", &output) == HOT_OK, "%s", hot_context_message(context));
    foretold = 0;
    CHECK(strstr(output.temporary, "-4712-") != NULL, "another name: %s", output.temporary);
    FILE *file = fopen("precious", "r");
    CHECK(file && fgets(kept, sizeof kept, file) && strcmp(kept, "data") == 0, "what it leads to: '%s'", kept);
    if (file)
        fclose(file);
    hot_output_discard(context, &output);
    CHECK(unlink(name) == 0 && unlink("precious") == 0, "both are there");
}

static void test_links(hot_context *context)
{
    hot_output output;
    FILE *file;
    struct stat about;
    char text[8] = "";
    CHECK(mkdir("far", 0700) == 0 && symlink("far/away", "way") == 0 && symlink("way", "twice") == 0, "links");
    CHECK(symlink("round", "round") == 0, "a circle");
    check_write("far/away", "old");
    const char *names[] = {"twice", "way", "way"};
    for (int i = 0; i < 3; i++) {
        if (i == 2)
            unlink("far/away"); /* the link's target does not exist */
        CHECK(hot_output_begin(context, names[i], &output) == HOT_OK, "%s", hot_context_message(context));
        CHECK(strncmp(output.temporary, "far/.part-", 10) == 0, "%s is on another disk, perhaps", output.temporary);
        CHECK(hot_output_file(context, &output, &file) == HOT_OK && fprintf(file, "new%d", i) > 0, "write");
        CHECK(hot_output_end(context, &output, HOT_OK) == HOT_OK, "%s", hot_context_message(context));
        CHECK(lstat(names[i], &about) == 0 && S_ISLNK(about.st_mode), "%s is no longer a link", names[i]);
        file = fopen("far/away", "r");
        CHECK(file && fgets(text, sizeof text, file) && text[3] == '0' + i, "'%s' after %d", text, i);
        fclose(file);
    }
    CHECK(hot_output_begin(context, "round", &output) == HOT_ERROR_FILE, "a circle");
    CHECK(unlink("far/away") == 0 && rmdir("far") == 0 && unlink("way") == 0 && unlink("twice") == 0 &&
              unlink("round") == 0, "only these were there");
}

/* In place of the C library's: what is done in which order, and what fails. */
static char order[64];
static int sync_fails, rename_fails; /* the so many-th one */

int fsync(int handle)
{
    struct stat about;
    if (fstat(handle, &about) == 0 && strlen(order) + 2 < sizeof order)
        strcat(order, S_ISDIR(about.st_mode) ? "d" : about.st_size == 3 ? "f" : "?");
    errno = EIO;
    return sync_fails ? -1 : 0;
}

int rename(const char *from, const char *to)
{
    if (strlen(order) + 2 < sizeof order)
        strcat(order, "r");
    errno = EIO;
    if (rename_fails && --rename_fails == 0)
        return -1;
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* The whole content is on the disk before the name, and then the name. */
static void test_order(hot_context *context)
{
    hot_output output;
    FILE *file;
    order[0] = '\0';
    CHECK(hot_output_begin(context, "kept", &output) == HOT_OK, "begin");
    CHECK(hot_output_file(context, &output, &file) == HOT_OK && fputs("new", file) >= 0, "write");
    CHECK(hot_output_end(context, &output, HOT_OK) == HOT_OK && strcmp(order, "frd") == 0, "%s", order);
    sync_fails = 1;
    CHECK(hot_output_begin(context, "kept", &output) == HOT_OK, "begin");
    CHECK(hot_output_file(context, &output, &file) == HOT_OK && fputs("bad", file) >= 0, "write");
    CHECK(hot_output_end(context, &output, HOT_OK) == HOT_ERROR_FILE, "a disk that does not take it");
    CHECK(strstr(hot_context_message(context), "kept") && strstr(hot_context_message(context), strerror(EIO)), "%s",
          hot_context_message(context));
    sync_fails = 0;
    char text[8] = "";
    file = fopen("kept", "r");
    CHECK(file && fgets(text, sizeof text, file) && strcmp(text, "new") == 0, "'%s'", text);
    fclose(file);
    unlink("kept");
}

static int reads(const char *path, const char *wanted)
{
    char text[16] = "";
    FILE *file = fopen(path, "r");
    if (file && !fgets(text, sizeof text, file))
        text[0] = '\0';
    if (file)
        fclose(file);
    return strcmp(text, wanted) == 0;
}

/* Files that belong together: the last one has no place to go to, and what stood there before is there again. */
static void test_together(hot_context *context)
{
    hot_output one, two, three;
    hot_output *const all[] = {&one, &two, &three};
    const char *const names[] = {"one", "deep/er/two", "three"};
    FILE *file;
    for (int round = 0; round < 2; round++) {
        check_write("one", "old");
        for (int i = 0; i < 3; i++)
            CHECK(hot_output_begin(context, names[i], all[i]) == HOT_OK &&
                      hot_output_file(context, all[i], &file) == HOT_OK && fputs("new", file) >= 0, "%s", names[i]);
        rename_fails = round == 0 ? 2 : 0; /* "one" is exchanged, "two" renamed */
        CHECK(hot_output_end_all(context, all, 3, HOT_OK) == (round == 0 ? HOT_ERROR_FILE : HOT_OK), "round %d", round);
        rename_fails = 0;
        CHECK(reads("one", round == 0 ? "old" : "new"), "round %d: the first", round);
        CHECK((access("deep", F_OK) == 0) == (round == 1) && (access("three", F_OK) == 0) == (round == 1),
              "round %d: the others", round);
    }
    CHECK(reads("deep/er/two", "new") && reads("three", "new"), "all of them");
    CHECK(unlink("one") == 0 && unlink("deep/er/two") == 0 && rmdir("deep/er") == 0 && rmdir("deep") == 0 &&
              unlink("three") == 0, "no other files");
}

int main(void)
{
    char folder[] = "/tmp/hot_output_XXXXXX";
    hot_context *context = NULL;
    hot_output output;
    FILE *file;
    CHECK(mkdtemp(folder) && chdir(folder) == 0, "folder");
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    check_write("in", "data");
    check_write("other", "data");
    CHECK(symlink("in", "soft") == 0 && link("in", "hard") == 0 && symlink("nothing", "dangling") == 0, "links");
    const char *same[] = {"in", "./in", "soft", "hard"};
    for (int i = 0; i < 4; i++)
        CHECK(hot_output_check_distinct(context, "in", same[i]) == HOT_ERROR_ARGUMENT, "%s is in", same[i]);
    CHECK(strstr(hot_context_message(context), "hard") && strstr(hot_context_message(context), "'in'"), "%s",
          hot_context_message(context));
    const char *spared[] = {"other", "new", "-", "dangling", NULL};
    for (int i = 0; i < 5; i++)
        CHECK(hot_output_check_distinct(context, "in", spared[i]) == HOT_OK, "%d", i);
    CHECK(hot_output_check_distinct(context, "/dev/null", "/dev/null") == HOT_OK, "a device");

    /* given up: the old file stays, nothing else is left; committed: the new file replaces it */
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

    /* folders that lack are made; when the output is given up they go with it, unless something else came into them */
    CHECK(hot_output_begin(context, "a/b/c/file", &output) == HOT_OK && access("a/b/c", F_OK) == 0, "made");
    hot_output_discard(context, &output);
    CHECK(access("a", F_OK) != 0, "and gone");
    CHECK(hot_output_begin(context, "a/b/file", &output) == HOT_OK, "made again");
    check_write("a/mine", "data");
    hot_output_discard(context, &output);
    CHECK(access("a/b", F_OK) != 0 && access("a/mine", F_OK) == 0, "files in use stay");
    CHECK(hot_output_begin(context, "a/b/file", &output) == HOT_OK &&
              hot_output_file(context, &output, &file) == HOT_OK && hot_output_commit(context, &output) == HOT_OK &&
              access("a/b/file", F_OK) == 0, "committed: %s", hot_context_message(context));
    CHECK(unlink("a/b/file") == 0 && rmdir("a/b") == 0 && unlink("a/mine") == 0 && rmdir("a") == 0, "cleared");
    CHECK(hot_output_begin(context, "in/file", &output) == HOT_ERROR_FILE, "a file is no folder");
    /* the same is known without making anything */
    const char *fine[] = {"a/b/c", "file", "in", "/dev/null", "-", NULL}, *wrong[] = {"in/a/file", "/dev/null/file"};
    for (int i = 0; i < 6; i++)
        CHECK(hot_parents_check(context, fine[i], 0) == HOT_OK, "%d: %s", i, hot_context_message(context));
    for (int i = 0; i < 2; i++)
        CHECK(hot_parents_check(context, wrong[i], 0) == HOT_ERROR_FILE, "%s", wrong[i]);
    CHECK(hot_parents_check(context, folder, 0) == HOT_ERROR_FILE && hot_parents_check(context, folder, 1) == HOT_OK,
          "a folder");
    CHECK(access("a", F_OK) != 0, "nothing was made");
    CHECK(hot_output_begin(context, folder, &output) == HOT_ERROR_FILE, "a folder");

    /* what a killed process left of this very output is removed, when it is no longer written to */
    const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    const char *left[] = {".part-999999999-0-other", ".part-999999998-7-other", ".part-999999999-0-another",
                          ".part-x-0-other", ".part-999999997-1-other"};
    for (int i = 0; i < 5; i++) {
        check_write(left[i], "half");
        CHECK(i == 4 || utimensat(AT_FDCWD, left[i], old, 0) == 0, "age");
    }
    int writing = open(left[1], O_RDONLY);
    CHECK(writing >= 0 && flock(writing, LOCK_EX | LOCK_NB) == 0, "lock");
    CHECK(hot_output_begin(context, "./other", &output) == HOT_OK, "begin");
    CHECK(access(left[0], F_OK) != 0, "an old one is removed");
    CHECK(access(left[4], F_OK) != 0, "a young one is removed");
    for (int i = 1; i < 4; i++)
        CHECK(access(left[i], F_OK) == 0, "%s stays", left[i]);
    close(writing);
    hot_output_discard(context, &output);
    CHECK(hot_output_begin(context, "other", &output) == HOT_OK && access(left[1], F_OK) != 0, "no longer locked");
    CHECK(hot_output_file(context, &output, &file) == HOT_OK && fputs("new", file) >= 0, "write");
    CHECK(utimensat(AT_FDCWD, output.temporary, old, 0) == 0, "old");
    hot_output second;
    CHECK(hot_output_begin(context, "other", &second) == HOT_OK && access(output.temporary, F_OK) == 0,
          "being written");
    hot_output_discard(context, &second);
    CHECK(hot_output_end(context, &output, HOT_OK) == HOT_OK, "commit");
    for (int i = 2; i < 4; i++)
        unlink(left[i]);
    test_locked(context);
    test_own(context);
    test_planted(context);
    test_links(context);
    test_order(context);
    test_together(context);
    const char *names[] = {"in", "other", "soft", "hard", "dangling"};
    for (int i = 0; i < 5; i++)
        unlink(names[i]);
    CHECK(chdir("/") == 0 && rmdir(folder) == 0, "nothing else was left");
    hot_context_destroy(&context);
    HOT_TEST_END();
}
