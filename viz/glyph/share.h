/* Work in parts, shared among threads. */
#ifndef HOT_VIZ_SHARE_H
#define HOT_VIZ_SHARE_H

#include <hotfiber/context.h>

/* Calls work(job, part, thread) for each part from 0 on, by as many threads as the context has, each taking the next
 * part when it is done with one; thread: 0 to the context's number of threads - 1, for scratch memory of its own. Where
 * no thread can be started the others do its parts. Returns when all are done.
 * These are not OpenMP's threads: those spin for a while after their work, on the cores that a software driver of
 * OpenGL needs next. */
void hot_share_parts(hot_context *context, int parts, void (*work)(void *job, int part, int thread), void *job);

#endif
