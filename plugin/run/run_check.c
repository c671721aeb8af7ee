/* Is the data set what it says? What `hotfiber check` finds, from a sample, and warnings when a run is done. */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dwi/check.h"

static const char *const axis_verdicts[] = {"unsure", "likeliest", "wrong"};
static const char *const row_verdicts[] = {"unsure", "agree", "volumes", "order", "foreign"};
/* Findings of hot_check_volumes that a run does not print elsewhere. */
static const char *const findings_told[] = {"empty_slices", "dark_slices", "signal_drift", "duplicate_volumes"};

/* Keeps a line for the end of the run. */
static int add_warning(cJSON *gradients, const char *text)
{
    cJSON *list = cJSON_GetObjectItem(gradients, "warnings");
    if (!list)
        list = cJSON_AddArrayToObject(gradients, "warnings");
    return cJSON_AddItemToArray(list, cJSON_CreateString(text));
}

void hot_run_warn(hot_run_job *job)
{
    const cJSON *line;
    cJSON_ArrayForEach(line, cJSON_GetObjectItem(job->gradients, "warnings"))
        if (cJSON_IsString(line))
            hot_context_log(job->context, HOT_LOG_WARNING, "%s", line->valuestring);
}

/* Whether the table is to blame, and nothing else can be: single volumes that look odd may be the data's own fault, and
 * so may directions that explain a little. */
static int is_certain(const hot_check_rows *rows)
{
    static const double nothing = 4; /* standard deviations above directions permuted at random */
    return rows->verdict == HOT_CHECK_ROWS_ORDER || (rows->verdict == HOT_CHECK_ROWS_FOREIGN && rows->z < nothing);
}

static hot_status report_rows(hot_run_job *job, const hot_check_rows *rows)
{
    char line[4 * HOT_CHECK_TEXT], dropped[80] = "";
    const size_t left_out = job->volumes - hot_dwi_volumes(job->dwi);
    const int wrong = rows->verdict > HOT_CHECK_ROWS_AGREE, certain = is_certain(rows);
    if (left_out)
        snprintf(dropped, sizeof dropped, " (volumes counted without the %zu empty ones)", left_out);
    if (certain && !job->options.force_table)
        return hot_context_fail_parameter(job->context, HOT_ERROR_DATA, "force_table",
                                          "the gradient table is not that of these volumes: %s%s%s%s; `hotfiber check` "
                                          "tells more, --force_table uses it all the same", rows->text, dropped,
                                          rows->remedy[0] ? "; to mend it, counted from 0: " : "", rows->remedy);
    cJSON *object = cJSON_AddObjectToObject(job->gradients, "rows");
    int whole = cJSON_AddStringToObject(object, "verdict", row_verdicts[rows->verdict]) &&
                cJSON_AddStringToObject(object, "text", rows->text) &&
                cJSON_AddStringToObject(object, "remedy", rows->remedy) &&
                (!isfinite(rows->z) || cJSON_AddNumberToObject(object, "z", rows->z));
    if (wrong) {
        snprintf(line, sizeof line, "the gradient table %s that of these volumes, and was used all the same: %s%s; "
                 "`hotfiber check` tells more", certain ? "is not" : "does not look like", rows->text, dropped);
        whole = whole && add_warning(job->gradients, line);
    }
    if (rows->series) {
        snprintf(line, sizeof line, "from volume %zu on the signal is %.2f times as bright as before%s: were series "
                 "joined? Scale them alike first", rows->series, rows->brightness, dropped);
        whole = whole && cJSON_AddNumberToObject(object, "series", (double)rows->series) &&
                cJSON_AddNumberToObject(object, "brightness", rows->brightness) && add_warning(job->gradients, line);
    }
    return whole ? HOT_OK : HOT_ERROR_MEMORY;
}

