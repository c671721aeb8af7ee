"""`python -m hotfiber` and the script `hotfiber`: the command of this package."""
import os
import sys

from ._library import command, use_fonts


def main():
    use_fonts()
    os.execv(command(), ["hotfiber"] + sys.argv[1:])


if __name__ == "__main__":
    main()
