#define GLFW_INCLUDE_NONE
#include "window_keys.h"

#include <GLFW/glfw3.h>
#include <stddef.h>

#include "input/input.h"

int hot_window_modifiers(int mods)
{
    if (mods & (GLFW_MOD_ALT | GLFW_MOD_SUPER))
        return -1;
    return (mods & GLFW_MOD_SHIFT ? HOT_WITH_SHIFT : 0) | (mods & GLFW_MOD_CONTROL ? HOT_WITH_CTRL : 0);
}

int hot_window_key(int key, int scancode, int modifiers)
{
    static const struct { int glfw, ours;
    } table[] = {
        {GLFW_KEY_UP, HOT_KEY_UP},         {GLFW_KEY_DOWN, HOT_KEY_DOWN},       {GLFW_KEY_LEFT, HOT_KEY_LEFT},
        {GLFW_KEY_RIGHT, HOT_KEY_RIGHT},   {GLFW_KEY_PAGE_UP, HOT_KEY_PAGE_UP}, {GLFW_KEY_PAGE_DOWN, HOT_KEY_PAGE_DOWN},
        {GLFW_KEY_ESCAPE, HOT_KEY_ESCAPE}, {GLFW_KEY_F1, HOT_KEY_F1},           {GLFW_KEY_F2, HOT_KEY_F2},
        {GLFW_KEY_F3, HOT_KEY_F3},         {GLFW_KEY_F11, HOT_KEY_F11},         {GLFW_KEY_TAB, HOT_KEY_TAB},
        {GLFW_KEY_SPACE, ' '}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].glfw == key)
            return table[i].ours;
    const char *name = glfwGetKeyName(key, scancode);
    const int printed = name && name[0] && !name[1] ? name[0] : 0;
    if (printed >= 'a' && printed <= 'z')
        return printed - 'a' + 'A';
    if (modifiers & HOT_WITH_CTRL) { /* with Ctrl these keys send no character */
        if (key == GLFW_KEY_KP_ADD || printed == '+' || printed == '=')
            return '+';
        if (key == GLFW_KEY_KP_SUBTRACT || printed == '-')
            return '-';
    }
    /* keyboards without Latin letters: by position */
    return !printed && key >= GLFW_KEY_A && key <= GLFW_KEY_Z ? key - GLFW_KEY_A + 'A' : 0;
}