static hot_status report_axes(hot_run_job *job, const hot_check_gradients *check)
{
    char line[2 * HOT_CHECK_TEXT], names[HOT_CHECK_TEXT];
    cJSON *object = job->gradients;
    const int alike = check->verdict == HOT_CHECK_LIKELIEST ? hot_check_name_alike(check, names, sizeof names) : 0;
    if (!cJSON_AddStringToObject(object, "verdict", alike ? "possible" : axis_verdicts[check->verdict]) ||
        (alike && !cJSON_AddStringToObject(object, "alike", names)))
        return HOT_ERROR_MEMORY;
    if (check->verdict == HOT_CHECK_UNSURE)
        return cJSON_AddStringToObject(object, "reason", check->reason) ? HOT_OK : HOT_ERROR_MEMORY;
    /* Few in its place: an axis that the data do not show. Many: voxels so few that they say little. */
    enum { FEW = 3 };
    if (alike && alike <= FEW) {
        snprintf(line, sizeof line, "the gradient table is right as given, or with %s: these data cannot tell which; "
                 "`hotfiber check` of a whole head of this protocol can", names);
        if (!add_warning(object, line))
            return HOT_ERROR_MEMORY;
    }
    int whole = cJSON_AddStringToObject(object, "likeliest", check->table[0].name) &&
                cJSON_AddNumberToObject(object, "z", check->table[0].z) &&
                cJSON_AddNumberToObject(object, "voxels", (double)check->voxels);
    if (check->verdict == HOT_CHECK_WRONG) {
        hot_check_name_ties(check, 0, names, sizeof names);
        snprintf(line, sizeof line, "the gradient table is probably wrong: more likely is %s; see `hotfiber check`",
                 names);
        whole = whole && add_warning(object, line);
    }
    return whole ? HOT_OK : HOT_ERROR_MEMORY;
}

/* Damaged slices, drift, copies. */
enum { SLICE_VOXELS = 600 }; /* whose mean has a twentieth of a voxel's noise */
static hot_status look_at_volumes(hot_run_job *job)
{
    hot_check_findings *findings;
    size_t count;
    hot_status status = hot_check_volumes_sampled(job->context, job->dwi, job->mask, SLICE_VOXELS, &findings);
    if (status != HOT_OK)
        return status;
    const hot_check_finding *list = hot_check_findings_list(findings, &count);
    for (size_t n = 0; n < count && status == HOT_OK; n++)
        for (size_t k = 0; k < sizeof findings_told / sizeof *findings_told; k++)
            if (list[n].warning && strcmp(list[n].kind, findings_told[k]) == 0 &&
                !add_warning(job->gradients, list[n].text))
                status = HOT_ERROR_MEMORY;
    hot_check_findings_destroy(&findings);
    return status;
}

/* A sample of voxels that takes about a hundredth of the run's time. A run does not fail because the check cannot be
 * done. */
hot_status hot_run_check_data(hot_run_job *job)
{
    const size_t share = hot_mask_count(job->mask) / 20, most = share < 6000 ? 6000 : share > 10000 ? 10000 : share;
    hot_check_rows rows = {.size = sizeof rows};
    hot_check_gradients check = {.size = sizeof check};
    job->gradients = cJSON_CreateObject();
    if (!job->gradients)
        return HOT_ERROR_MEMORY;
    hot_status status = hot_check_volume_rows(job->context, job->dwi, job->mask, 0, &rows);
    const int compared = status == HOT_OK;
    if (compared && (status = report_rows(job, &rows)) != HOT_OK)
        return status;
    if (compared && rows.verdict <= HOT_CHECK_ROWS_AGREE)
        status = hot_check_gradient_table(job->context, job->dwi, job->mask, most, &check);
    else
        snprintf(check.reason, sizeof check.reason, "the rows are not those of the volumes");
    if (status == HOT_OK)
        status = report_axes(job, &check);
    if (status == HOT_OK)
        status = look_at_volumes(job);
    return status == HOT_ERROR_CANCELLED || status == HOT_ERROR_MEMORY ? status : HOT_OK;
}
