/* The side that asks, and what is done without a broker. */
#include "sys/rights/broker_dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/rights/broker_priv.h"

int broker_dirs_add(struct broker_dirs *s, const char *path)
{
	SCOPED(scoped_free) char *real = realpath(path, NULL);
	SCOPED(scoped_close) int fd = -1;
	int err;

	if (!real)
		return -errno;
	fd = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* What another user may open is for the kernel to say, not for one with more rights. */
	if (s->nr == 0)
		s->is_lent = broker_is_there() && getuid() == 0;
	err = s->is_lent ? broker_ask_dirs(BROKER_DIR, 0, real, fd) : 0;
	return err ? err : dirs_add(s, real, fd);
}

void broker_dirs_done(struct broker_dirs *s)
{
	for (uint32_t i = 0; i < s->nr; i++) {
		free(s->at[i].path);
		close(s->at[i].fd);
	}
	s->nr = 0;
}

int broker_dirs_open(const struct broker_dirs *s, const char *path)
{
	return s->is_lent ? broker_ask_dirs(BROKER_DIR_OPEN, 0, path, -1) : dirs_open(s, path);
}

char *broker_dirs_real(int fd)
{
	char real[PATH_MAX];

	return dirs_path_of(fd, real) ? NULL : strdup(real);
}

int broker_dirs_again(const struct broker_dirs *s, int fd)
{
	return s->is_lent ? broker_ask_dirs(BROKER_DIR_AGAIN, 0, "", fd) : dirs_again(fd);
}

int broker_dirs_place(const struct broker_dirs *s, const char *path, char **real)
{
	SCOPED(scoped_close)
	int dir = s->is_lent ? broker_ask_dirs(BROKER_DIR_PLACE, 0, path, -1) : dirs_place(s, path);
	char in[PATH_MAX];
	int err = dir < 0 ? dir : dirs_path_of(dir, in);

	if (err)
		return err;
	if (asprintf(real, "%s%s", strcmp(in, "/") == 0 ? "" : in, strrchr(path, '/')) < 0)
		return -ENOMEM;
	return 0;
}

int broker_dirs_create(const struct broker_dirs *s, const char *real, bool is_beside)
{
	enum dirs_how how = is_beside ? DIRS_BESIDE : DIRS_NAMED;

	return s->is_lent ? broker_ask_dirs(BROKER_DIR_CREATE, how, real, -1)
	                  : dirs_create(s, real, how);
}

int broker_dirs_create_shared(const struct broker_dirs *s, const char *real)
{
	return s->is_lent ? broker_ask_dirs(BROKER_DIR_CREATE, DIRS_SHARED, real, -1)
	                  : dirs_create(s, real, DIRS_SHARED);
}

int broker_dirs_make(struct broker_dirs *s, const char *real)
{
	return s->is_lent ? broker_ask_dirs(BROKER_DIR_MAKE, 0, real, -1) : dirs_make(s, real);
}

int broker_dirs_keep(const struct broker_dirs *s, int fd, const char *real)
{
	return s->is_lent ? broker_ask_dirs(BROKER_DIR_KEEP, 0, real, fd) : dirs_keep(s, fd, real);
}

int broker_dirs_remove(const struct broker_dirs *s, int fd)
{
	return s->is_lent ? broker_ask_dirs(BROKER_DIR_REMOVE, 0, "", fd) : dirs_remove(s, fd);
}
