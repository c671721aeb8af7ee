#include "cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* "4G", "1.5g", "200 MB", "65536": bytes; 0 = it is none of these. */
static size_t read_size(const char *text)
{
    static const char units[] = "kmgt";
    char *end;
    double size = strtod(text, &end);
    end += strspn(end, " ");
    const char *unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
    for (const char *u = units; unit && u <= unit; u++)
        size *= 1024;
    end += unit ? 1 : 0;
    end += unit && (*end == 'i' || *end == 'I') ? 1 : 0;
    end += *end == 'b' || *end == 'B' ? 1 : 0;
    return *end || !(size >= 1 && size < 1e18) ? 0 : (size_t)size;
}

int cli_memory_read(const cli_command *command, cli_common *common, const char *text, const char *output,
                    size_t *bytes)
{
    if (text && (*bytes = read_size(text)) == 0)
        return cli_refuse(command, common, "--memory is a size like 200M or 4G, not '%s'", text);
    hot_memory_bound(common->context, *bytes, output, NULL);
    return -1;
}
