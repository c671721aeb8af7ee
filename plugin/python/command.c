/* The command `hotfiber` of the Python package; its code is in the package's library. */
#include "callbacks.h"

int main(int argc, char **argv) { return hot_python_command(argc, argv); }
