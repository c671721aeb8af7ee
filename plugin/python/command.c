/* The command `hotfiber` of the Python package: all it does is in the library beside it. */
#include "callbacks.h"

int main(int argc, char **argv) { return hot_python_command(argc, argv); }
