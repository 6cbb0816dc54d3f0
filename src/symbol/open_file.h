/*
 * symbol/open_file — regular files only: a device or a pipe that someone put in the way is not even opened, nor is a file of
 * /proc or /sys, which is no program and may be the memory of a process.
 */
#pragma once

#include <sys/stat.h>

enum {
	OPEN_NO_LINK = 1,    /* -EINVAL if the file itself is one */
	OPEN_OWN_RIGHTS = 2, /* not what only the broker can open (sys/rights/broker) */
};

/* For reading: a descriptor, or -errno; -EINVAL for what is not a regular file. how: OPEN_*. st may be NULL. */
int open_file(const char *path, unsigned int how, struct stat *st);
/*
 * The same below a process's root directory, which it made itself: links, also absolute ones, and
 * ".." do not lead out of it. -ENOSYS before Linux 5.6.
 */
int open_file_in_root(const char *proc, unsigned int tgid, const char *path, unsigned int how,
                      struct stat *st);
