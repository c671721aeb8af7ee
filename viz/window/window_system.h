/* The window and the desktop that it is on. */
#pragma once

#include <GLFW/glfw3.h>

/* The window's icon: the ball of direction colours. */
void hot_window_set_icon(GLFWwindow *handle);

/* Before glfwInit: GLFW 3.4 tries Wayland first, whose library prints its own error without XDG_RUNTIME_DIR. */
void hot_window_avoid_wayland(void);

/* Enters or leaves full screen; place: position and size before, kept by the caller. */
void hot_window_toggle_full_screen(GLFWwindow *window, int place[4]);
/* Converts window units to framebuffer pixels; they differ on some systems. */
void hot_window_to_pixels(GLFWwindow *window, double *x, double *y);
