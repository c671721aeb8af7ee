/* What lies in a folder, hidden ones included: for tests that nothing is left behind. */
#pragma once

#include <dirent.h>

static inline int entries_in(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count - 2;
}
