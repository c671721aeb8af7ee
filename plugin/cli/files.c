/* The files that options name: whether outputs can be written, before anything is computed, and what a name that is not
 * there may have been meant to be. */
#include "cli.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/common/output.h"
#include "io/common/parents.h"
#include "io/common/paths.h"

static int is_output(const cli_option *option)
{
    return option->kind == CLI_OUTPUT || option->kind == CLI_OUTPUT_IMAGE || option->kind == CLI_OUTPUT_NRRD ||
           option->kind == CLI_OUTPUT_ANY;
}

static const char *dashes(const cli_option *option) { return option->name[1] ? "--" : "-"; }

/* The file that an option names: NULL when it names none. */
static const char *file_of(const cli_option *option)
{
    const int names_file = is_output(option) ||
        (option->kind == CLI_TEXT && option->value &&
         (strcmp(option->value, "FILE") == 0 || strcmp(option->value, "DWI") == 0));
    const char *path = names_file ? *(const char **)option->target : NULL;
    return path && strcmp(path, "-") != 0 ? path : NULL;
}

/* Refuses two options with the same file if one is an output. Readers check the files that a file refers to (a detached
 * header's data). */
static hot_status check_pair(hot_context *context, const cli_option *one, const cli_option *other)
{
    const char *path = file_of(one), *second = file_of(other);
    if (!path || !second || (!is_output(one) && !is_output(other)))
        return HOT_OK;
    if (strcmp(path, second) == 0 && (access(path, F_OK) != 0 || (is_output(one) && is_output(other))))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "%s%s and %s%s both name '%s'; two files need two names",
                                dashes(one), one->name, dashes(other), other->name, path);
    return is_output(one) ? hot_output_check_distinct(context, second, path)
                          : hot_output_check_distinct(context, path, second);
}

static hot_status check_output(hot_context *context, const cli_option *option)
{
    const char *path = file_of(option);
    if (!path)
        return HOT_OK;
    if (option->kind == CLI_OUTPUT_IMAGE || option->kind == CLI_OUTPUT_NRRD) {
        const char *suffix = hot_path_suffix(path), *known = option->kind == CLI_OUTPUT_NRRD
            ? HOT_NRRD_SUFFIXES : HOT_IMAGE_SUFFIXES;
        if (suffix[0] && !hot_path_has_one_of(path, known))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                    "%s%s '%s': the format follows from the end of the name, and '%s' is none of %s",
                                    dashes(option), option->name, path, suffix, known);
    }
    return hot_parents_check(context, path, option->kind == CLI_OUTPUT_ANY);
}

hot_status cli_check_files(const cli_option *options, hot_context *context)
{
    hot_status status = HOT_OK;
    for (const cli_option *option = options; option->name && status == HOT_OK; option++)
        for (const cli_option *other = option + 1; other->name && status == HOT_OK; other++)
            status = check_pair(context, option, other);
    for (const cli_option *option = options; option->name && status == HOT_OK; option++)
        if (is_output(option))
            status = check_output(context, option);
    return status;
}

/* ---- Folders of runs ---------------------------------------------------------------------------------------- */

