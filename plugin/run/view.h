/* A window on a run (hot_run_options.view): the program hotfiber-view, to which the mean b=0 image and the fibres go
 * through a pipe (io/field_stream.h), slice by slice. A run never fails or waits because of it: the fibres are
 * copied, and a thread sends the copy. */
#pragma once

#include "run.h"

/* Starts the viewer, once the data are summarized. Without a viewer a warning says what is missing. */
void hot_run_view_begin(hot_run_state *run);
/* Sets the hook of run->slabs. */
void hot_run_view_hook(hot_run_state *run);
/* Sends the fibres of results unless the window has them already. */
void hot_run_view_results(hot_run_state *run);
/* Waits until all is sent, or at most a few seconds, and not after a cancelled run. The window stays. */
void hot_run_view_end(hot_run_state *run);
