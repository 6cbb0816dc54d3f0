#include "symbol/jit_maps.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "symbol/open_file.h"
#include "symbol/parser.h"
#include "sys/rights/broker.h"

#define STATUS_BYTES_MAX ((size_t)65536)

struct jit_map {
	bool is_used;
	struct jit_process p;
	uint64_t asked; /* a counter */
	uint64_t read_ns;
	off_t size;           /* of the file that the table was read from */
	struct symtab *table; /* NULL = there was none */
};

struct jit_maps {
	const char *proc;
	struct parser *parser;
	struct jit_map all[JIT_MAPS_MAX];
	uint64_t nr_asked;
};

struct jit_maps *jit_maps_new(const char *proc, struct parser *parser)
{
	struct jit_maps *j = calloc(1, sizeof(*j));

	if (j)
		*j = (struct jit_maps){ .proc = proc, .parser = parser };
	return j;
}

void jit_maps_free(struct jit_maps *j)
{
	if (!j)
		return;
	for (uint32_t i = 0; i < JIT_MAPS_MAX; i++)
		symtab_free(j->all[i].table);
	free(j);
}

static struct jit_map *find_map(struct jit_maps *j, const struct jit_process *p)
{
	for (uint32_t i = 0; i < JIT_MAPS_MAX; i++) {
		struct jit_map *m = &j->all[i];

		if (m->is_used && m->p.tgid == p->tgid && m->p.life == p->life)
			return m;
	}
	return NULL;
}

static struct jit_map *map_of(struct jit_maps *j, const struct jit_process *p)
{
	struct jit_map *oldest = &j->all[0], *found = find_map(j, p);

	if (found)
		return found;
	for (uint32_t i = 0; i < JIT_MAPS_MAX; i++) {
		struct jit_map *m = &j->all[i];

		if (oldest->is_used && (!m->is_used || m->asked < oldest->asked))
			oldest = m;
	}
	symtab_free(oldest->table);
	*oldest = (struct jit_map){ .is_used = true, .p = *p };
	return oldest;
}

/* A process's user, and its pid in its own namespace. */
static bool read_status(const struct jit_maps *j, uint32_t tgid, unsigned int *uid,
                        unsigned int *own_tgid)
{
	SCOPED(scoped_free) char *text = NULL;
	char path[PATH_MAX];
	const char *line;

	snprintf(path, sizeof(path), "%s/%u/status", j->proc, tgid);
	if (broker_read(path, STATUS_BYTES_MAX, &text))
		return false;
	line = strstr(text, "\nUid:");
	if (!line || sscanf(line, "\nUid: %*u %u", uid) != 1)
		return false;
	*own_tgid = tgid;
	line = strstr(text, "\nNSpid:");
	if (line) {
		const char *end = strchrnul(line + 1, '\n');

		while (end > line && end[-1] >= '0' && end[-1] <= '9')
			end--;
		if (sscanf(end, "%u", own_tgid) != 1)
			*own_tgid = tgid;
	}
	return true;
}

static int open_map(const struct jit_maps *j, const struct jit_process *p, struct stat *st)
{
	SCOPED(scoped_close) int fd = -1;
	unsigned int uid = p->uid, own_tgid = p->tgid;
	char path[64];
	bool is_alive = read_status(j, p->tgid, &uid, &own_tgid);

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", is_alive ? own_tgid : p->tgid);
	/* Everyone may write to /tmp: a link there could lead to any file that we may read. */
	fd = is_alive ? open_file_in_root(j->proc, p->tgid, path, OPEN_NO_LINK, st)
	              : open_file(path, OPEN_NO_LINK | OPEN_OWN_RIGHTS, st);
	if (fd < 0)
		return fd;
	if (st->st_uid != 0 && st->st_uid != uid)
		return -EPERM;
	return TAKE_FD(fd);
}

static void read_map(struct jit_maps *j, struct jit_map *m)
{
	SCOPED(scoped_close) int fd = -1;
	struct symtab *table = NULL;
	struct stat st = { 0 };

	m->read_ns = clock_boot_ns();
	fd = open_map(j, &m->p, &st);
	if (fd < 0 || st.st_size == m->size)
		return;
	m->size = st.st_size; /* one that cannot be read is not read again before it has grown */
	if (parser_perf_map(j->parser, fd, &table))
		return;
	symtab_free(m->table);
	m->table = table;
}

static bool is_due(const struct jit_map *m)
{
	return !m->read_ns || clock_boot_ns() - m->read_ns >= JIT_MAPS_PAUSE_NS;
}

bool jit_maps_find(struct jit_maps *j, const struct jit_process *p, uint64_t address,
                   struct symtab_hit *out)
{
	struct jit_map *m = map_of(j, p);

	m->asked = ++j->nr_asked;
	if (!m->read_ns)
		read_map(j, m);
	if (m->table && symtab_find(m->table, address, out))
		return true;
	/* It may have been compiled since. */
	if (!is_due(m))
		return false;
	read_map(j, m);
	return m->table && symtab_find(m->table, address, out);
}

void jit_maps_leave(struct jit_maps *j, const struct jit_process *p)
{
	struct jit_map *m = find_map(j, p);

	if (m)
		read_map(j, m);
}
