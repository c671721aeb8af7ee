/* Takes back the macros of gnomonic_item.cuh. */
#undef HOT_TERMS
#undef HOT_PART
#undef HOT_PADDED
#undef HOT_QUADS
#undef HOT_UNIQUE
#undef HOT_FORM
#undef HOT_SCALAR
#undef HOT_REAL
#undef HOT_COEF
