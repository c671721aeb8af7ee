/* The threads of OpenMP's teams: for entry.c. */
#pragma once

#include <fenv.h>

#include <hotfiber/context.h>

/* Computes hot_team's result. context: for a note; may be NULL. */
int hot_team_size(hot_context *context, int threads);

/* The other threads of a team get the default floating-point environment; then, at most so many of them as there still
 * are, back what they had, or `environment` where they are new. */
void hot_team_take(int threads);
void hot_team_give_back(int threads, const fenv_t *environment);
