#define GLFW_INCLUDE_NONE
#include "window_system.h"

#include <math.h>
#include <stdlib.h>

#include "scene/color.h"

void hot_window_set_icon(GLFWwindow *handle)
{
    enum { SIDE = 64 };
    unsigned char pixels[SIDE * SIDE * 4];
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            unsigned char *pixel = pixels + 4 * (row * SIDE + column);
            const double x = (column + 0.5 - SIDE / 2.) / (SIDE / 2. - 1),
                         y = (row + 0.5 - SIDE / 2.) / (SIDE / 2. - 1);
            const double away = sqrt(x * x + y * y);
            double rgb[3];
            hot_color_direction((const double[3]){x, y, sqrt(fmax(0, 1 - away * away))}, rgb);
            for (int c = 0; c < 3; c++)
                pixel[c] = (unsigned char)lround(255 * rgb[c]);
            pixel[3] = (unsigned char)lround(255 * fmin(fmax((1 - away) * SIDE / 2., 0), 1)); /* antialiased edge */
        }
    glfwSetWindowIcon(handle, 1, &(const GLFWimage){SIDE, SIDE, pixels});
}

/* The numbers are GLFW_PLATFORM and GLFW_PLATFORM_X11 of GLFW 3.4's header: the one here may be older than the loaded
 * library. */
void hot_window_avoid_wayland(void)
{
    const char *place = getenv("XDG_RUNTIME_DIR");
    int major, minor, revision;
    glfwGetVersion(&major, &minor, &revision);
    if ((major > 3 || (major == 3 && minor >= 4)) && !(place && place[0] == '/'))
        glfwInitHint(0x00050003, 0x00060004);
}

void hot_window_toggle_full_screen(GLFWwindow *handle, int place[4])
{
    GLFWmonitor *monitor = glfwGetPrimaryMonitor();
    const GLFWvidmode *mode = monitor ? glfwGetVideoMode(monitor) : NULL;
    if (glfwGetWindowMonitor(handle)) {
        glfwSetWindowMonitor(handle, NULL, place[0], place[1], place[2], place[3], GLFW_DONT_CARE);
    } else if (mode) {
        glfwGetWindowPos(handle, &place[0], &place[1]);
        glfwGetWindowSize(handle, &place[2], &place[3]);
        glfwSetWindowMonitor(handle, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
    }
}

void hot_window_to_pixels(GLFWwindow *handle, double *x, double *y)
{
    int width, height, pixels_x, pixels_y;
    glfwGetWindowSize(handle, &width, &height);
    glfwGetFramebufferSize(handle, &pixels_x, &pixels_y);
    if (width > 0 && height > 0) {
        *x *= (double)pixels_x / width;
        *y *= (double)pixels_y / height;
    }
}
