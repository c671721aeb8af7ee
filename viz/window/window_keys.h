/* GLFW's keys in the codes of input/input.h. */
#pragma once

/* Shift and Ctrl; -1 with other modifiers, which belong to the desktop. */
int hot_window_modifiers(int mods);
/* A non-printing key, or a letter of the user's keyboard layout; 0 for other keys, which arrive as characters. */
int hot_window_key(int key, int scancode, int modifiers);
