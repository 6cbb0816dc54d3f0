/* Which files a store may touch, and its own directory. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "base/write_all.h"
#include "mcp/traces/trace_store_priv.h"
#include "sys/rights/own_dir.h"

static int allow_dir(struct trace_store *s, const char *path, struct diag *d)
{
	int err = broker_dirs_add(&s->dirs, path);

	if (err == -E2BIG)
		return diag_set(d, err, "allow a directory that holds some of them",
		                "at most %u directories can be allowed", BROKER_DIRS_MAX);
	return err ? diag_set(d, err, "give a directory that exists with --allow-path",
	                      "cannot allow '%.128s'", path)
	           : 0;
}

/* Makes the directory of our own. */
static int make_own_dir(struct trace_store *s)
{
	char path[PATH_MAX];
	int err = own_dir_make(path);

	if (err)
		return err;
	s->own_dir = realpath(path, NULL);
	return s->own_dir ? 0 : -errno;
}

int store_allow_dirs(struct trace_store *s, const struct trace_store_cfg *cfg, struct diag *d)
{
	size_t nr = cfg->nr_allow_paths;
	int err = nr ? 0 : allow_dir(s, ".", d);

	for (size_t i = 0; i < nr && !err; i++)
		err = allow_dir(s, cfg->allow_paths[i], d);
	/* While we still have the rights to create it for the user that we will become. */
	if (!err && s->dirs.is_lent)
		(void)!make_own_dir(s);
	return err;
}

/* Whether path is below dir, both real. */
static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	if (strncmp(path, dir, len) != 0)
		return false;
	return path[len] == '/' || (len == 1 && path[1]);
}

static bool is_own(const struct trace_store *s, const char *real)
{
	return s->own_dir && is_below(real, s->own_dir);
}

/* The names of recordings begin with their owner's number. */
bool store_is_temporary(const struct trace_store *s, uint64_t owner, const char *real)
{
	char prefix[64];

	snprintf(prefix, sizeof(prefix), "recording-%" PRIu64 "-", owner);
	return is_own(s, real) &&
	       strncmp(real + strlen(s->own_dir) + 1, prefix, strlen(prefix)) == 0;
}

/* Says which directories there are, but nothing of what is outside of them. */
static int refuse(const struct trace_store *s, const char *path, struct diag *d)
{
	char dirs[160] = "", shown[160];
	size_t len = 0;

	for (uint32_t i = 0; i < s->dirs.nr && len < sizeof(dirs); i++)
		len += (size_t)snprintf(dirs + len, sizeof(dirs) - len, "%s%s", i ? ", " : "",
		                        s->dirs.at[i].path);
	log_warn("refused '%s': not below an allowed directory",
	         text_printable(shown, sizeof(shown), path, strlen(path)));
	diag_set(d, -EINVAL, "start the server with --allow-path DIR to allow more",
	         "'%.64s' is not below %s", path, dirs);
	return -EACCES;
}

/* Why a path is not good. */
static int explain(const struct trace_store *s, const char *path, int err, struct diag *d)
{
	if (err == -EXDEV)
		return refuse(s, path, d);
	if (err == -EINVAL)
		return diag_set(d, err, "name a trace file", "'%.128s' is not a file", path);
	if (err == -EEXIST)
		return diag_set(d, err, "name a file in a directory that exists",
		                "'%.128s' cannot be used", path);
	return diag_set(d, err, "check the path and its permissions", "cannot open '%.128s'", path);
}

static bool is_there(const struct trace_store *s, const char *path)
{
	SCOPED(scoped_close) int fd = broker_dirs_open(&s->dirs, path);

	return fd >= 0 || (fd != -ENOENT && fd != -ENOTDIR && fd != -EXDEV);
}

/* A path that does not begin with / is one of an allowed directory: of the first that has such a file, else of the first. */
char *store_from_allowed(const struct trace_store *s, const char *path)
{
	SCOPED(scoped_free) char *first = NULL;
	char *place;

	if (path[0] == '/')
		return strdup(path);
	for (uint32_t i = 0; i < s->dirs.nr; i++) {
		if (asprintf(&place, "%s/%s", s->dirs.at[i].path, path) < 0)
			return NULL;
		if (is_there(s, place))
			return place;
		if (i == 0)
			first = place;
		else
			free(place);
	}
	return TAKE_PTR(first);
}

