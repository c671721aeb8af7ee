/* A parallel loop on threads that do not spin. */
#pragma once

#include <hotfiber/context.h>

/* Calls work(data, task, thread) for each task from 0 to tasks - 1 and returns when all are done. Uses the context's
 * number of threads; each takes the next task when it has finished one. If threads cannot be started, the others do
 * their work. thread: 0 to the number of threads - 1, an index into per-thread scratch memory.
 * OpenMP's threads are not used: they spin after a loop and take the cores from a software OpenGL driver. */
void hot_parallel_for(hot_context *context, int tasks, void (*work)(void *data, int task, int thread), void *data);
