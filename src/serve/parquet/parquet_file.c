#include "serve/parquet/parquet_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/new_file.h"

#define HIVE_NULL    "__HIVE_DEFAULT_PARTITION__"
#define FOOTER_MAX   ((size_t)64 << 20)
#define TRAILER_SIZE 8 /* length of the footer, PAR1 */
#define WRITER       "schedscope version "

struct parquet_file {
	int dir_fd; /* lent */
	int fd;
	bool is_replacing;
	bool has_replaced;
	bool is_kept;
	char name[NAME_MAX + 1];
	char temporary[NEW_FILE_TEMPORARY];
};

static bool is_plain(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

int parquet_partition(char *buf, size_t size, const char *key, const char *value)
{
	size_t at;

	if (!value || !*value)
		value = HIVE_NULL;
	if (strlen(key) + 2 > size)
		return -ENAMETOOLONG;
	at = (size_t)snprintf(buf, size, "%s=", key);
	for (; *value; value++) {
		unsigned char c = (unsigned char)*value;

		if (at + 4 > size || at + 3 > NAME_MAX)
			return -ENAMETOOLONG;
		if (is_plain(c))
			buf[at++] = (char)c;
		else
			at += (size_t)snprintf(buf + at, size - at, "%%%02X", c);
	}
	buf[at] = '\0';
	return 0;
}

static int open_below(int dir_fd, const char *name, struct diag *d)
{
	int fd;

	if (mkdirat(dir_fd, name, 0777) < 0 && errno != EEXIST)
		return diag_set(d, -errno, "check the folder and its permissions",
		                "cannot make the folder '%.120s'", name);
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return diag_set(d, -errno, "remove it, or choose another folder",
		                "'%.120s' is a link or a file: nothing is written through it",
		                name);
	return fd < 0 ? diag_set(d, -errno, "check the folder and its permissions",
	                         "cannot open the folder '%.120s'", name)
	              : fd;
}

int parquet_folder_open(const char *dir, const char *const *below, size_t nr, struct diag *d)
{
	int fd;

	if (mkdir(dir, 0777) < 0 && errno != EEXIST)
		return diag_set(d, -errno, "check the path and its permissions",
		                "cannot make the folder '%.120s'", dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return diag_set(d, -errno, "check the path and its permissions",
		                "cannot open the folder '%.120s'", dir);
	for (size_t i = 0; i < nr && fd >= 0; i++) {
		int next = open_below(fd, below[i], d);

		close(fd);
		fd = next;
	}
	return fd;
}

/* Whether a file is Parquet with our name in its footer. */
static bool is_ours(int dir_fd, const char *name)
{
	SCOPED(scoped_close) int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	SCOPED(scoped_free) uint8_t *footer = NULL;
	uint8_t trailer[TRAILER_SIZE];
	struct stat st;
	size_t nr;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < TRAILER_SIZE)
		return false;
	if (pread(fd, trailer, sizeof(trailer), st.st_size - TRAILER_SIZE) != TRAILER_SIZE ||
	    memcmp(trailer + 4, "PAR1", 4) != 0)
		return false;
	nr = trailer[0] | (size_t)trailer[1] << 8 | (size_t)trailer[2] << 16 |
	     (size_t)trailer[3] << 24;
	if (nr > FOOTER_MAX || nr > (size_t)st.st_size - TRAILER_SIZE)
		return false;
	footer = malloc(nr + 1);
	return footer &&
	       pread(fd, footer, nr, st.st_size - TRAILER_SIZE - (off_t)nr) == (ssize_t)nr &&
	       memmem(footer, nr, WRITER, sizeof(WRITER) - 1);
}

static int check_name(const struct parquet_file *f, struct diag *d)
{
	struct stat st;

	if (fstatat(f->dir_fd, f->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT
		               ? 0
		               : diag_set(d, -errno, NULL, "cannot write '%.160s'", f->name);
	if (!f->is_replacing)
		return diag_set(d, -EEXIST, "remove it, or replace it with --force",
		                "'%.160s' is there already", f->name);
	if (!is_ours(f->dir_fd, f->name))
		return diag_set(d, -EEXIST, "choose another folder",
		                "'%.160s' is there already and is not of schedscope", f->name);
	return 0;
}

int parquet_file_open(int dir_fd, const char *name, bool is_replacing, struct diag *d,
                      struct parquet_file **out)
{
	SCOPED(scoped_parquet_file) struct parquet_file *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	f->dir_fd = dir_fd;
	f->fd = -1;
	f->is_replacing = is_replacing;
	if (strlen(name) > NAME_MAX || strchr(name, '/'))
		return diag_set(d, -ENAMETOOLONG, NULL, "'%.160s' cannot be the name of a file",
		                name);
	(void)snprintf(f->name, sizeof(f->name), "%s", name);
	err = check_name(f, d);
	if (err)
		return err;
	f->fd = new_file_temporary(dir_fd, 0666, f->temporary);
	if (f->fd < 0)
		return diag_set(d, f->fd, "check the folder and its permissions",
		                "cannot write '%.160s'", name);
	*out = TAKE_PTR(f);
	return 0;
}

int parquet_file_fd(const struct parquet_file *f)
{
	return f->fd;
}

int parquet_file_sync(struct parquet_file *f, struct diag *d)
{
	if (fsync(f->fd) < 0 && errno != EINVAL && errno != EROFS)
		return diag_set(d, -errno, NULL, "cannot write '%.160s'", f->name);
	return 0;
}

/* Some file systems cannot rename without replacing: there the name was free a moment ago. */
static int take_name(const struct parquet_file *f)
{
	unsigned int flags = f->is_replacing ? 0 : RENAME_NOREPLACE;

	if (renameat2(f->dir_fd, f->temporary, f->dir_fd, f->name, flags) == 0)
		return 0;
	if (!flags || (errno != EINVAL && errno != ENOSYS))
		return -errno;
	if (faccessat(f->dir_fd, f->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(f->dir_fd, f->temporary, f->dir_fd, f->name) < 0 ? -errno : 0;
}

int parquet_file_keep(struct parquet_file *f, struct diag *d)
{
	int err = check_name(f, d);

	if (err)
		return err;
	f->has_replaced = faccessat(f->dir_fd, f->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	err = take_name(f);
	if (err)
		return diag_set(d, err, NULL, "cannot write '%.160s'", f->name);
	f->temporary[0] = '\0';
	f->is_kept = true;
	(void)!fsync(
		f->dir_fd); /* the file is whole in any case; not all file systems sync folders */
	return 0;
}

void parquet_file_take_back(struct parquet_file *f)
{
	if (f->is_kept && !f->has_replaced)
		(void)unlinkat(f->dir_fd, f->name, 0);
	f->is_kept = false;
}

void parquet_file_close(struct parquet_file *f)
{
	if (!f)
		return;
	if (f->temporary[0])
		(void)unlinkat(f->dir_fd, f->temporary, 0);
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}
