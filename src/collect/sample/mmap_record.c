#include "collect/sample/mmap_record.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

/* The kernel's layouts, as linux/perf_event.h describes them in comments. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time;
};

struct mmap2_head {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	/* the path */
};

struct comm_head {
	struct perf_event_header header;
	uint32_t pid, tid;
	/* the name */
};

struct life_record {
	struct perf_event_header header;
	uint32_t pid, ppid;
	uint32_t tid, ptid;
	uint64_t time;
};

struct lost {
	struct perf_event_header header;
	uint64_t id, nr;
};

/*
 * PERF_RECORD_MISC_MMAP_BUILD_ID, which would mean another layout, is ignored here: we do not
 * request it, but kernels (6.18 among them) leak the flag from other listeners' records.
 */
static int parse_mmap(const uint8_t *at, size_t len, struct mmap_report *out)
{
	const char *path = (const char *)at + sizeof(struct mmap2_head);
	struct mmap2_head m;

	if (len < sizeof(m))
		return -EINVAL;
	memcpy(&m, at, sizeof(m));
	if (!memchr(path, '\0', len - sizeof(m)) || m.addr + m.len < m.addr)
		return -EINVAL;
	out->what = MMAP_MAPPED;
	out->tgid = m.pid;
	out->start = m.addr;
	out->end = m.addr + m.len;
	out->offset = m.pgoff;
	out->path = path;
	out->dev_major = m.maj;
	out->dev_minor = m.min;
	out->inode = m.ino;
	return 1;
}

/* Other names than those of exec mean nothing for mappings. */
static int parse_comm(const uint8_t *at, size_t len, struct mmap_report *out)
{
	struct comm_head c;

	if (len < sizeof(c))
		return -EINVAL;
	memcpy(&c, at, sizeof(c));
	if (!(c.header.misc & PERF_RECORD_MISC_COMM_EXEC))
		return 0;
	out->what = MMAP_EXEC;
	out->tgid = c.pid;
	return 1;
}

static int parse_life(const uint8_t *at, size_t len, struct mmap_report *out)
{
	struct life_record l;

	if (len < sizeof(l))
		return -EINVAL;
	memcpy(&l, at, sizeof(l));
	out->tgid = l.pid;
	if (l.header.type == PERF_RECORD_FORK) {
		out->what = MMAP_FORK;
		out->parent_tgid = l.ppid;
		return l.pid != l.ppid; /* else a thread */
	}
	out->what = MMAP_EXIT;
	return l.pid == l.tid;
}

int mmap_record_parse(const void *record, size_t len, struct mmap_report *out)
{
	const uint8_t *at = record;
	struct perf_event_header head;
	struct trailer end;

	if (len < sizeof(head) + sizeof(end))
		return -EINVAL;
	memcpy(&head, at, sizeof(head));
	if (head.size != len)
		return -EINVAL;
	len -= sizeof(end);
	memcpy(&end, at + len, sizeof(end));
	memset(out, 0, sizeof(*out));
	out->ts_ns = end.time;
	switch (head.type) {
	case PERF_RECORD_MMAP2:
		return parse_mmap(at, len, out);
	case PERF_RECORD_COMM:
		return parse_comm(at, len, out);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return parse_life(at, len, out);
	default:
		return 0;
	}
}

uint64_t mmap_record_lost(const void *record, size_t len)
{
	struct lost l;

	if (len < sizeof(l))
		return 0;
	memcpy(&l, record, sizeof(l));
	return l.header.type == PERF_RECORD_LOST ? l.nr : 0;
}
