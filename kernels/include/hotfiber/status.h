/* The status that functions return, and the macros HOT_API, which exports a symbol from the shared library, and
 * HOT_C_BEGIN and HOT_C_END, between which C++ finds functions of C. */
#ifndef HOTFIBER_STATUS_H
#define HOTFIBER_STATUS_H

#ifdef __cplusplus
#define HOT_C_BEGIN extern "C" {
#define HOT_C_END }
#else
#define HOT_C_BEGIN
#define HOT_C_END
#endif

HOT_C_BEGIN

#if defined(__GNUC__)
#define HOT_API __attribute__((visibility("default")))
#define HOT_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#else
#define HOT_API
#define HOT_PRINTF(format_at, args_at)
#endif

/* The result of a call. For every value but HOT_OK the context holds a message (hot_context_message). */
typedef enum hot_status {
    HOT_OK = 0,
    HOT_ERROR_MEMORY,    /* an allocation failed, or a size overflows */
    HOT_ERROR_ARGUMENT,  /* a parameter is out of its bounds */
    HOT_ERROR_FILE,      /* a file cannot be opened, read or written */
    HOT_ERROR_FORMAT,    /* the content of a file is invalid or not supported */
    HOT_ERROR_DATA,      /* the computation is not possible with these data */
    HOT_ERROR_DEVICE,    /* there is no usable GPU, or it failed */
    HOT_ERROR_CANCELLED  /* the caller cancelled the call */
} hot_status;

/* A short description of a status, for example "out of memory"; never NULL, in static storage. */
HOT_API const char *hot_status_text(hot_status status);

HOT_C_END
#endif
