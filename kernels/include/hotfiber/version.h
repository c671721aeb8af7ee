/* The version of the headers: what a program was compiled with. The library that it runs with says its own by
 * hot_version(), which may be of a later PATCH.
 *
 *   #if HOTFIBER_VERSION >= 300        (0.3.0 or later)
 */
#ifndef HOTFIBER_VERSION_H
#define HOTFIBER_VERSION_H

#define HOTFIBER_VERSION_MAJOR 0
#define HOTFIBER_VERSION_MINOR 3
#define HOTFIBER_VERSION_PATCH 0

/* One number for comparisons: 10000 MAJOR + 100 MINOR + PATCH. */
#define HOTFIBER_VERSION (HOTFIBER_VERSION_MAJOR * 10000 + HOTFIBER_VERSION_MINOR * 100 + HOTFIBER_VERSION_PATCH)

/* "MAJOR.MINOR.PATCH", as hot_version() writes it. */
#define HOTFIBER_VERSION_STRING "0.3.0"

#endif
