/* Undo and redo of settings. */
#include "scene/history.h"
#include "scenes.h"

static hot_history history;

static void note(const hot_view_state *state, int count, int at, const char *what)
{
    hot_history_note(&history, state);
    CHECK(history.count == count && history.at == at, "%s: %d states, at %d", what, history.count, history.at);
}

static void test_steps(hot_context *context)
{
    hot_view_state state, first;
    (void)context;
    memset(&history, 0, sizeof history);
    hot_view_state_default(&state);
    memcpy(&first, &state, sizeof state);
    CHECK(!hot_history_step(&history, 0, &state) && !hot_history_step(&history, 1, &state), "empty");
    note(&state, 1, 0, "the first");
    note(&state, 1, 0, "the same again");
    CHECK(!hot_history_step(&history, 0, &state), "nothing before the first");
    state.scale = 2;
    note(&state, 2, 1, "a setting");
    state.scale = 3;
    note(&state, 3, 2, "the same setting again");
    state.layers = 1;
    snprintf(state.layer[0].source, sizeof state.layer[0].source, "fa");
    note(&state, 4, 3, "a layer");
    state.voxel[0] = 5;
    note(&state, 5, 4, "a place");
    state.voxel[1] = 6;
    state.zoom = 4;
    note(&state, 5, 4, "further places are the same step");
    state.light = 0;
    note(&state, 6, 5, "a setting after it");
    state.show_panel = !state.show_panel;
    state.show_help = 1;
    note(&state, 6, 5, "help and panel are no settings");
    CHECK(hot_history_step(&history, 0, &state) && state.light == 1 && state.voxel[1] == 6 && state.zoom == 4, "light");
    CHECK(state.show_help == 1 && state.show_panel != first.show_panel, "the window keeps its own");
    note(&state, 6, 4, "what was undone can be redone");
    CHECK(hot_history_step(&history, 0, &state) && state.voxel[0] == first.voxel[0] && state.zoom == first.zoom &&
              state.layers == 1, "all places at once");
    CHECK(hot_history_step(&history, 0, &state) && state.layers == 0 && state.scale == 3, "the layer");
    CHECK(hot_history_step(&history, 1, &state) && state.layers == 1 && strcmp(state.layer[0].source, "fa") == 0,
          "the layer again");
    CHECK(hot_history_step(&history, 0, &state) && hot_history_step(&history, 0, &state) && state.scale == 2, "scale");
    CHECK(hot_history_step(&history, 0, &state) && state.scale == first.scale, "the first");
    CHECK(!hot_history_step(&history, 0, &state) && state.scale == first.scale, "no further");
    state.clip = 1;
    note(&state, 2, 1, "a change forgets what was undone");
    CHECK(!hot_history_step(&history, 1, &state), "nothing to redo");
}

/* The oldest are forgotten. */
static void test_many(hot_context *context)
{
    hot_view_state state;
    int steps = 0;
    (void)context;
    memset(&history, 0, sizeof history);
    hot_view_state_default(&state);
    for (int n = 0; n < 3 * HOT_HISTORY; n++) {
        state.scale = 1 + n;
        hot_history_note(&history, &state);
    }
    while (hot_history_step(&history, 0, &state))
        CHECK(state.scale == 3 * HOT_HISTORY - ++steps, "step %d: %g", steps, state.scale);
    CHECK(steps == HOT_HISTORY - 1, "%d steps", steps);
    while (hot_history_step(&history, 1, &state))
        steps--;
    CHECK(steps == 0 && state.scale == 3 * HOT_HISTORY, "all again: %g", state.scale);
}

int main(void)
{
    static void (*const tests[])(hot_context *) = {test_steps, test_many, NULL};
    return scene_run_tests(tests);
}
