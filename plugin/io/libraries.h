/* Which libraries of others read and write the files. */
#ifndef HOT_PLUGIN_LIBRARIES_H
#define HOT_PLUGIN_LIBRARIES_H

/* Their versions, as loaded; static storage. */
const char *hot_library_teem(void);
const char *hot_library_zlib(void);

#endif
