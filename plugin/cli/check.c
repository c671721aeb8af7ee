/* hotfiber check: is the gradient table right, are the volumes sound. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "dwi/check.h"
#include "io/common/report.h"

const cli_command cli_check_command = {
    "check", "is the gradient table right; damaged, copied or dark volumes, drift, gaps", "[-i] DWI [options]",
    "Compares each volume with its row of the gradient table: whether its signals are likely, given those of the other "
    "volumes. Names volumes that contradict their row, and what mends the table: rows exchanged, shifted or reversed, "
    "a table sorted by b-value, directions of another scan, an appended map. Exit status 1 when any does.\n"
    "Then compares the gradient table with the 23 others that flips and permutations of its axes make of it: under the "
    "right one fibres continue from voxel to voxel. Exit status 1 if another table is clearly more likely, else 0: the "
    "given table is the most likely, or the data do not decide. `clearly`: by more standard errors than an equally "
    "likely table reaches three times in a thousand. Flips and permutations are named in the axes of the gradients' "
    "file. Data of one plane, or of distant slices, do not show a flip across that plane.\n"
    "Then looks for volumes that are copies, empty, not finite, clipped; slices that are empty or lost signal; drift "
    "of the b=0 signal; b-values that vary within a shell; directions that are few or leave gaps.\n\n"
    "  hotfiber check dwi.nii.gz\n"
    "  hotfiber check dwi.nii.gz --bvec other.bvec --json",
    0,
};

enum { SHOWN = 4 };

static const char *const axis_names[] = {
    [HOT_CHECK_IN_BVEC] = "rows of the bvec", [HOT_CHECK_IN_TABLE] = "columns of the gradient table",
    [HOT_CHECK_IN_NRRD] = "DWMRI_gradient keys", [HOT_CHECK_IN_A_BVEC] = "rows of a bvec"};

/* The verdict on a table that no other beats: one sentence, with the tables that these data do not separate from it. */
static void show_likeliest(const hot_check_gradients *check)
{
    char names[HOT_CHECK_TEXT];
    const int alike = hot_check_name_alike(check, names, sizeof names);
    if (!alike) {
        printf("gradient table: right: the most likely of %d, in %zu voxels\n", HOT_CHECK_TABLES, check->voxels);
        return;
    }
    printf("gradient table: as given, or %s: these data cannot tell which", names);
    if (alike < HOT_CHECK_TABLES - 1)
        printf("; the other %d are less likely", HOT_CHECK_TABLES - 1 - alike);
    printf(", in %zu voxels\n", check->voxels);
}

/* How the table is mended, in the words of the file that it is in. */
static void show_remedy(hot_check_axes axes, const char *rows)
{
    switch (axes) {
    case HOT_CHECK_IN_BVEC:
        printf("the rows of the right bvec are %s of this one's\n", rows);
        break;
    case HOT_CHECK_IN_TABLE:
        printf("the columns x y z of the right gradient table are %s of this one's\n", rows);
        break;
    case HOT_CHECK_IN_NRRD:
        printf("x y z of the right DWMRI_gradient keys are %s of these, or the measurement frame is wrong\n", rows);
        break;
    case HOT_CHECK_IN_A_BVEC:
        printf("its own axes are oblique to these; written as a bvec, the rows of the right one are %s of this one's\n",
               rows);
        break;
    }
}

/* Whether the rows are those of the volumes, and if not, nothing about axes. */
static int rows_are_wrong(const hot_check_rows *rows) { return rows->verdict > HOT_CHECK_ROWS_AGREE; }

static void show_rows(const hot_check_rows *rows)
{
    if (rows_are_wrong(rows)) {
        printf("gradient table: WRONG: %s\n", rows->text);
        if (rows->remedy[0])
            printf("  to mend it: %s (counted from 0)\n", rows->remedy);
        printf("  no verdict on axes: it needs rows that are their volumes'\n");
    } else if (rows->verdict == HOT_CHECK_ROWS_AGREE) {
        printf("  volumes and rows of the gradient table: agree, in %zu voxels\n", rows->voxels);
    } else {
        printf("  volumes and rows of the gradient table: %s\n", rows->text);
    }
}

