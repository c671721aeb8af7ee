/* The locale and the floating-point environment at the public entry: see entry.h. */
#include "entry.h"

#include <pthread.h>
#include <string.h>

#include "team.h"

static _Thread_local hot_entry here;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t plain; /* kept for the life of the process: threads may be in it at any time */

static void make_locale(void) { plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

/* Whether threads with this environment could compute something else than the default one lets them. Flags that are
 * raised do not count where the processor is known. */
static int is_foreign(const fenv_t *found)
{
#if defined(__x86_64__)
    enum { SSE_CONTROL = 0xffc0, SSE_DEFAULT = 0x1f80, X87_CONTROL = 0x0f3f, X87_DEFAULT = 0x033f };
    return (found->__mxcsr & SSE_CONTROL) != SSE_DEFAULT || (found->__control_word & X87_CONTROL) != X87_DEFAULT;
#else
    fenv_t now;
    fegetenv(&now); /* the default one, by now */
    return memcmp(&now, found, sizeof now) != 0;
#endif
}

void hot_entry_enter(hot_context *context)
{
    if (here.depth++ > 0)
        return;
    pthread_once(&once, make_locale);
    here.context = context;
    here.workers = 0;
    here.locale = plain ? uselocale(plain) : (locale_t)0;
    memset(&here.environment, 0, sizeof here.environment); /* padding, for is_foreign */
    fegetenv(&here.environment);
    fesetenv(FE_DFL_ENV);
    here.foreign = is_foreign(&here.environment);
}

void hot_entry_leave(const char *unused)
{
    (void)unused;
    if (--here.depth > 0)
        return;
    if (here.workers > 1)
        hot_team_give_back(here.workers, &here.environment);
    fesetenv(&here.environment);
    if (here.locale)
        uselocale(here.locale);
    here.context = NULL;
}

hot_context *hot_entry_context(void) { return here.context; }

void hot_entry_suspend(hot_entry *kept)
{
    *kept = here;
    if (here.depth == 0)
        return;
    here.depth = 0;
    fesetenv(&kept->environment);
    if (kept->locale)
        uselocale(kept->locale);
}

void hot_entry_resume(const hot_entry *kept)
{
    if (kept->depth == 0)
        return;
    here = *kept;
    fegetenv(&here.environment); /* what the callback has made of it */
    fesetenv(FE_DFL_ENV);
    if (here.locale)
        here.locale = uselocale(plain);
}

int hot_team(int threads)
{
    const int team = hot_team_size(here.context, threads);
    if (here.foreign && here.depth > 0 && team > here.workers) {
        hot_team_take(team);
        here.workers = team;
    }
    return team;
}
