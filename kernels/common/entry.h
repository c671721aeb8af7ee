/* Makes public calls independent of the locale, the floating-point environment and the threads of their process.
 *
 * HOT_ENTRY(context); is the first statement of every public function that computes, formats numbers or touches files.
 * While the outermost one is in scope, the thread has the C locale (a German host's printf writes 0,5 and its strtod
 * stops at the point) and the default floating-point environment (no traps, rounding to nearest, denormals); both are
 * the caller's again afterwards. Nested calls cost a comparison. `context` may be NULL.
 *
 * #pragma omp parallel ... num_threads(hot_team(threads)): every region sets its number of threads this way. */
#pragma once

#include <fenv.h>
#include <locale.h>

#include <hotfiber/context.h>

HOT_C_BEGIN

/* How the calling thread was found. */
typedef struct hot_entry {
    int depth;             /* of calls in one another; 0 = outside of the library */
    int foreign;           /* whether the environment was not the default one */
    int workers;           /* so many threads of a team have the default one instead */
    locale_t locale;
    fenv_t environment;
    hot_context *context;  /* of the outermost call, for its log; NULL = none */
} hot_entry;

HOT_API void hot_entry_enter(hot_context *context);
HOT_API void hot_entry_leave(const char *unused);

#define HOT_ENTRY(context) \
    __attribute__((cleanup(hot_entry_leave), unused)) const char hot_entry_scope = (hot_entry_enter(context), 0)

/* The context of the call that the calling thread is in, for loops far below it that check for cancellation; NULL in
 * other threads. */
HOT_API hot_context *hot_entry_context(void);
/* Whether that call is cancelled. */
HOT_API int hot_entry_cancelled(void);

/* Around a callback of the user in the thread of the call: the caller's locale and environment, then ours again. */
HOT_API void hot_entry_suspend(hot_entry *kept);
HOT_API void hot_entry_resume(const hot_entry *kept);

/* How many threads, at most `threads`, a parallel region of the calling thread can have: the number that the system
 * lets it start (a note is printed if these are fewer), 1 if a fork has lost them. They have the default floating-point
 * environment. OpenMP's run-time library would end the process for a thread that cannot be made. */
HOT_API int hot_team(int threads);

/* Before a fork, ends the threads of the calling thread's team; 0 if that is impossible. Automatic if the team is this
 * library's; call it for a team that another library has started. */
HOT_API int hot_team_end(void);

/* How often this process has been forked from the one that loaded the library: a thread that an ancestor had is not
 * there to be waited for. */
HOT_API int hot_entry_forks(void);

HOT_C_END
