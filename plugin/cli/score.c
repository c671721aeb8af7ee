/* hotfiber score: directions of any tool against a truth file. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "io/common/output.h"
#include "io/common/report.h"

const cli_command cli_score_command = {
    "score", "compare directions of any tool with the truth", "[-i] DIRECTIONS --truth FILE [options]",
    "Reads directions (3 values per fibre and voxel: NRRD of this program, or NIfTI in scanner RAS as MRtrix and DIPY "
    "users write them; zeros and NaN are absent fibres) and the truth of a phantom, and says per condition: right = "
    "share of voxels with the right number of fibres, solved = right number and each within --tolerance, n+ and n- = "
    "fibres too many and too few per voxel, error = angle between true and found fibres, degrees. The mean is that of "
    "`solved` over single, 30-40, 45-55, 60-90 degrees and three fibres.\n\n"
    "  hotfiber score peaks.nii.gz --truth truth.nrrd --threshold .1 --max-fibers 3",
    0};

static double share(size_t part, const hot_score_group *group) { return (double)part / (double)group->voxels; }

/* Voxels that are empty in both files count as right, which a background makes of everything. */
static void note_background(hot_context *context, const hot_score *score)
{
    size_t groups, all = 0, empty = 0;
    const hot_score_group *group = hot_score_groups(score, &groups);
    for (size_t g = 0; g < groups; g++)
        if (strcmp(group[g].table, "all") == 0)
            all = group[g].voxels;
        else if (strcmp(group[g].table, "condition") == 0 && strcmp(group[g].name, "isotropic") == 0)
            empty = group[g].right_count;
    if (2 * empty > all)
        hot_context_log(context, HOT_LOG_NOTE, "%zu of %zu voxels have no direction in either file and count as right: "
                        "leave the background out with --mask", empty, all);
}

static int is_standard(const hot_score_group *group)
{
    return strcmp(group->table, "condition") == 0 || strcmp(group->table, "all") == 0;
}

static int has(const hot_score_group *groups, size_t count, const char *table, const char *name_end)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(groups[i].name), end = strlen(name_end);
        if (strcmp(groups[i].table, table) == 0 && length >= end &&
            strcmp(groups[i].name + length - end, name_end) == 0)
            return 1;
    }
    return 0;
}

/* Whether a table shows more than the conditions do: crossings at other angles, or of unequal fibres. */
static int is_shown(const hot_score_group *groups, size_t count, const hot_score_group *group, int every)
{
    if (every || is_standard(group))
        return 1;
    if (strcmp(group->table, "angle") == 0)
        return has(groups, count, "condition", "other");
    return strcmp(group->table, "fraction") == 0 &&
           (has(groups, count, "fraction", ".7") || has(groups, count, "fraction", ".8") ||
            has(groups, count, "fraction", ".9"));
}

static void print_table(FILE *file, const hot_score *score, int every)
{
    size_t count;
    int present;
    const hot_score_group *groups = hot_score_groups(score, &count);
    const char *table = "";
    for (size_t i = 0; i < count; i++) {
        const hot_score_group *g = &groups[i];
        if (!is_shown(groups, count, g, every))
            continue;
        if (strcmp(table, g->table) != 0 && strcmp(g->table, "all") != 0) {
            fprintf(file, "%s%-20s %8s %7s %7s %7s %7s %7s %7s %7s\n", table[0] ? "\n" : "", g->table, "voxels",
                    "right", "solved", "n+", "n-", "error", "median", "95 %");
            table = g->table;
        }
        fprintf(file, "%-20s %8zu %7.3f %7.3f %7.3f %7.3f", g->name, g->voxels, share(g->right_count, g),
                share(g->solved, g), g->plus, g->minus);
        if (g->matched)
            fprintf(file, " %7.2f %7.2f %7.2f\n", g->error_mean, g->error_median, g->error_95);
        else
            fprintf(file, " %7s %7s %7s\n", "-", "-", "-");
    }
    double mean = hot_score_mean(score, &present);
    if (present)
        fprintf(file, "\nsolved, mean over %s%d of the groups single 30-40 45-55 60-90 three: %.4f\n",
                present == 5 ? "all " : "", present, mean);
}

static int add_number(cJSON *to, const char *name, double value)
{
    return (isfinite(value) ? cJSON_AddNumberToObject(to, name, value) : cJSON_AddNullToObject(to, name)) != NULL;
}

