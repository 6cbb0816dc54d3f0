#include "trace/file_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "trace/formats.h"
#include "trace/inflate.h"
#include "trace/reader.h"

#define FIRST_BYTES ((size_t)1 << 20)

/* Fresh pages, moved when they grow: nothing is copied. */
static int resize(struct file_in *f, size_t size, struct budget *budget)
{
	void *bytes;

	if (!budget_take(budget, size - f->size))
		return -E2BIG;
	bytes = f->bytes ? mremap(f->bytes, f->size, size, MREMAP_MAYMOVE)
	                 : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	                        0);
	if (bytes == MAP_FAILED)
		return -ENOMEM;
	f->bytes = bytes;
	f->size = size;
	/* Fewer and larger pages, if the system has them: filling them is what reading costs. */
	(void)madvise(bytes, size, MADV_HUGEPAGE);
	return 0;
}

void file_in_done(struct file_in *f)
{
	if (f->bytes)
		(void)munmap(f->bytes, f->size);
	free(f->ends);
	*f = (struct file_in){ 0 };
}

/* Until the end, or until there are so many. */
static int fill(int fd, size_t len, struct file_in *f)
{
	ssize_t nr = 1;

	while (nr > 0 && f->len < len) {
		nr = read(fd, f->bytes + f->len, len - f->len);
		if (nr < 0 && errno == EINTR)
			nr = 1;
		else if (nr < 0)
			return -errno;
		else
			f->len += (size_t)nr;
	}
	return 0;
}

/* Whether to read further: what is not a trace at all may be endless. */
static bool may_be_trace(const struct file_in *f)
{
	return f->len == 0 || trace_format_of(f->bytes, f->len) ||
	       inflate_sniff(f->bytes, f->len) != INFLATE_NONE;
}

/* Of unknown length: a pipe, a device, or a file of /proc. */
static int read_stream(int fd, struct budget *budget, struct file_in *f)
{
	size_t size = FIRST_BYTES;
	int err;

	for (;;) {
		err = resize(f, size, budget);
		if (!err)
			err = fill(fd, size, f);
		if (err || f->len < size || !may_be_trace(f))
			return err;
		size *= 2;
	}
}

static int read_file(int fd, size_t size, struct budget *budget, struct file_in *f)
{
	size_t first = size < FIRST_BYTES ? size : FIRST_BYTES;
	int err = resize(f, size, budget);

	if (!err)
		err = fill(fd, first, f);
	if (!err && f->len == first && !may_be_trace(f))
		return 0;
	if (!err)
		err = fill(fd, size, f);
	if (!err && f->len < size)
		err = -ESTALE;
	return err;
}

static int open_in(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

/* A file of a folder behind what is there; the descriptor is lent. -ENOENT if it is no file. */
static int append_file(int fd, struct budget *budget, struct file_in *f)
{
	struct stat st;
	size_t end;
	int err = 0;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < 0)
		return -ENOENT;
	end = f->len + (size_t)st.st_size;
	if (end > f->size)
		err = resize(f, end, budget);
	if (!err)
		err = fill(fd, end, f);
	if (!err && f->len < end)
		err = -ESTALE;
	if (!err && GROW(f->ends, f->cap_ends, f->nr_ends))
		err = -ENOMEM;
	if (!err)
		f->ends[f->nr_ends++] = f->len;
	return err;
}

/* "data", which has the header, and "data.0", "data.1", ... of each thread that recorded. */
static int read_parts(int data, const struct trace_parts *parts, struct budget *budget,
                      struct file_in *f)
{
	int err = append_file(data, budget, f);

	if (!err && !perfdata_is_format(f->bytes, f->len))
		err = -ENOENT;
	for (unsigned int i = 0; i < TRACE_PARTS_MAX && !err; i++) {
		SCOPED(scoped_close) int fd = parts->open(parts->ctx, i);

		err = fd < 0 ? fd : append_file(fd, budget, f);
		if (err == -ENOENT)
			return 0;
	}
	return err;
}

static int open_part(void *ctx, unsigned int nr)
{
	const int *folder = ctx;
	char name[32];

	(void)snprintf(name, sizeof(name), "data.%u", nr);
	return open_in(*folder, name);
}

static int read_folder(int folder, struct budget *budget, struct file_in *f)
{
	SCOPED(scoped_close) int data = open_in(folder, "data");
	const struct trace_parts parts = { .open = open_part, .ctx = &folder };

	return data < 0 ? data : read_parts(data, &parts, budget, f);
}

static int is_folder(const char *name, struct diag *d)
{
	return diag_set(d, -EISDIR, "give the name of a trace", "'%s' is a folder", name);
}

int file_in_read(const char *path, const struct trace_read_cfg *cfg, struct diag *d,
                 struct file_in *out)
{
	struct budget *budget = cfg->budget;
	int fd = cfg->fd;
	SCOPED(scoped_close) int opened = -1;
	bool is_stdin = !fd && strcmp(path, "-") == 0;
	const char *name = is_stdin ? "standard input" : path;
	struct file_in f = { 0 };
	struct stat st;
	int err;

	if (!fd && !is_stdin) {
		opened = open(path, O_RDONLY | O_CLOEXEC);
		fd = opened;
	}
	if (fd < 0)
		return diag_set(d, -errno, "check the path and its permissions", "cannot open '%s'",
		                name);
	if (fstat(fd, &st) < 0)
		return diag_set(d, -errno, NULL, "cannot stat '%s'", name);
	if (S_ISDIR(st.st_mode) && opened < 0)
		return is_folder(name, d);
	if (S_ISDIR(st.st_mode))
		err = read_folder(fd, budget, &f);
	else if (cfg->parts.open)
		err = read_parts(fd, &cfg->parts, budget, &f);
	else if (S_ISREG(st.st_mode) && st.st_size > 0 && !is_stdin)
		err = read_file(fd, (size_t)st.st_size, budget, &f);
	else
		err = read_stream(fd, budget, &f);
	if (err) {
		file_in_done(&f);
		if (err == -ENOENT)
			return is_folder(name, d);
		if (err == -E2BIG)
			return err; /* the caller knows what to say */
		return diag_set(d, err,
		                err == -ESTALE ? "wait until it is written, then try again" : NULL,
		                err == -ESTALE ? "'%s' became shorter while it was read"
		                               : "cannot read '%s'",
		                name);
	}
	*out = f;
	return 0;
}
