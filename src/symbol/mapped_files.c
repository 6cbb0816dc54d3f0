#include "symbol/mapped_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"
#include "symbol/open_file.h"
#include "symbol/parser.h"
#include "symbol/proc_maps.h"
#include "sys/rights/broker.h"

#define MAX_TRIES       4 /* the way may be there for another process that maps it */
#define PROC_FOLDER_MAX 1024
#define MAPS_BYTES_MAX  ((size_t)64 << 20)

/* Compared byte by byte: no padding. */
struct identity {
	uint64_t inode;
	uint32_t path; /* interned */
	uint32_t dev;
	uint8_t build_id[SYMBOL_BUILD_ID_MAX];
	uint32_t nr_build_id;
};
_Static_assert(sizeof(struct identity) == 40, "no padding");

struct mapped_file {
	struct identity id;
	uint32_t dev_major, dev_minor;
	int fd; /* held open; -1 */
	uint32_t nr_tries;
	struct timespec
		changed; /* when it was last written to, or first reported to us if it was not opened */
	const char *path, *name;
};

struct mapped_files {
	const char *proc;
	struct intern *texts;
	struct parser *parser;
	unsigned int how; /* files are opened: OPEN_* */
	struct map *by_identity;
	struct mapped_file *all;
	uint32_t nr, room, nr_open;
};

struct mapped_files *mapped_files_new(const char *proc, struct intern *texts, struct parser *parser,
                                      unsigned int how)
{
	struct mapped_files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->proc = proc;
	f->texts = texts;
	f->parser = parser;
	f->how = how;
	if (map_new(sizeof(struct identity), MAPPED_FILES_MAX, &f->by_identity)) {
		free(f);
		return NULL;
	}
	return f;
}

void mapped_files_free(struct mapped_files *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->nr; i++)
		if (f->all[i].fd >= 0)
			close(f->all[i].fd);
	free(f->all);
	map_free(f->by_identity);
	free(f);
}

static bool is_file(const struct mapped_file *m)
{
	return m->path[0] == '/' && m->path[1] != '/' && (m->id.inode || m->id.nr_build_id);
}

/* The file system may give a file another device than the one that its mappings show: btrfs, overlayfs. */
static bool is_same_inode(const struct mapped_file *m, const struct stat *st)
{
	if (!m->id.inode || st->st_ino != m->id.inode)
		return false;
	return (major(st->st_dev) == m->dev_major && minor(st->st_dev) == m->dev_minor) ||
	       major(st->st_dev) == 0 || m->dev_major == 0;
}

static bool has_build_id(const struct mapped_files *f, const struct mapped_file *m, int fd)
{
	struct parser_facts facts;

	/* The kernel cuts longer ones. */
	return !parser_identify(f->parser, fd, &facts) && facts.nr_build_id >= m->id.nr_build_id &&
	       memcmp(facts.build_id, m->id.build_id, m->id.nr_build_id) == 0;
}

/* Takes the descriptor over, which may be -errno: the same if it is the file, else -errno. */
static int verified(const struct mapped_files *f, const struct mapped_file *m, int opened)
{
	SCOPED(scoped_close) int fd = opened;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	if (m->id.nr_build_id ? !has_build_id(f, m, fd) : !is_same_inode(m, &st))
		return -ESTALE;
	return TAKE_FD(fd);
}

/* The path of the mapping that begins there, as the kernel shows it: loaders map more at first than they keep. */
static bool find_path(const struct mapped_files *f, const struct mapped_by *by, bool may_be_deleted,
                      struct proc_maps_line *out)
{
	SCOPED(scoped_free) char *text = NULL;
	char path[PROC_FOLDER_MAX];
	struct scan rest;

	(void)snprintf(path, sizeof(path), "%s/%u/maps", f->proc, by->tgid);
	if (broker_read(path, MAPS_BYTES_MAX, &text))
		return false;
	rest = (struct scan){ text, text + strlen(text) };
	while (proc_maps_next(&rest, out))
		if (out->start == by->start)
			return may_be_deleted || !out->is_deleted;
	return false;
}

