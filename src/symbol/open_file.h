/* symbol/open_file — regular files only: a device or a pipe that someone put in the way is not even opened. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

/* For reading: a descriptor, or -errno; -EINVAL for what is not a regular file. st may be NULL. */
int open_file(const char *path, struct stat *st);
int open_file_no_link(const char *path, struct stat *st); /* -EINVAL if the file itself is one */
/*
 * The same below a process's root directory, which it made itself: links, also absolute ones, and
 * ".." do not lead out of it. With no_link the file itself must not be one. -ENOSYS before Linux
 * 5.6.
 */
int open_file_in_root(const char *proc, unsigned int tgid, const char *path, bool no_link,
                      struct stat *st);
