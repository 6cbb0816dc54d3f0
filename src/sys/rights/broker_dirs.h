/*
 * sys/rights/broker_dirs — files below directories that the user has named, for a process that has given up its rights.
 *
 * Directories are named before rights are given up. Then a file below one of them can be opened for reading, and a new one made,
 * given its name and removed, whatever the process itself may do there: root's broker does it, with checks of its own. Where root
 * has not started us, files are those that the user may use, and all of it is done here.
 *
 * A path is made real, then opened below the descriptor of its directory without following any link, so that what happens to
 * it meanwhile leads nowhere else. -EXDEV: it is not below any of them, whether or not there is such a file. Any thread may
 * call all but broker_dirs_add(), broker_dirs_make() and broker_dirs_done().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define BROKER_DIRS_MAX 64U

struct broker_dirs {
	struct broker_dir {
		char *path; /* real */
		int fd;
	} at[BROKER_DIRS_MAX];
	uint32_t nr;
	bool is_lent; /* the broker has them, and does the work */
};

/* Before the seal. -E2BIG: there are BROKER_DIRS_MAX. */
MUST_USE int broker_dirs_add(struct broker_dirs *s, const char *path);
void broker_dirs_done(struct broker_dirs *s);

/* A descriptor for reading of an ordinary file, -EINVAL if it is another; paths are absolute. */
MUST_USE int broker_dirs_open(const struct broker_dirs *s, const char *path);
/* The real path of what a descriptor has open, to be freed; NULL without memory. */
char *broker_dirs_real(int fd);
/* One more descriptor of a file that was opened for reading, with a position of its own. */
MUST_USE int broker_dirs_again(const struct broker_dirs *s, int fd);

/* The real path, to be freed, of a file to be made: its directory is there, and only an ordinary file may be in its place. */
MUST_USE int broker_dirs_place(const struct broker_dirs *s, const char *path, char **real);
/*
 * A directory whose own one is there; 0 also if it is there itself, -EEXIST if something else is. A named directory that was removed and made again is
 * found by its path. Not beside other calls.
 */
MUST_USE int broker_dirs_make(struct broker_dirs *s, const char *real);
/* A new file for its owner only, to be written: under that path, -EEXIST if it is taken, or under a name of its own beside it. */
MUST_USE int broker_dirs_create(const struct broker_dirs *s, const char *real, bool is_beside);
/* The same beside it, for whom the umask lets read it. */
MUST_USE int broker_dirs_create_shared(const struct broker_dirs *s, const char *real);
/* One that was made beside takes its path, and the place of what was there. */
MUST_USE int broker_dirs_keep(const struct broker_dirs *s, int fd, const char *real);
/* A file that was made, by its descriptor. */
MUST_USE int broker_dirs_remove(const struct broker_dirs *s, int fd);
