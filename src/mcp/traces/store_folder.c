/* Folders below the allowed directories: which recordings they hold. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "mcp/traces/trace_store_priv.h"

static const char *const endings[] = { ".pftrace", ".perfetto-trace", ".data", ".dat" };

static bool has_ending(const char *name)
{
	size_t len = strlen(name);

	if (len > 3 && strcmp(name + len - 3, ".gz") == 0)
		len -= 3;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t nr = strlen(endings[i]);

		if (len > nr && strncmp(name + len - nr, endings[i], nr) == 0)
			return true;
	}
	return false;
}

static bool is_allowed(const struct trace_store *s, const char *real)
{
	for (uint32_t i = 0; i < s->dirs.nr; i++) {
		size_t len = strlen(s->dirs.at[i].path);

		if (strncmp(real, s->dirs.at[i].path, len) == 0 &&
		    (!real[len] || real[len] == '/' || len == 1))
			return true;
	}
	return false;
}

/* Among the newest; the oldest of more than there is room for is dropped. */
static void add(struct trace_folder *f, const char *name, int64_t changed_s)
{
	uint32_t at = f->nr;

	while (at && f->files[at - 1].changed_s < changed_s)
		at--;
	f->nr_all++;
	if (at == TRACE_FOLDER_MAX)
		return;
	if (f->nr < TRACE_FOLDER_MAX)
		f->nr++;
	memmove(&f->files[at + 1], &f->files[at], (f->nr - at - 1) * sizeof(f->files[0]));
	f->files[at].changed_s = changed_s;
	(void)snprintf(f->files[at].name, sizeof(f->files[at].name), "%s", name);
}

static bool begins_as_perf(int fd)
{
	char head[8];

	return pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       (memcmp(head, "PERFILE2", sizeof(head)) == 0 ||
	        memcmp(head, "2ELIFREP", sizeof(head)) == 0);
}

/* By its first file, which is opened as any other trace is. */
char *store_perf_folder(const struct trace_store *s, const char *path)
{
	SCOPED(scoped_free) char *place = store_from_allowed(s, path);
	SCOPED(scoped_free) char *first = NULL;
	SCOPED(scoped_free) char *real = NULL;
	SCOPED(scoped_close) int fd = -1;
	char *slash;

	if (!place || asprintf(&first, "%s/" STORE_FIRST_PART, place) < 0)
		return NULL;
	fd = broker_dirs_open(&s->dirs, first);
	if (fd < 0 || !begins_as_perf(fd))
		return NULL;
	real = broker_dirs_real(fd);
	slash = real ? strrchr(real, '/') : NULL;
	if (!slash || slash == real || strcmp(slash + 1, STORE_FIRST_PART) != 0)
		return NULL;
	*slash = '\0';
	return TAKE_PTR(real);
}

bool trace_store_is_perf_folder(const struct trace_store *s, const char *path)
{
	SCOPED(scoped_free) char *real = store_perf_folder(s, path);

	return real != NULL;
}

/* A file, or a folder that may be one of perf. */
static bool is_recording(int dir, const char *name, struct stat *st)
{
	char first[NAME_MAX + sizeof("/" STORE_FIRST_PART)];

	if (name[0] == '.' || !has_ending(name) || fstatat(dir, name, st, AT_SYMLINK_NOFOLLOW))
		return false;
	(void)snprintf(first, sizeof(first), "%s/" STORE_FIRST_PART, name);
	return S_ISREG(st->st_mode) ||
	       (S_ISDIR(st->st_mode) && faccessat(dir, first, F_OK, 0) == 0);
}

/*
 * With the rights of this process: whether a folder can be read is not what the broker lends, and what is chosen is opened by it
 * as any other path.
 */
bool trace_store_folder(const struct trace_store *s, const char *path, struct trace_folder *out)
{
	SCOPED(scoped_free) char *place = store_from_allowed(s, path);
	SCOPED(scoped_free) char *real = place ? realpath(place, NULL) : NULL;
	DIR *dir = real && is_allowed(s, real) ? opendir(real) : NULL;
	const struct dirent *e;
	struct stat st;

	*out = (struct trace_folder){ 0 };
	if (!dir)
		return false;
	(void)snprintf(out->path, sizeof(out->path), "%s", real);
	while ((e = readdir(dir)))
		if (is_recording(dirfd(dir), e->d_name, &st))
			add(out, e->d_name, st.st_mtim.tv_sec);
	closedir(dir);
	return true;
}
