/* Lists and clears folders of tests. */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline size_t files_in(const char *folder)
{
    size_t count = 0;
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (open)
        closedir(open);
    return count;
}

static inline void remove_folder(const char *folder);

static inline void remove_all(const char *folder)
{
    char path[600];
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path)
            continue;
        struct stat about;
        if (lstat(path, &about) == 0 && S_ISDIR(about.st_mode))
            remove_folder(path);
        else
            unlink(path);
    }
    if (open)
        closedir(open);
}

static inline void remove_folder(const char *folder)
{
    remove_all(folder);
    rmdir(folder);
}
