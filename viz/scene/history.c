#include "history.h"

#include <string.h>

/* Copies what no step changes. */
static void keep_window(const hot_view_state *from, hot_view_state *to)
{
    to->show_help = from->show_help;
    to->show_panel = from->show_panel;
    to->show_hint = from->show_hint;
    to->pixel_ratio = from->pixel_ratio;
}

static void copy_place(const hot_view_state *from, hot_view_state *to)
{
    memcpy(to->voxel, from->voxel, sizeof to->voxel);
    memcpy(to->rotation, from->rotation, sizeof to->rotation);
    memcpy(to->tilt, from->tilt, sizeof to->tilt);
    memcpy(to->center, from->center, sizeof to->center);
    to->zoom = from->zoom;
}

static int are_equal(const hot_view_state *a, const hot_view_state *b) { return memcmp(a, b, sizeof *a) == 0; }

/* Makes room for a state after the shown one. */
static hot_view_state *add(hot_history *history)
{
    if (history->at + 1 == HOT_HISTORY) {
        memmove(history->state, history->state + 1, (HOT_HISTORY - 1) * sizeof *history->state);
        memmove(history->moves, history->moves + 1, (HOT_HISTORY - 1) * sizeof *history->moves);
        history->at--;
    }
    history->count = history->at + 2;
    return &history->state[++history->at];
}

void hot_history_note(hot_history *history, const hot_view_state *state)
{
    hot_view_state now, moved;
    memcpy(&now, state, sizeof now); /* with the gaps, which memcmp compares */
    if (!history->count) {
        memcpy(&history->state[0], &now, sizeof now);
        history->count = 1;
        return;
    }
    keep_window(&history->state[history->at], &now);
    if (are_equal(&now, &history->state[history->at]))
        return;
    memcpy(&moved, &history->state[history->at], sizeof moved);
    copy_place(&now, &moved);
    const int moves = are_equal(&moved, &now);
    hot_view_state *to = moves && history->moves[history->at] ? &history->state[history->at] : add(history);
    memcpy(to, &now, sizeof now);
    history->moves[history->at] = moves;
    history->count = history->at + 1;
}

int hot_history_step(hot_history *history, int redo, hot_view_state *state)
{
    hot_view_state found;
    if (redo ? history->at + 1 >= history->count : history->at == 0)
        return 0;
    history->at += redo ? 1 : -1;
    memcpy(&found, &history->state[history->at], sizeof found);
    keep_window(state, &found);
    memcpy(state, &found, sizeof found);
    return 1;
}