/* {"mean_solved": ..., "mean_groups": 5, "groups": [{"table": ..., ...}]}; NULL when memory is short. */
static char *make_json(const hot_score *score)
{
    size_t count;
    int present, good;
    const hot_score_group *groups = hot_score_groups(score, &count);
    double mean = hot_score_mean(score, &present);
    cJSON *root = cJSON_CreateObject();
    good = root && add_number(root, "mean_solved", mean) && add_number(root, "mean_groups", present);
    cJSON *list = good ? cJSON_AddArrayToObject(root, "groups") : NULL;
    good = list != NULL;
    for (size_t i = 0; i < count && good; i++) {
        const hot_score_group *g = &groups[i];
        cJSON *item = cJSON_CreateObject();
        if (!item || !cJSON_AddItemToArray(list, item)) {
            cJSON_Delete(item);
            good = 0;
            break;
        }
        good = cJSON_AddStringToObject(item, "table", g->table) && cJSON_AddStringToObject(item, "name", g->name) &&
            add_number(item, "voxels", (double)g->voxels) &&
            add_number(item, "right_count", share(g->right_count, g)) && add_number(item, "over", share(g->over, g)) &&
            add_number(item, "under", share(g->under, g)) && add_number(item, "solved", share(g->solved, g)) &&
            add_number(item, "n_plus", g->plus) && add_number(item, "n_minus", g->minus) &&
            add_number(item, "matched", (double)g->matched) && add_number(item, "error_mean", g->error_mean) &&
            add_number(item, "error_median", g->error_median) && add_number(item, "error_95", g->error_95);
    }
    char *text = good ? hot_report_text(root) : NULL;
    cJSON_Delete(root);
    return text;
}

int cli_score(int argc, char **argv)
{
    const char *input = "-", *truth_path = NULL, *mask_path = NULL, *output_path = "-", *as = NULL;
    int json = 0, every = 0, slice = -1;
    hot_score_options o = {.size = sizeof o};
    const cli_option options[] = {
        {"i", CLI_TEXT, &input, "FILE", "directions: NRRD, NIfTI or MIF; default -, standard input", 0, 0},
        {"as", CLI_CHOICE, &as, "peaks|dyads",
         "-i holds directions, in scanner axes or (FSL's dyads) those of the bvecs, where neither its header nor its "
         "values tell", 0, 0},
        {"truth", CLI_TEXT, &truth_path, "FILE", "true directions, of `hotfiber phantom --truth`", 0, 0},
        {"o", CLI_OUTPUT, &output_path, "FILE", "the table; default -, standard output", 0, 0},
        {"json", CLI_FLAG, &json, NULL, "for programs: JSON, every table", 0, 0},
        {"all", CLI_FLAG, &every, NULL, "every table: by number of fibres, angle, fraction, angle and fraction", 0, 0},
        {"threshold", CLI_DOUBLE, &o.threshold, "T",
         "directions shorter than this fraction of the voxel's longest do not count; default 0", 0, 1},
        {"max-fibers", CLI_INT, &o.max_fibers, "N", "only the N longest count; default all (8)", 1, 8},
        {"tolerance", CLI_DOUBLE, &o.tolerance, "DEGREES", "a fibre is found within this angle; default 15", 0.001, 90},
        {"mask", CLI_TEXT, &mask_path, "FILE", "score only its voxels", 0, 0},
        {"slice", CLI_INT, &slice, "K", "score only this slice of axis 2, from 0 (a phantom has one per SNR)", 0, 1e9},
        CLI_END,
    };
    CLI_PARSE(score, options);
    if (!truth_path)
        return cli_refuse(&cli_score_command, &common, "--truth FILE is needed");
    hot_fiber_field *found = NULL, *truth = NULL;
    hot_mask *mask = NULL;
    hot_score *score = NULL;
    hot_output output = {0};
    FILE *file;
    hot_status status = hot_output_check_distinct(common.context, input, output_path);
    if (status == HOT_OK)
        status = hot_output_check_distinct(common.context, truth_path, output_path);
    if (status == HOT_OK)
        status = hot_fiber_field_load_as(common.context, input, as, &found);
    if (status == HOT_OK)
        status = hot_fiber_field_load(common.context, truth_path, &truth);
    if (status == HOT_OK && mask_path)
        status = hot_mask_load(common.context, mask_path, hot_fiber_field_grid(truth), &mask);
    if (status == HOT_OK) {
        o.mask = mask ? hot_mask_bytes(mask) : NULL;
        o.slice = slice + 1;
        status = hot_score_create(common.context, found, truth, &o, &score);
        if (status == HOT_OK && !mask)
            note_background(common.context, score);
    }
    if (status == HOT_OK && (status = hot_output_begin(common.context, output_path, &output)) == HOT_OK) {
        status = hot_output_file(common.context, &output, &file);
        if (status == HOT_OK && json) {
            char *text = make_json(score);
            if (text)
                fprintf(file, "%s\n", text);
            else
                status = hot_context_fail(common.context, HOT_ERROR_MEMORY, "out of memory for the JSON text");
            cJSON_free(text);
        } else if (status == HOT_OK) {
            print_table(file, score, every);
        }
        status = hot_output_end(common.context, &output, status);
    }
    hot_score_destroy(&score);
    hot_mask_destroy(&mask);
    hot_fiber_field_destroy(&found);
    hot_fiber_field_destroy(&truth);
    return cli_finish(&cli_score_command, &common, status);
}
