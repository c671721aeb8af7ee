/* The state of a call from Python in its context: the progress callback and its errors. Plain C, without
 * Python's headers: the interpreter's functions come as addresses, so that one build serves every version of Python. */
#pragma once

#include <hotfiber/context.h>

/* Functions of Python's stable ABI. */
typedef struct hot_python_functions {
    int (*ensure)(void);                                     /* PyGILState_Ensure */
    void (*release)(int state);                              /* PyGILState_Release */
    int (*check_signals)(void);                              /* PyErr_CheckSignals */
    void *(*call)(void *callable, const char *format, ...);  /* PyObject_CallFunction */
    void (*fetch)(void **type, void **value, void **trace);  /* PyErr_Fetch */
    void (*decrease)(void *object);                          /* Py_DecRef */
} hot_python_functions;

/* One for each context; the address is the `user` of all callbacks. */
typedef struct hot_python_call {
    const hot_python_functions *functions;
    void *progress;            /* callable(stage, fraction), or NULL */
    void *log;                 /* callable(level, line), or NULL */
    void *type, *value, *trace; /* the exception that ended the call: type is NULL when there was none */
    uint64_t thread;           /* the thread that calls, set by hot_python_begin */
    double next;               /* time of the next check for signals, seconds */
    int stop;                  /* 1: the call is to end; read by all threads */
} hot_python_call;

/* A context whose callbacks go to `call`, which must stay where it is as long as the context is used. The options are
 * those of hot_context_options. Errors: those of hot_context_create. */
HOT_API hot_status hot_python_context(hot_python_call *call, int device, int device_number, int threads, uint64_t seed,
                                      hot_context **context);
/* To be called by the thread that is about to call the library with this context. */
HOT_API void hot_python_begin(hot_python_call *call);
/* Gives back the threads of the calling thread, before a fork: OpenMP's do not exist in the child, which would wait for
 * them for ever. */
HOT_API void hot_python_before_fork(void);
/* Names the file of NumPy's OpenBLAS, for eigenvalues: see hot_lapack_offer. */
HOT_API void hot_python_offer_lapack(const char *path);
/* The command `hotfiber`. */
HOT_API int hot_python_command(int argc, char **argv);