static void show_text(const char *source, const hot_check_gradients *check, const hot_check_rows *rows,
                      const hot_check_findings *findings)
{
    char names[HOT_CHECK_TEXT];
    size_t count, warnings = 0;
    const hot_check_finding *list = hot_check_findings_list(findings, &count);
    printf("%s\n", strcmp(source, "-") == 0 ? "standard input" : cli_shown(source));
    for (size_t n = 0; n < count; n++) {
        printf("  %s %s\n", list[n].warning ? "mend:" : "note:", cli_shown(list[n].text));
        warnings += list[n].warning != 0;
    }
    if (rows->series) {
        printf("  mend: from volume %zu on (counted from 0) the signal is %.2f times as bright as before: were series "
               "joined? Scale them alike\n", rows->series, rows->brightness);
        warnings++;
    }
    if (!warnings)
        printf("  volumes and scheme: nothing to mend\n");
    show_rows(rows);
    if (rows_are_wrong(rows))
        return;
    if (check->verdict == HOT_CHECK_WRONG) {
        printf("  likeliest tables (standard errors more or less likely than the one given; clear beyond %.1f):\n",
               check->limit);
        for (int n = 0; n < SHOWN; n++)
            printf("    %-42s %+6.1f\n", check->table[n].name, check->table[n].z);
        const int ties = hot_check_name_ties(check, 0, names, sizeof names);
        printf("gradient table: WRONG: it should be %s%s; ", names,
               ties > 1 ? " (a tie: these data cannot tell them apart)" : "");
        hot_check_name_ties(check, 1, names, sizeof names);
        show_remedy(check->axes, names);
    } else if (check->verdict == HOT_CHECK_LIKELIEST) {
        show_likeliest(check);
    } else {
        printf("gradient table: cannot tell: %s\n", cli_shown(check->reason));
    }
}

static void add_number(cJSON *to, const char *name, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(to, name, value);
    else
        cJSON_AddNullToObject(to, name);
}

static void add_rows(cJSON *root, const hot_check_rows *rows, size_t volumes)
{
    static const char *const names[] = {"cannot tell", "agree", "volumes", "order", "foreign directions"};
    cJSON *object = cJSON_AddObjectToObject(root, "rows");
    cJSON_AddStringToObject(object, "verdict", names[rows->verdict]);
    cJSON_AddStringToObject(object, "text", rows->text);
    cJSON_AddStringToObject(object, "remedy", rows->remedy);
    cJSON_AddNumberToObject(object, "voxels", (double)rows->voxels);
    cJSON_AddNumberToObject(object, "volumes", (double)rows->volumes);
    add_number(object, "z", rows->z);
    add_number(object, "gain", rows->gain);
    if (rows->series) {
        cJSON_AddNumberToObject(object, "series", (double)rows->series);
        cJSON_AddNumberToObject(object, "brightness", rows->brightness);
    }
    cJSON *list = cJSON_AddArrayToObject(object, "row");
    for (size_t v = 0; v < volumes; v++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(rows->row[v]));
}

static const char *verdict_of(const hot_check_gradients *check, const hot_check_rows *rows)
{
    char names[HOT_CHECK_TEXT];
    return rows_are_wrong(rows)                 ? "none"
        : check->verdict == HOT_CHECK_WRONG     ? "wrong"
        : check->verdict != HOT_CHECK_LIKELIEST ? "cannot tell"
        : hot_check_name_alike(check, names, sizeof names) ? "possible"
                                                           : "right";
}