/*
 * Before 6.8 mappings show what lies below an overlay: there only the mapped path identifies it.
 * The path of a deleted file may be another file's by now.
 */
static bool is_overlay_of(const struct mapped_files *f, const struct mapped_file *m,
                          const struct mapped_by *by, int fd, bool may_be_deleted)
{
	struct proc_maps_line line;
	struct statfs fs;

	if (fstatfs(fd, &fs) || fs.f_type != OVERLAYFS_SUPER_MAGIC)
		return false;
	return find_path(f, by, may_be_deleted, &line) && strcmp(line.path, m->path) == 0;
}

/* What the process has mapped. To follow the link takes CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE. */
static int open_mapped(const struct mapped_files *f, const struct mapped_file *m,
                       const struct mapped_by *by)
{
	SCOPED(scoped_close) int fd = -1;
	char link[PATH_MAX];
	int same;

	(void)snprintf(link, sizeof(link), "%s/%u/map_files/%" PRIx64 "-%" PRIx64, f->proc,
	               by->tgid, by->start, by->end);
	same = verified(f, m, open_file(link, f->how, NULL));
	if (same != -ESTALE || m->id.nr_build_id)
		return same;
	fd = open_file(link, f->how, NULL);
	return fd >= 0 && is_overlay_of(f, m, by, fd, true) ? TAKE_FD(fd) : -ESTALE;
}

/* The path in its root. */
static int open_in_root(const struct mapped_files *f, const struct mapped_file *m,
                        const struct mapped_by *by)
{
	SCOPED(scoped_close) int fd = -1;
	int same = verified(f, m, open_file_in_root(f->proc, by->tgid, m->path, f->how, NULL));

	if (same != -ESTALE || m->id.nr_build_id)
		return same;
	fd = open_file_in_root(f->proc, by->tgid, m->path, f->how, NULL);
	return fd >= 0 && is_overlay_of(f, m, by, fd, false) ? TAKE_FD(fd) : -ESTALE;
}

static int open_any(const struct mapped_files *f, const struct mapped_file *m,
                    const struct mapped_by *by)
{
	char path[PATH_MAX + 64];
	int fd = open_mapped(f, m, by);

	if (fd < 0)
		fd = open_in_root(f, m, by);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "%s/%u/exe", f->proc, by->tgid);
	fd = verified(f, m, open_file(path, f->how, NULL));
	return fd >= 0 ? fd : verified(f, m, open_file(m->path, f->how, NULL));
}

/*
 * Identified by its build id, which is read only when needed, because another process has to do it.
 */
static int open_likely(const struct mapped_files *f, const struct mapped_file *m,
                       const struct mapped_by *by)
{
	char link[PATH_MAX];
	int fd;

	(void)snprintf(link, sizeof(link), "%s/%u/map_files/%" PRIx64 "-%" PRIx64, f->proc,
	               by->tgid, by->start, by->end);
	fd = open_file(link, f->how, NULL);
	return fd >= 0 ? fd : open_file_in_root(f->proc, by->tgid, m->path, f->how, NULL);
}

static void hold(struct mapped_files *f, struct mapped_file *m, const struct mapped_by *by)
{
	struct stat st;

	clock_gettime(CLOCK_REALTIME, &m->changed);
	if (f->nr_open >= MAPPED_FILES_OPEN_MAX || !is_file(m))
		return;
	m->fd = m->id.nr_build_id ? open_likely(f, m, by) : open_any(f, m, by);
	if (m->fd < 0)
		return;
	f->nr_open++;
	if (fstat(m->fd, &st) == 0)
		m->changed = st.st_mtim;
}

/* Written over since: another content in the same inode. A build id, which has been compared, does not mind. */
static bool is_overwritten(const struct mapped_file *m, int fd)
{
	struct stat st;

	if (m->id.nr_build_id)
		return false;
	if (fstat(fd, &st))
		return true;
	return st.st_mtim.tv_sec != m->changed.tv_sec ? st.st_mtim.tv_sec > m->changed.tv_sec
	                                              : st.st_mtim.tv_nsec > m->changed.tv_nsec;
}

