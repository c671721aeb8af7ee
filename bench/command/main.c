/* hotfiber-bench, which `hotfiber bench` starts. */
#include "bench.h"
#include "cli/cli.h"
#include "common/entry.h"

CLI_DECLARE(bench);

int main(int argc, char **argv)
{
    HOT_ENTRY(NULL);
    return cli_bench(argc, argv);
}