/* The real path of a file that is there, below an allowed directory or in our own. */
static int find_file(const struct trace_store *s, const char *path, char **real)
{
	SCOPED(scoped_close) int fd = broker_dirs_open(&s->dirs, path);
	SCOPED(scoped_free) char *own = NULL;

	if (fd >= 0) {
		*real = broker_dirs_real(fd);
		return *real ? 0 : -ENOMEM;
	}
	own = realpath(path, NULL);
	if (!own || !is_own(s, own))
		return fd;
	*real = TAKE_PTR(own);
	return 0;
}

int trace_store_allow(struct trace_store *s, uint64_t owner, const char *path, bool is_new,
                      struct diag *d, char **real)
{
	SCOPED(scoped_free) char *place = store_from_allowed(s, path);
	SCOPED(scoped_free) char *found = NULL;
	bool is_good;
	int err;

	if (!place)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = is_new ? broker_dirs_place(&s->dirs, place, &found) : find_file(s, place, &found);
	if (err)
		return explain(s, place, err, d);
	assert(found);
	pthread_mutex_lock(&s->lock);
	is_good = !is_own(s, found) || (!is_new && store_is_temporary(s, owner, found));
	pthread_mutex_unlock(&s->lock);
	if (!is_good)
		return refuse(s, path, d);
	*real = TAKE_PTR(found);
	return 0;
}

int trace_store_create(struct trace_store *s, uint64_t owner, const char *path, struct diag *d,
                       char **real)
{
	SCOPED(scoped_free) char *found = NULL;
	int err = trace_store_allow(s, owner, path, true, d, &found), fd;

	if (err)
		return err;
	assert(found);
	fd = broker_dirs_create(&s->dirs, found, false);
	if (fd == -EEXIST)
		return diag_set(d, -EEXIST, "give a name that is not in use",
		                "'%.128s' exists, and a recording never replaces a file", path);
	if (fd < 0)
		return diag_set(d, fd, "check the path and its permissions",
		                "cannot create '%.128s'", path);
	*real = TAKE_PTR(found);
	return fd;
}

void trace_store_discard(struct trace_store *s, int fd)
{
	(void)!broker_dirs_remove(&s->dirs, fd);
}

int trace_store_write(struct trace_store *s, const char *real, const char *bytes, size_t len)
{
	SCOPED(scoped_close) int fd = broker_dirs_create(&s->dirs, real, true);
	int err = fd < 0 ? fd : write_all(fd, bytes, len);

	if (!err && fsync(fd))
		err = -errno;
	if (!err)
		err = broker_dirs_keep(&s->dirs, fd, real);
	if (err && fd >= 0)
		(void)!broker_dirs_remove(&s->dirs, fd);
	return err;
}

int store_open(struct trace_store *s, const char *real, struct diag *d, uint64_t *file_bytes)
{
	SCOPED(scoped_close) int fd = -1;
	struct stat st;

	/* What is in our own directory belongs to us. */
	fd = is_own(s, real) ? open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
	                     : broker_dirs_open(&s->dirs, real);
	if (fd == -1)
		fd = -errno;
	if (fd < 0)
		return explain(s, real, fd, d);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return explain(s, real, -EINVAL, d);
	*file_bytes = (uint64_t)st.st_size;
	return TAKE_FD(fd);
}

int store_make_handle(char handle[STORE_HANDLE_LEN])
{
	unsigned char bytes[(STORE_HANDLE_LEN - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EAGAIN;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(handle + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* The path cannot be guessed: owner 0 is many clients. */
int trace_store_temporary(struct trace_store *s, uint64_t owner, struct diag *d, char **path)
{
	char handle[STORE_HANDLE_LEN];
	int err = store_make_handle(handle);

	pthread_mutex_lock(&s->lock);
	if (!err && !s->own_dir)
		err = make_own_dir(s);
	if (!err &&
	    asprintf(path, "%s/recording-%" PRIu64 "-%s.pftrace", s->own_dir, owner, handle) < 0)
		err = -ENOMEM;
	pthread_mutex_unlock(&s->lock);
	return err ? diag_set(d, err, "set TMPDIR to a directory that can be written",
	                      "cannot make a directory for recordings")
	           : 0;
}

void store_remove_dir(struct trace_store *s)
{
	DIR *dir = s->own_dir ? opendir(s->own_dir) : NULL;
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	if (s->own_dir)
		rmdir(s->own_dir);
	free(s->own_dir);
	s->own_dir = NULL;
}