static hot_status show_json(hot_context *context, const char *source, const hot_check_gradients *check,
                            const hot_check_rows *rows, size_t volumes, const hot_check_findings *findings)
{
    size_t count;
    double drift, t;
    const hot_check_finding *list = hot_check_findings_list(findings, &count);
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "file", source);
    add_rows(root, rows, volumes);
    cJSON *gradients = cJSON_AddObjectToObject(root, "gradients");
    cJSON_AddStringToObject(gradients, "verdict", verdict_of(check, rows));
    cJSON_AddStringToObject(gradients, "reason", check->reason);
    cJSON_AddStringToObject(gradients, "likeliest", check->table[0].name);
    cJSON_AddStringToObject(gradients, "axes", axis_names[check->axes]);
    add_number(gradients, "limit", check->limit);
    cJSON_AddNumberToObject(gradients, "voxels", (double)check->voxels);
    cJSON_AddNumberToObject(gradients, "blocks", (double)check->blocks);
    cJSON *tables = cJSON_AddArrayToObject(gradients, "tables");
    for (int n = 0; n < HOT_CHECK_TABLES; n++) {
        const hot_check_table *table = check->table + n;
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(tables, one);
        cJSON_AddStringToObject(one, "name", table->name);
        cJSON_AddStringToObject(one, "rows", table->rows);
        cJSON *matrix = cJSON_AddArrayToObject(one, "matrix");
        for (int r = 0; r < 3; r++)
            cJSON_AddItemToArray(matrix, cJSON_CreateIntArray(table->matrix[r], 3));
        add_number(one, "z", table->z);
        cJSON_AddBoolToObject(one, "told", table->told);
        cJSON_AddBoolToObject(one, "given", n == check->given);
        cJSON_AddBoolToObject(one, "tied", check->tied[n]);
    }
    cJSON *found = cJSON_AddArrayToObject(root, "findings");
    for (size_t n = 0; n < count; n++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(found, one);
        cJSON_AddStringToObject(one, "kind", list[n].kind);
        cJSON_AddBoolToObject(one, "mend", list[n].warning);
        cJSON_AddStringToObject(one, "text", list[n].text);
    }
    hot_check_findings_drift(findings, &drift, &t);
    add_number(root, "drift_percent", drift);
    add_number(root, "drift_t", t);
    char *text = hot_report_text(root);
    hot_status status = text ? HOT_OK : hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory for JSON");
    if (text)
        printf("%s\n", text);
    cJSON_free(text);
    cJSON_Delete(root);
    return status;
}

int cli_check(int argc, char **argv)
{
    const char *input = "-", *bval = NULL, *bvec = NULL, *mask_path = NULL;
    int json = 0;
    const cli_option options[] = {
        CLI_DWI_OPTION(input),
        CLI_GRADIENT_OPTIONS(bval, bvec),
        CLI_MASK_OPTION(mask_path),
        {"json", CLI_FLAG, &json, NULL, "for programs: one JSON object, with all 24 tables and every finding", 0, 0},
        CLI_END};
    CLI_PARSE(check, options);
    hot_context *context = common.context;
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    hot_check_findings *findings = NULL;
    hot_check_gradients check = {.size = sizeof check};
    hot_check_rows rows = {.size = sizeof rows};
    size_t volumes = 0;
    hot_status status = hot_dwi_load(context, input, bval, bvec, &dwi);
    if (status == HOT_OK)
        status = mask_path ? hot_mask_load(context, mask_path, hot_dwi_grid(dwi), &mask)
                           : hot_mask_estimate(context, dwi, &mask);
    if (status == HOT_OK) {
        volumes = hot_dwi_volumes(dwi);
        rows.row = hot_context_alloc(context, volumes, sizeof *rows.row);
        status = rows.row ? hot_check_volume_rows(context, dwi, mask, 0, &rows) : HOT_ERROR_MEMORY;
    }
    if (status == HOT_OK)
        status = hot_check_volumes(context, dwi, mask, &findings);
    if (status == HOT_OK && !rows_are_wrong(&rows))
        status = hot_check_gradient_table(context, dwi, mask, 0, &check);
    else if (status == HOT_OK)
        snprintf(check.reason, sizeof check.reason, "the rows are not those of the volumes");
    if (status == HOT_OK && json)
        status = show_json(context, input, &check, &rows, volumes, findings);
    else if (status == HOT_OK)
        show_text(input, &check, &rows, findings);
    hot_context_free(context, rows.row);
    hot_check_findings_destroy(&findings);
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    const int leave = cli_finish(&cli_check_command, &common, status);
    const int wrong = check.verdict == HOT_CHECK_WRONG || rows_are_wrong(&rows);
    return leave == HOT_EXIT_DONE && wrong ? HOT_EXIT_FAILED : leave;
}