const char *cli_run_file(const char *path, const char *files)
{
    static char found[PATH_MAX];
    struct stat about;
    if (!path || stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return path;
    while (*files) {
        const int length = (int)strcspn(files, ",");
        snprintf(found, sizeof found, "%s/%.*s", path, length, files);
        if (access(found, F_OK) == 0)
            return found;
        files += length + (files[length] == ',');
    }
    return path;
}

/* Options whose file may be named by the folder of the run that left it; of one command, or (NULL) of all. */
static const struct { const char *command, *option, *files; } of_runs[] = {
    {"score", "i", "peaks.nrrd,peaks.nii.gz"}, {"score", "truth", "peaks.nrrd,peaks.nii.gz"},
    {"peaks", "i", "tensors.nrrd,wmfod.nii.gz"}, {NULL, "mask", "mask.nii.gz"}, {NULL, "response", "response.txt"},
    {NULL, "background", "b0.nii.gz"}, {NULL, "sigma", "noise.nii.gz"}};

void cli_take_run_folders(const cli_command *command, const cli_option *options)
{
    enum { PLACES = 8 };
    static char place[PLACES][PATH_MAX];
    size_t used = 0;
    for (const cli_option *option = options; option->name; option++)
        for (size_t n = 0; n < sizeof of_runs / sizeof *of_runs && used < PLACES; n++) {
            if (option->kind != CLI_TEXT || strcmp(option->name, of_runs[n].option) != 0 ||
                !cli_given(option->target) ||
                (of_runs[n].command && strcmp(command->name, of_runs[n].command) != 0))
                continue;
            const char **path = option->target, *file = cli_run_file(*path, of_runs[n].files);
            if (file == *path)
                continue;
            snprintf(place[used], sizeof place[used], "%s", file);
            *path = place[used++];
        }
}

/* The name in a missing file's folder that is most like its own, with the folder; "" when none is near. */
static void find_near(const char *path, char near[PATH_MAX])
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const int length = (int)(name - path);
    char folder_name[PATH_MAX];
    cli_guess guess;
    near[0] = '\0';
    snprintf(folder_name, sizeof folder_name, "%.*s", length, path);
    DIR *folder = strlen(path) < PATH_MAX ? opendir(length ? folder_name : ".") : NULL;
    struct dirent *entry;
    cli_guess_begin(&guess, name);
    while (folder && (entry = readdir(folder))) {
        const int before = guess.distance;
        cli_guess_try(&guess, entry->d_name);
        if (guess.distance < before) /* the entry's name does not outlive the next one */
            snprintf(near, PATH_MAX, "%.*s%s", length, path, entry->d_name);
    }
    if (folder)
        closedir(folder);
}

/* The file that an option takes of a run's folder (the first name of the list); NULL: none. */
static const char *file_of_run(const cli_option *options, const char *path)
{
    for (const cli_option *option = options; option->name; option++)
        for (size_t n = 0; n < sizeof of_runs / sizeof *of_runs; n++)
            if (file_of(option) == path && strcmp(option->name, of_runs[n].option) == 0 && !of_runs[n].command)
                return of_runs[n].files;
    return NULL;
}

/* A program that converts an unreadable file to a readable one; "" if unknown. */
static const char *advice(const char *path, const char *message)
{
    static const struct { const char *suffix, *text; } kinds[] = {
        {".dcm", "; dcm2niix makes NIfTI of DICOM files"}, {".ima", "; dcm2niix makes NIfTI of DICOM files"},
        {".mgz", "; mri_convert makes NIfTI of it"},       {".mgh", "; mri_convert makes NIfTI of it"},
        {".mnc", "; mnc2nii makes NIfTI of it"},
    };
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode) && cli_run_file(path, "report.json") != path)
        return " of a run without the files that this command reads there; --outputs default,... leaves them";
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) /* unless a folder was requested */
        return !strstr(message, "is a folder") ? "" : "; if it holds DICOM files, dcm2niix makes NIfTI of them";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (hot_path_has_suffix(path, kinds[i].suffix))
            return kinds[i].text;
    return "";
}

/* The first input that the message speaks of. */
static const char *find_blamed(const cli_option *options, const cli_common *common)
{
    const char *message = hot_context_message(common->context);
    for (const cli_option *option = options; option && option->name; option++) {
        const char *path = is_output(option) ? NULL : file_of(option);
        if (path && strstr(message, cli_shown(path)))
            return path;
    }
    for (int a = 0; a < common->argument_count; a++)
        if (strstr(message, cli_shown(common->arguments[a])))
            return common->arguments[a];
    return NULL;
}

void cli_suggest_file(const cli_option *options, const cli_common *common, hot_status status, char *text, size_t size)
{
    const char *path = find_blamed(options, common);
    char near[PATH_MAX];
    text[0] = '\0';
    if (!path || (status != HOT_ERROR_FILE && status != HOT_ERROR_FORMAT))
        return;
    char quoted[PATH_MAX];
    struct stat about;
    snprintf(quoted, sizeof quoted, "'%s'", cli_shown(path));
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode) && !strstr(hot_context_message(common->context), quoted))
        return; /* it speaks of a file within */
    const char *file = options ? file_of_run(options, path) : NULL;
    if (file && cli_run_file(path, "report.json") != path) {
        snprintf(text, size, " of a run without %s", file);
        return;
    }
    if (access(path, F_OK) == 0) {
        snprintf(text, size, "%s", advice(path, hot_context_message(common->context)));
        return;
    }
    find_near(path, near);
    if (near[0])
        snprintf(text, size, "; did you mean '%s'", cli_shown(near));
}
