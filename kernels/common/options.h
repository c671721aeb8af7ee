/* One rule for the options structs, each of which begins with its own size: a shorter struct is that of an older
 * caller, whose missing fields keep their defaults; a longer one asks for what this library does not know. */
#ifndef HOT_COMMON_OPTIONS_H
#define HOT_COMMON_OPTIONS_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes over the caller's options.
 * name: of the struct, for the message ("hot_sshopm_options").
 * given: the caller's struct; NULL = every field keeps its default.
 * options: in: the defaults, with `size` set to the struct's; out: the same with the fields that the caller has.
 * `size` stays as it was.
 * Errors: HOT_ERROR_ARGUMENT when the caller's size is longer than options' or too short to hold itself (as when
 * nobody has set it); `context` keeps the message (NULL: none is kept). */
HOT_API hot_status hot_options_read(hot_context *context, const char *name, const void *given, void *options);

#ifdef __cplusplus
}
#endif
#endif
