/* Which files a store may touch, and its own directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "mcp/trace_store_priv.h"

static int allow_dir(struct trace_store *s, const char *path, struct diag *d)
{
	char *real = realpath(path, NULL);
	struct stat st;

	if (!real || stat(real, &st) < 0 || !S_ISDIR(st.st_mode)) {
		int err = real ? -ENOTDIR : -errno;

		free(real);
		return diag_set(d, err, "give a directory that exists with --allow-path",
		                "cannot allow '%.128s'", path);
	}
	s->allowed[s->nr_allowed++] = real;
	return 0;
}

int store_allow_dirs(struct trace_store *s, const struct trace_store_cfg *cfg, struct diag *d)
{
	size_t nr = cfg->nr_allow_paths;
	int err = 0;

	s->allowed = calloc(nr + 1, sizeof(*s->allowed));
	if (!s->allowed)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	if (!nr)
		return allow_dir(s, ".", d);
	for (size_t i = 0; i < nr && !err; i++)
		err = allow_dir(s, cfg->allow_paths[i], d);
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

bool store_is_temporary(const struct trace_store *s, const char *real)
{
	return s->own_dir && is_below(real, s->own_dir);
}

static bool is_allowed(const struct trace_store *s, const char *real)
{
	for (size_t i = 0; i < s->nr_allowed; i++)
		if (is_below(real, s->allowed[i]))
			return true;
	return false;
}

/* Says which directories there are, but nothing of what is outside of them. */
static int refuse(const struct trace_store *s, const char *path, struct diag *d)
{
	char dirs[160] = "", shown[160];
	size_t len = 0;

	for (size_t i = 0; i < s->nr_allowed && len < sizeof(dirs); i++)
		len += (size_t)snprintf(dirs + len, sizeof(dirs) - len, "%s%s", i ? ", " : "",
		                        s->allowed[i]);
	log_warn("refused '%s': not below an allowed directory",
	         text_printable(shown, sizeof(shown), path, strlen(path)));
	return diag_set(d, -EACCES, "start the server with --allow-path DIR to allow more",
	                "'%.64s' is not below %s", path, dirs);
}

/* The real path of a file that need not be there yet: its directory must be. */
static char *real_of_new(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	SCOPED(scoped_free) char *dir = NULL;
	SCOPED(scoped_free) char *real = NULL;
	struct stat st;
	char *out;

	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		errno = EINVAL;
		return NULL;
	}
	dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	real = dir ? realpath(dir, NULL) : NULL;
	if (!real)
		return NULL;
	if (asprintf(&out, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) < 0)
		return NULL;
	/* What would be replaced must be a plain file. */
	if (lstat(out, &st) == 0 && !S_ISREG(st.st_mode)) {
		free(out);
		errno = EEXIST;
		return NULL;
	}
	return out;
}

/* Whether something outside exists is nobody's business: what cannot be opened is told only inside. */
static int refuse_missing(struct trace_store *s, const char *path, int err, struct diag *d)
{
	SCOPED(scoped_free) char *place = NULL;

	if (err != -EACCES && err != -ENOENT && err != -ENOTDIR && err != -ELOOP)
		return diag_set(d, err, "name a file in a directory that exists",
		                "'%.128s' cannot be used", path);
	place = real_of_new(path);
	if (!place || !is_allowed(s, place))
		return refuse(s, path, d);
	return diag_set(d, err, "check the path and its permissions", "cannot open '%.128s'", path);
}

int trace_store_allow(struct trace_store *s, const char *path, bool is_new, struct diag *d,
                      char **real)
{
	SCOPED(scoped_free) char *found = is_new ? real_of_new(path) : realpath(path, NULL);
	bool is_ours;

	if (!found)
		return refuse_missing(s, path, errno ? -errno : -ENOMEM, d);
	pthread_mutex_lock(&s->lock);
	is_ours = !is_new && store_is_temporary(s, found);
	pthread_mutex_unlock(&s->lock);
	if (!is_ours && !is_allowed(s, found))
		return refuse(s, path, d);
	*real = TAKE_PTR(found);
	return 0;
}

/* A directory may have become a link since the path was looked at: what counts is what was opened. */
static bool is_still(int fd, const char *real)
{
	char link[64], now[PATH_MAX];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, now, sizeof(now) - 1);
	if (len < 0)
		return false;
	now[len] = '\0';
	return strcmp(now, real) == 0;
}

int store_open(struct trace_store *s, const char *real, struct diag *d, uint64_t *file_bytes)
{
	SCOPED(scoped_close) int fd = open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return diag_set(d, -errno, "check the path and its permissions",
		                "cannot open '%.128s'", real);
	if (!S_ISREG(st.st_mode))
		return diag_set(d, -EINVAL, "name a trace file", "'%.128s' is no file", real);
	if (!is_still(fd, real))
		return refuse(s, real, d);
	*file_bytes = (uint64_t)st.st_size;
	return TAKE_FD(fd);
}

static int make_dir(struct trace_store *s)
{
	const char *base = getenv("TMPDIR");
	char path[PATH_MAX];

	if (!base || base[0] != '/')
		base = "/tmp";
	if (snprintf(path, sizeof(path), "%s/schedscope-mcp-XXXXXX", base) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (!mkdtemp(path))
		return -errno;
	s->own_dir = realpath(path, NULL);
	return s->own_dir ? 0 : -errno;
}

int trace_store_temporary(struct trace_store *s, struct diag *d, char **path)
{
	int err = 0;

	pthread_mutex_lock(&s->lock);
	if (!s->own_dir)
		err = make_dir(s);
	if (!err &&
	    asprintf(path, "%s/recording-%" PRIu64 ".pftrace", s->own_dir, ++s->nr_files) < 0)
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
