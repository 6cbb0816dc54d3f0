/* Files below named directories: what the broker does, and a process that needs none. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/rights/broker_priv.h"

#define BESIDE      ".schedscope-"
#define NAMES_TRIED 16

int dirs_add(struct broker_dirs *s, const char *path, int fd)
{
	struct broker_dir *to = &s->at[s->nr];

	if (s->nr == BROKER_DIRS_MAX)
		return -E2BIG;
	to->path = strdup(path);
	to->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (!to->path || to->fd < 0) {
		free(to->path);
		return -ENOMEM;
	}
	s->nr++;
	return 0;
}

int dirs_path_of(int fd, char path[PATH_MAX])
{
	char link[64];
	ssize_t len;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, PATH_MAX - 1);
	if (len < 0)
		return -errno;
	path[len] = '\0';
	return path[0] == '/' ? 0 : -EINVAL;
}

/* What follows dir in a path below it, both real; NULL if it is not. */
static const char *below(const char *path, const char *dir)
{
	size_t len = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

	return strncmp(path, dir, len) == 0 && path[len] == '/' && path[len + 1] ? path + len + 1
	                                                                         : NULL;
}

static const struct broker_dir *dir_of(const struct broker_dirs *s, const char *real)
{
	for (uint32_t i = 0; i < s->nr; i++)
		if (below(real, s->at[i].path))
			return &s->at[i];
	return NULL;
}

/* One step down, which follows no link; what is found need not be a directory. */
static int step_down(int dir, const char *name)
{
	SCOPED(scoped_close)
	int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	return S_ISLNK(st.st_mode) ? -EXDEV : TAKE_FD(fd); /* it has become a link */
}

/*
 * What RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS would do, step by step: systemd's RestrictSUIDSGID= and filters of containers answer
 * openat2() with ENOSYS.
 */
