/* Where `hotfiber contract --tune` keeps its choices. */
#ifndef HOT_CLI_CONTRACT_CACHE_H
#define HOT_CLI_CONTRACT_CACHE_H

#include <hotfiber/contract.h>

/* The file of choices: `given`, or hotfiber/contract.txt in $XDG_CACHE_HOME (~/.cache where that is not set). NULL when
 * there is no such place; free with hot_context_free. */
char *cli_contract_cache_path(hot_context *context, const char *given);

/* The table in a file. A file that is not there is an empty table; one that cannot be understood is one too, with a
 * warning: a cache is no input. */
hot_status cli_contract_cache_load(hot_context *context, const char *path, hot_contract_tuning **tuning);

/* Writes it, whole or not at all, making its folder where that is missing. */
hot_status cli_contract_cache_save(hot_context *context, const char *path, const hot_contract_tuning *tuning);

#endif
