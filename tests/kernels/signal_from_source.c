/* Signals from a source give what the same signals in an array do: as 16-bit numbers or not, released after use or
 * kept, from the first voxel on or from the voxel at which a GPU failed. */
#include "checker.h"
#include "signal_reference.h"

#include "simulated_voxels.h"
#include "signal/signal_plan.h"
#include "signal/signal_source.h"

#include <hotfiber/signal.h>

/* More voxels than a chunk has, of which few are fitted. */
enum { VOLUMES = PH_B0 + PH_VOLUMES, COUNT = 150001, APART = 97, PLACE = 5 };
static const ph_settings setting = {"", 3000, 30, 0, 10, 1.7e-3, 0.3e-3, 0.45, 60, 0.4, 0};

typedef struct rows_of {
    const float *signals;
    const uint8_t *mask;
    size_t used;  /* voxels reported as done */
    int too_late; /* one of them was read after that */
    int wrong;    /* fewer were done than before, or their directions were not there */
    const float *found;
} rows_of;

static void read_rows(void *user, size_t first, size_t count, float *rows)
{
    rows_of *from = user;
    if (first < __atomic_load_n(&from->used, __ATOMIC_ACQUIRE))
        __atomic_store_n(&from->too_late, 1, __ATOMIC_RELAXED);
    for (size_t i = 0; i < count; i++)
        if (from->mask[first + i])
            memcpy(rows + i * VOLUMES, from->signals + (first + i) * VOLUMES, VOLUMES * sizeof *rows);
}

static void note_used(void *user, size_t end)
{
    rows_of *from = user;
    from->wrong |= end <= from->used || end > COUNT;
    for (size_t i = from->used; i < end && !from->wrong; i++)
        from->wrong |= from->found[9 * i] > 1e9f; /* still the old value */
    __atomic_store_n(&from->used, end, __ATOMIC_RELEASE);
}

static void poison(float *found)
{
    for (size_t i = 0; i < 9 * (size_t)COUNT; i++)
        found[i] = 2e9f;
}

/* The state after a GPU has failed at `done` voxels, and the CPU's continuation. */
static void check_rest(check_run *run, const hot_signal_options *options, const hot_signal_scheme *scheme,
                       const hot_signal_source *source, rows_of *from, const float *expected, float *found, size_t done)
{
    signal_plan plan;
    hot_signal_result result = {.size = sizeof result, .directions = found};
    size_t wrong = 0;
    hot_signal_options full = *options;
    full.max_fibers = 3, full.order = 8, full.progress[1] = 1;
    if (!check_call(run, hot_signal_plan_make(run->context, &full, scheme, 0, &plan)))
        return;
    hot_signal_args args = {&plan, &full, scheme, COUNT, NULL, NULL, NULL, from->mask, &result, source, done};
    poison(found);
    from->used = done;
    if (check_call(run, hot_signal_fibers_cpu(run->context, &args))) {
        for (size_t i = 0; i < done * 9; i++)
            wrong += found[i] != 2e9f;
        CHECK_ITEM(run, 0, wrong == 0, "%zu values of voxels that were done are written", wrong);
        CHECK_ITEM(run, done, memcmp(expected + 9 * done, found + 9 * done, 9 * (COUNT - done) * sizeof *found) == 0,
                   "the rest differs");
        CHECK_ITEM(run, done, !from->too_late && !from->wrong && from->used == COUNT, "used: %zu, %d, %d", from->used,
                   from->too_late, from->wrong);
    }
    hot_signal_plan_free(run->context, &plan);
}

void check_signal_source(check_run *run)
{
    check_case_begin(run, "signals from a source", COUNT);
    ph_settings s = setting;
    ph_scheme drawn;
    double rows[2 * PH_TERMS];
    float *signals = calloc((size_t)COUNT * VOLUMES, sizeof *signals);
    float *found[2] = {malloc(COUNT * 9 * sizeof(float)), malloc(COUNT * 9 * sizeof(float))};
    uint8_t *mask = calloc(COUNT, 1);
    hot_signal_priors population;
    if (!signals || !found[0] || !found[1] || !mask)
        exit(2);
    ph_make_scheme(&s, 77, &drawn);
    ph_response_exact(&drawn, s.along, s.across, rows);
    hot_signal_priors_default(&population);
    hot_signal_scheme scheme = {.size = sizeof scheme, .volumes = VOLUMES, .b = drawn.b, .gradients = drawn.gradient,
                                .shells = drawn.shells, .shell_b = drawn.shell_b, .response = rows,
                                .lmax = 2 * (PH_TERMS - 1)};
    for (int numbers = HOT_SIGNAL_ANY; numbers <= HOT_SIGNAL_U16; numbers++) {
        const float most = numbers == HOT_SIGNAL_U16 ? 40000 : 20000, sign = numbers == HOT_SIGNAL_I16 ? -1 : 1;
        hot_signal_options options = {.size = sizeof options, .sigma = most / 30.0, .population = &population};
        for (size_t i = PLACE; i < COUNT; i += APART) {
            ph_voxel truth;
            ph_draw(&run->seed, &s, (int)(i % PH_82_30), &truth);
            ph_simulate(&run->seed, &s, &drawn, &truth, signals + i * VOLUMES);
            for (size_t j = 0; j < VOLUMES; j++) /* every 50th voxel has a negative one, or what would be one */
                signals[i * VOLUMES + j] = i % 50 == 49 && j == 20 ? sign * most
                                                                   : roundf(most * signals[i * VOLUMES + j]);
            mask[i] = 1;
        }
        rows_of from = {signals, mask, 0, 0, 0, found[1]};
        const hot_signal_source source = {read_rows, numbers == HOT_SIGNAL_I16 ? NULL : note_used, &from,
                                          (hot_signal_numbers)numbers};
        const hot_signal_result plain = {.size = sizeof plain, .directions = found[0]},
                                read = {.size = sizeof read, .directions = found[1]};
        poison(found[1]);
        if (!check_call(run, hot_signal_fibers_f32(run->context, &options, &scheme, COUNT, signals, NULL, NULL, mask,
                                                   &plain)) ||
            !check_call(run, hot_signal_fibers_from(run->context, &options, &scheme, COUNT, &source, NULL, NULL, mask,
                                                    &read)))
            continue;
        for (size_t i = 0; i < COUNT; i++)
            CHECK_ITEM(run, i, memcmp(found[0] + 9 * i, found[1] + 9 * i, 9 * sizeof(float)) == 0,
                       "numbers %d: voxel %zu differs", numbers, i);
        CHECK_ITEM(run, 0, !from.too_late && !from.wrong, "a used voxel is read, or is not done");
        CHECK_ITEM(run, 0, from.used == (source.used ? COUNT : 0) || (run->cuda && from.used == 0), /* several GPUs */
                   "%zu voxels are used", from.used);
        if (numbers == HOT_SIGNAL_ANY && !run->cuda)
            check_rest(run, &options, &scheme, &source, &from, found[0], found[1], COUNT / 3);
    }
    check_case_end(run);
    FREE(signals, found[0], found[1], mask);
}
