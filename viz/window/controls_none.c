/* The window without a panel: this build has no Dear ImGui. */
#include "controls.h"

hot_controls *hot_controls_create(struct GLFWwindow *window, double scale)
{
    (void)window, (void)scale;
    return NULL;
}

void hot_controls_destroy(hot_controls *controls) { (void)controls; }

int hot_controls_width(const hot_controls *controls, const hot_view_state *state, int window_width)
{
    (void)controls, (void)state, (void)window_width;
    return 0;
}

hot_controls_request hot_controls_draw(hot_controls *controls, hot_controls_frame *frame)
{
    (void)controls, (void)frame;
    return HOT_CONTROLS_NOTHING;
}

int hot_controls_key(hot_controls *controls, int key, int scancode, int action, int mods)
{
    (void)controls, (void)key, (void)scancode, (void)action, (void)mods;
    return 0;
}

int hot_controls_character(hot_controls *controls, unsigned code)
{
    (void)controls, (void)code;
    return 0;
}

int hot_controls_button(hot_controls *controls, int button, int action, int mods)
{
    (void)controls, (void)button, (void)action, (void)mods;
    return 0;
}

int hot_controls_wheel(hot_controls *controls, double across, double up)
{
    (void)controls, (void)across, (void)up;
    return 0;
}

void hot_controls_focus(hot_controls *controls, int focused) { (void)controls, (void)focused; }

void hot_controls_enter(hot_controls *controls, struct GLFWwindow *window, int entered)
{
    (void)controls, (void)window, (void)entered;
}

int hot_controls_places(const hot_controls *controls, const hot_controls_place **places)
{
    (void)controls;
    *places = NULL;
    return 0;
}
