/* symbol/open_file — regular files only: a device or a pipe that someone put in the way is not even opened. */
#pragma once

#include <sys/stat.h>

/* For reading: a descriptor, or -errno; -EINVAL for what is no regular file. st may be NULL. */
int open_file(const char *path, struct stat *st);
