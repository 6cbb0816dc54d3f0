/*
 * base/new_file — files that we create: for their owner only, and never through a link.
 *
 * A file is made under another name (O_EXCL, mode 0600) in the directory of its path, which stays open, and takes its
 * name in one step, before anything is written, so that it exists even if we are killed. A previous file of that name
 * is replaced, never written to, also a link that appears at the last moment; and whatever happens to the directories
 * of the path meanwhile, the file is in the one that was opened. Blocks on the file system only.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/diag.h"

/*
 * A descriptor to stream into, or a negative errno that leaves nothing behind. What is not a regular file (a device, a
 * pipe) is opened as it is, unless is_real, and only if it is ours or root's; /dev/stdout and /dev/fd/N are the
 * descriptors that they name. Any other link is refused. is_real: the path is absolute and no part of it may be a link,
 * -ELOOP if one has become a link.
 */
MUST_USE int new_file_open(const char *path, bool is_real, struct diag *d);

#define NEW_FILE_TEMPORARY 32 /* bytes of such a name */

/* A new file of a name that nothing else has, in an open directory: a descriptor to write to, or a negative errno and "". */
MUST_USE int new_file_temporary(int dir_fd, mode_t mode, char name[NEW_FILE_TEMPORARY]);
