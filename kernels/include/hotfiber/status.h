/* What every hotfiber function returns, and the macro that exports a symbol. */
#ifndef HOTFIBER_STATUS_H
#define HOTFIBER_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HOT_API __attribute__((visibility("default")))
#define HOT_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#else
#define HOT_API
#define HOT_PRINTF(format_at, args_at)
#endif

/* The outcome of a call. Everything but HOT_OK leaves a message in the context (hot_context_message). */
typedef enum hot_status {
    HOT_OK = 0,
    HOT_ERROR_MEMORY,    /* an allocation failed, or a size overflows */
    HOT_ERROR_ARGUMENT,  /* a parameter is out of its bounds */
    HOT_ERROR_FILE,      /* a file cannot be opened, read or written */
    HOT_ERROR_FORMAT,    /* a file was read but is not what it should be */
    HOT_ERROR_DATA,      /* the data cannot support what was asked of them */
    HOT_ERROR_DEVICE,    /* the GPU failed or is not there */
    HOT_ERROR_CANCELLED  /* the caller asked to stop */
} hot_status;

/* A short English name of a status ("out of memory"); never NULL, static storage. */
HOT_API const char *hot_status_text(hot_status status);

#ifdef __cplusplus
}
#endif
#endif