static int open_beneath(int dir, const char *path, bool is_dir)
{
	SCOPED(scoped_close) int at = step_down(dir, ".");
	char names[PATH_MAX], *rest = names, *name;
	struct stat st;

	if (snprintf(names, sizeof(names), "%s", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	while (at >= 0 && (name = strsep(&rest, "/"))) {
		int next;

		if (!*name || strcmp(name, ".") == 0)
			continue;
		next = strcmp(name, "..") == 0 ? -EXDEV : step_down(at, name);
		close(at);
		at = next;
	}
	if (at >= 0 && is_dir && (fstat(at, &st) || !S_ISDIR(st.st_mode)))
		return -ENOTDIR;
	return at < 0 ? at : TAKE_FD(at);
}

/* The directory that a real path is in, and its name there. */
static int open_parent(const struct broker_dirs *s, const char *real, const char **name)
{
	const struct broker_dir *d = dir_of(s, real);
	const char *rest = d ? below(real, d->path) : NULL;
	char path[PATH_MAX];

	if (!rest)
		return -EXDEV;
	*name = strrchr(real, '/') + 1;
	if (!**name || strcmp(*name, ".") == 0 || strcmp(*name, "..") == 0)
		return -EINVAL;
	(void)snprintf(path, sizeof(path), "%.*s", (int)(*name - rest), rest);
	return open_beneath(d->fd, path, true);
}

/* The directory of a path made real, and the name as it is; NULL with errno. */
static char *real_of_new(const char *path)
{
	const char *slash = strrchr(path, '/');
	SCOPED(scoped_free) char *dir = NULL;
	SCOPED(scoped_free) char *real = NULL;
	char *out;

	if (path[0] != '/' || !slash[1] || strcmp(slash, "/.") == 0 || strcmp(slash, "/..") == 0) {
		errno = EINVAL;
		return NULL;
	}
	dir = strndup(path, slash == path ? 1 : (size_t)(slash - path));
	real = dir ? realpath(dir, NULL) : NULL;
	if (!real || asprintf(&out, "%s%s", strcmp(real, "/") == 0 ? "" : real, slash) < 0)
		return NULL;
	return out;
}

/* Whether something outside exists is not said: why a file cannot be opened is, of one inside. */
static int why_not(const struct broker_dirs *s, const char *path, int err)
{
	SCOPED(scoped_free) char *place = real_of_new(path);

	return place && dir_of(s, place) ? err : -EXDEV;
}

/* Opens for reading what fd names, if it is an ordinary file: opening others may have effects. */
static int reopen(int fd)
{
	char link[64];
	struct stat st;
	int again;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	again = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return again < 0 ? -errno : again;
}

int dirs_open(const struct broker_dirs *s, const char *path)
{
	SCOPED(scoped_free) char *real = path[0] == '/' ? realpath(path, NULL) : NULL;
	SCOPED(scoped_close) int parent = -1;
	SCOPED(scoped_close) int found = -1;
	const char *name;

	if (!real)
		return why_not(s, path, path[0] == '/' ? -errno : -EINVAL);
	parent = open_parent(s, real, &name);
	if (parent < 0)
		return parent;
	found = open_beneath(parent, name, false);
	return found < 0 ? found : reopen(found);
}

/* A descriptor that can be read already: what is given is nothing new. */
int dirs_again(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || (flags & O_PATH) || (flags & O_ACCMODE) == O_WRONLY ? -EACCES
	                                                                        : reopen(fd);
}

/* Whether only an ordinary file would be replaced. */
static bool is_free_for_file(int parent, const char *name)
{
	struct stat st;

	return fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) || S_ISREG(st.st_mode);
}

int dirs_place(const struct broker_dirs *s, const char *path)
{
	SCOPED(scoped_free) char *real = real_of_new(path);
	SCOPED(scoped_close) int parent = -1;
	const char *name;

	if (!real)
		return errno == EINVAL ? -EINVAL : -EXDEV;
	parent = open_parent(s, real, &name);
	if (parent >= 0 && !is_free_for_file(parent, name))
		return -EEXIST;
	return parent < 0 ? parent : TAKE_FD(parent);
}

/* A directory that was removed is looked for where it was. */
static void find_again(struct broker_dir *d)
{
	SCOPED(scoped_close) int root = -1;
	struct stat st;
	int fd;

	if (fstat(d->fd, &st) || st.st_nlink)
		return;
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = root < 0 ? -1 : open_beneath(root, d->path, true);
	if (fd < 0)
		return;
	close(d->fd);
	d->fd = fd;
}

int dirs_make(struct broker_dirs *s, const char *real)
{
	SCOPED(scoped_close) int parent = -1;
	SCOPED(scoped_close) int made = -1;
	const char *name;

	for (uint32_t i = 0; i < s->nr; i++)
		find_again(&s->at[i]);
	parent = open_parent(s, real, &name);
	if (parent < 0)
		return parent;
	if (mkdirat(parent, name, 0777) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	made = open_beneath(parent, name, true);
	return made < 0 ? -EEXIST : 0;
}

static int create_in(int parent, const char *name, mode_t mode)
{
	int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -errno : fd;
}

static int create_beside(int parent, mode_t mode)
{
	char name[NAME_MAX + 1];
	uint64_t nr;
	int fd = -EEXIST;

	for (int i = 0; i < NAMES_TRIED && fd == -EEXIST; i++) {
		if (getrandom(&nr, sizeof(nr), 0) != (ssize_t)sizeof(nr))
			return -EIO;
		(void)snprintf(name, sizeof(name), BESIDE "%016llx", (unsigned long long)nr);
		fd = create_in(parent, name, mode);
	}
	return fd;
}

int dirs_create(const struct broker_dirs *s, const char *real, enum dirs_how how)
{
	const char *name;
	SCOPED(scoped_close) int parent = open_parent(s, real, &name);

	if (parent < 0)
		return parent;
	return how == DIRS_NAMED ? create_in(parent, name, 0600)
	                         : create_beside(parent, how == DIRS_SHARED ? 0666 : 0600);
}

/*
 * The directory and the name of a file that was made: a process that has it open for writing has
 * had it made, or could change it anyway. real holds the name.
 */
static int find_made(const struct broker_dirs *s, int fd, char real[PATH_MAX], const char **name)
{
	int flags = fcntl(fd, F_GETFL), err = dirs_path_of(fd, real);
	SCOPED(scoped_close) int parent = -1;
	struct stat own, there;

	if (flags < 0 || err || (flags & O_PATH) || (flags & O_ACCMODE) == O_RDONLY)
		return -EACCES;
	parent = open_parent(s, real, name);
	if (parent < 0)
		return parent;
	if (fstat(fd, &own) || fstatat(parent, *name, &there, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return S_ISREG(own.st_mode) && own.st_dev == there.st_dev && own.st_ino == there.st_ino
	               ? TAKE_FD(parent)
	               : -EACCES;
}

int dirs_keep(const struct broker_dirs *s, int fd, const char *real)
{
	char made[PATH_MAX];
	const char *from, *to = strrchr(real, '/');
	SCOPED(scoped_close) int parent = find_made(s, fd, made, &from);

	if (parent < 0)
		return parent;
	if (!to || strncmp(from, BESIDE, strlen(BESIDE)) != 0 || to - real != from - 1 - made ||
	    strncmp(real, made, (size_t)(to - real)) != 0)
		return -EACCES;
	if (!is_free_for_file(parent, to + 1))
		return -EEXIST;
	return renameat(parent, from, parent, to + 1) ? -errno : 0;
}

int dirs_remove(const struct broker_dirs *s, int fd)
{
	char made[PATH_MAX];
	const char *name;
	SCOPED(scoped_close) int parent = find_made(s, fd, made, &name);

	if (parent < 0)
		return parent;
	return unlinkat(parent, name, 0) ? -errno : 0;
}

/* Only root's: files that another user names are opened with the rights of that user alone. */
static int serve_add(struct broker_state *s, const char *path, int given)
{
	struct stat st;

	if (s->is_sealed || given < 0 || getuid() != 0 || path[0] != '/' || fstat(given, &st) ||
	    !S_ISDIR(st.st_mode))
		return -EACCES;
	return dirs_add(&s->dirs, path, given);
}

int broker_serve_dirs(struct broker_state *s, const struct broker_request *r, int given)
{
	switch (r->op) {
	case BROKER_DIR:
		return serve_add(s, r->path, given);
	case BROKER_DIR_OPEN:
		return dirs_open(&s->dirs, r->path);
	case BROKER_DIR_AGAIN:
		return dirs_again(given);
	case BROKER_DIR_PLACE:
		return dirs_place(&s->dirs, r->path);
	case BROKER_DIR_MAKE:
		return dirs_make(&s->dirs, r->path);
	case BROKER_DIR_CREATE:
		return dirs_create(&s->dirs, r->path, (enum dirs_how)r->mode);
	case BROKER_DIR_KEEP:
		return dirs_keep(&s->dirs, given, r->path);
	default:
		return dirs_remove(&s->dirs, given);
	}
}
