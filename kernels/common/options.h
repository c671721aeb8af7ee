/* One rule for the options structs, each of which begins with its own size (hotfiber/context.h): NULL is the defaults,
 * zero in a field is its default, and a size that is none of this struct's is refused. */
#pragma once

#include <hotfiber/context.h>

HOT_C_BEGIN

/* Takes over the caller's options.
 * name: of the struct, for the message ("hot_sshopm_options").
 * given: the caller's struct; NULL = every field keeps its default.
 * options: in: the defaults, with `size` set to the struct's; out: the same with the caller's fields. `size` is
 * unchanged.
 * Errors: HOT_ERROR_ARGUMENT (hot_context_parameter: "size") when the caller's size is not the struct's, for example
 * unset; `context` keeps the message (NULL: none is kept). A struct that grows will list its earlier sizes here: fields
 * that an older caller lacks keep their defaults. */
HOT_API hot_status hot_options_read(hot_context *context, const char *name, const void *given, void *options);

/* An option whose 0 means `usual` and whose HOT_ZERO means 0 gets the value that is meant, from 0 to `most`.
 * Errors: HOT_ERROR_ARGUMENT, naming the option: other negative values, larger ones, NaN. */
HOT_API hot_status hot_option_number(hot_context *context, const char *name, double usual, double most, double *value);

/* The way back: what an option must hold to mean this value. */
static inline double hot_option_meaning(double value) { return value == 0 ? HOT_ZERO : value; }

/* A flag, 0 or 1, or an enum with `count` values from 0 on. Errors: HOT_ERROR_ARGUMENT, naming it. */
HOT_API hot_status hot_option_choice(hot_context *context, const char *name, int value, int count);

HOT_C_END
