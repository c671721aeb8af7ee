/* Units of length in headers. */
#pragma once

/* Millimetres in a unit by its name in English, singular or plural, or its symbol; 0 where the name is not known. */
double hot_unit_in_mm(const char *name);
