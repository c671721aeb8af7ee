#include "units.h"

#include <string.h>

double hot_unit_in_mm(const char *name)
{
    static const struct { const char *name; double mm; } units[] = {
        {"mm", 1}, {"millimeter", 1}, {"millimetre", 1}, {"m", 1e3}, {"meter", 1e3}, {"metre", 1e3}, {"cm", 10},
        {"centimeter", 10}, {"centimetre", 10}, {"um", 1e-3}, {"\xc2\xb5m", 1e-3}, {"\xce\xbcm", 1e-3},
        {"micron", 1e-3}, {"micrometer", 1e-3}, {"micrometre", 1e-3}, {"nm", 1e-6}, {"nanometer", 1e-6},
        {"in", 25.4}, {"inch", 25.4}};
    const size_t length = strlen(name), plural = length > 3 && name[length - 1] == 's';
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == length - plural && strncmp(name, units[i].name, length - plural) == 0)
            return units[i].mm;
    return 0;
}
