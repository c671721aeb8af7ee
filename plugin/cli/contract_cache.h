/* Where `hotfiber contract --tune` keeps its choices. */
#pragma once

#include <hotfiber/contract.h>

/* The file of measured choices: `given`, or hotfiber/contract.txt in $XDG_CACHE_HOME (default ~/.cache). NULL without
 * such a folder; free with hot_context_free. */
char *cli_contract_cache_path(hot_context *context, const char *given);

/* Reads the table of a file. A missing file gives an empty table; so does one that cannot be read as a table, with a
 * warning, since it is only a cache. */
hot_status cli_contract_cache_load(hot_context *context, const char *path, hot_contract_tuning **tuning);

/* Writes the table, whole or not at all; makes the folder if necessary. */
hot_status cli_contract_cache_save(hot_context *context, const char *path, const hot_contract_tuning *tuning);
