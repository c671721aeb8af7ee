/* Which libraries of others read and write the files. */
#pragma once

/* Their versions, as loaded; static storage. */
const char *hot_library_teem(void);
const char *hot_library_zlib(void);