/* What is anonymous is all one, wherever it is. */
static bool is_anonymous(const char *path)
{
	return path[0] != '/' || path[1] == '/';
}

static int identify(struct mapped_files *f, const struct symbol_mapping *m, struct mapped_file *out)
{
	char path[PROC_MAPS_PATH_MAX];
	const char *slash;
	int err;

	snprintf(path, sizeof(path), "%s", m->path ? m->path : "");
	proc_maps_undelete(path);
	err = intern_add(f->texts, path, strlen(path), &out->id.path);
	if (err)
		return err;
	out->path = intern_string(f->texts, out->id.path, NULL);
	slash = strrchr(out->path, '/');
	out->name = slash && slash[1] ? slash + 1 : out->path;
	out->fd = -1;
	if (is_anonymous(path))
		return 0;
	out->dev_major = m->dev_major;
	out->dev_minor = m->dev_minor;
	out->id.inode = m->inode;
	out->id.dev = (uint32_t)(m->dev_major << 20) ^ m->dev_minor;
	if (m->nr_build_id <= SYMBOL_BUILD_ID_MAX) {
		out->id.nr_build_id = m->nr_build_id;
		memcpy(out->id.build_id, m->build_id, m->nr_build_id);
	}
	return 0;
}

int mapped_files_add(struct mapped_files *f, const struct symbol_mapping *m, uint32_t tgid,
                     uint32_t *out)
{
	const struct mapped_by by = { .tgid = tgid, .start = m->start, .end = m->end };
	struct mapped_file new = { 0 };
	int err = identify(f, m, &new);

	if (err)
		return err;
	if (map_find(f->by_identity, &new.id, out))
		return 0;
	err = GROW(f->all, f->room, f->nr);
	if (!err)
		err = map_insert(f->by_identity, &new.id, f->nr);
	if (err)
		return err;
	hold(f, &new, &by);
	*out = f->nr;
	f->all[f->nr++] = new;
	return 0;
}

void mapped_files_describe(const struct mapped_files *f, uint32_t file, struct symbol_mapping *out)
{
	const struct mapped_file *m = &f->all[file];

	out->path = m->path;
	out->inode = m->id.inode;
	out->dev_major = m->dev_major;
	out->dev_minor = m->dev_minor;
	out->nr_build_id = (uint8_t)m->id.nr_build_id;
	memcpy(out->build_id, m->id.build_id, sizeof(out->build_id));
}

const char *mapped_files_name(const struct mapped_files *f, uint32_t file)
{
	return f->all[file].name;
}

int mapped_files_open(struct mapped_files *f, uint32_t file, const struct mapped_by *by)
{
	SCOPED(scoped_close) int fd = -1;
	struct mapped_file *m = &f->all[file];
	bool was_held = m->fd >= 0;

	if (!is_file(m) || m->nr_tries >= MAX_TRIES)
		return -ENOENT;
	fd = was_held ? TAKE_FD(m->fd) : open_any(f, m, by);
	f->nr_open -= was_held;
	if (was_held && m->id.nr_build_id && !has_build_id(f, m, fd)) {
		close(fd);
		fd = open_any(f, m, by);
	}
	if (fd < 0 || is_overwritten(m, fd)) {
		m->nr_tries++;
		return fd < 0 ? fd : -ESTALE;
	}
	return TAKE_FD(fd);
}

int mapped_files_lend(struct mapped_files *f, uint32_t file, const struct mapped_by *by)
{
	struct mapped_file *m = &f->all[file];
	int fd = mapped_files_open(f, file, by);

	if (fd < 0 || f->nr_open >= MAPPED_FILES_OPEN_MAX)
		return fd;
	m->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	f->nr_open += m->fd >= 0;
	return fd;
}
