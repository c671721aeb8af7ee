// Parts of the panel, shared by viz/window/controls*.cc.
#ifndef HOT_VIZ_CONTROLS_PARTS_H
#define HOT_VIZ_CONTROLS_PARTS_H

#include <imgui.h>

extern "C" {
#include "controls.h"
}

struct hot_controls {
    ImGuiContext *gui;
    GLFWwindow *window; // Dear ImGui asks it which keys are held; GLFW 3.4 aborts without one
    double scale;
    hot_controls_frame *frame;
    hot_view_state fresh; // the defaults, fitted to the scene
    hot_controls_place places[HOT_CONTROLS_PLACES];
    int count;
};

// Notes where the last item is, for tests; blanks in the name become _.
void note_place(hot_controls *controls, const char *name);
// A tooltip of the last item.
void explain(const char *help);
// A heading that opens and closes; returns whether it is open.
bool heading(hot_controls *controls, const char *title, bool open);
// Opening files: a field, and those that were viewed last.
hot_controls_request open_part(hot_controls *controls);
// The list of layers.
hot_controls_request layers_part(hot_controls *controls);

#endif
