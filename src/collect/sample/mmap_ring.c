#include "collect/sample/mmap_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/map.h"
#include "collect/sample/mmap_record.h"
#include "collect/sample/perf_ring.h"
#include "sys/rights/broker.h"

#define RING_BYTES  ((size_t)128 * 1024)
#define MAX_WANTED  65536 /* children of the wanted process at a time */
#define PAGES_BYTES 65536 /* no architecture has larger pages */

_Static_assert(RING_BYTES % PAGES_BYTES == 0, "whole pages, whatever their size");

/* A CPU's ring, and the next report in it. */
struct mmap_source {
	int fd;
	uint32_t cpu;
	bool is_gone; /* its CPU has: what is in the ring is still read */
	struct perf_ring ring;
	struct mmap_report next;
	const struct perf_event_header *record; /* of next; NULL = none */
};

struct mmap_ring {
	struct mmap_source *sources;
	uint32_t nr, cap;
	int epoll_fd;
	uint64_t lost;
	struct map *wanted; /* tgids; NULL = all */
};

static int open_event(uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_BOOTTIME,
		.watermark = 1,
		.wakeup_watermark = RING_BYTES / 2,
	};

	return broker_perf(&attr, cpu, -1);
}

static int refused(int err, uint32_t cpu, struct diag *d)
{
	if (err == -EACCES || err == -EPERM)
		return diag_set(d, -EACCES,
		                "run as root, give the program cap_perfmon, or: sysctl "
		                "kernel.perf_event_paranoid=0",
		                "may not watch which files processes map");
	if (err == -EMFILE)
		return diag_set(d, err, "raise it with ulimit -n",
		                "too few file descriptors for one per CPU");
	return diag_set(d, err, NULL, "cannot watch which files processes map on CPU %u", cpu);
}

static void close_source(struct mmap_source *s)
{
	perf_ring_unmap(&s->ring);
	close(s->fd);
}

/* On a CPU that went offline meanwhile nothing is mapped. */
static int add_cpu(struct mmap_ring *m, uint32_t cpu, struct diag *d)
{
	struct mmap_source s = { .cpu = cpu };
	struct epoll_event ev = { .events = EPOLLIN };
	int err = GROW(m->sources, m->cap, m->nr);

	if (err)
		return diag_set(d, err, NULL, "out of memory");
	s.fd = open_event(cpu);
	if (s.fd == -ENODEV || s.fd == -ENXIO)
		return 0;
	if (s.fd < 0)
		return refused(s.fd, cpu, d);
	err = perf_ring_map(&s.ring, s.fd, RING_BYTES);
	if (err)
		diag_set(d, err, "raise kernel.perf_event_mlock_kb, or run as root",
		         "no memory for perf's ring of CPU %u", cpu);
	else if (epoll_ctl(m->epoll_fd, EPOLL_CTL_ADD, s.fd, &ev))
		err = diag_set(d, -errno, NULL, "cannot wait for perf's rings");
	if (err)
		close_source(&s);
	else
		m->sources[m->nr++] = s;
	return err;
}

static int want(struct mmap_ring *m, uint32_t tgid)
{
	int err = map_insert(m->wanted, &tgid, 0);

	return err == -E2BIG ? 0 : err; /* too many children: the last ones are not followed */
}

static int set_up(struct mmap_ring *m, uint32_t tgid)
{
	int err;

	m->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (m->epoll_fd < 0)
		return -errno;
	if (!tgid)
		return 0;
	err = map_new(sizeof(tgid), MAX_WANTED, &m->wanted);
	return err ? err : want(m, tgid);
}

int mmap_ring_open(const struct cpulist *online, uint32_t tgid, struct diag *d,
                   struct mmap_ring **out)
{
	SCOPED(scoped_mmap_ring) struct mmap_ring *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	m->epoll_fd = -1;
	err = set_up(m, tgid);
	if (err)
		return diag_set(d, err, NULL, "cannot set up perf's rings");
	cpulist_for_each(cpu, online)
	{
		err = add_cpu(m, (uint32_t)cpu, d);
		if (err)
			return err;
	}
	if (!m->nr)
		return diag_set(d, -ENODEV, NULL, "no CPU is online");
	*out = TAKE_PTR(m);
	return 0;
}

static bool is_watched(const struct mmap_ring *m, uint32_t cpu)
{
	for (uint32_t i = 0; i < m->nr; i++)
		if (m->sources[i].cpu == cpu && !m->sources[i].is_gone)
			return true;
	return false;
}

int mmap_ring_follow(struct mmap_ring *m, const struct cpulist *online, struct diag *d)
{
	int first = 0;

	/* The event of a CPU that went offline is dead, also when the CPU comes back. */
	for (uint32_t i = 0; i < m->nr; i++)
		m->sources[i].is_gone |= !cpulist_has(online, m->sources[i].cpu);
	cpulist_for_each(cpu, online)
	{
		int err = is_watched(m, (uint32_t)cpu)
		                  ? 0
		                  : add_cpu(m, (uint32_t)cpu, first ? NULL : d);

		first = first ? first : err;
	}
	return first;
}

/* Advances to the next report in the ring, if there is one. */
static void advance(struct mmap_ring *m, struct mmap_source *s)
{
	const struct perf_event_header *record;
	bool is_bad;

	for (;;) {
		record = perf_ring_peek(&s->ring, &is_bad);
		m->lost += is_bad;
		if (!record)
			break;
		if (mmap_record_parse(record, record->size, &s->next) == 1)
			break;
		m->lost += mmap_record_lost(record, record->size);
		perf_ring_skip(&s->ring, record);
	}
	s->record = record;
}

static struct mmap_source *earliest(struct mmap_ring *m, uint64_t until_ns)
{
	struct mmap_source *first = NULL;

	for (uint32_t i = 0; i < m->nr; i++) {
		struct mmap_source *s = &m->sources[i];

		if (s->record && s->next.ts_ns <= until_ns &&
		    (!first || s->next.ts_ns < first->next.ts_ns))
			first = s;
	}
	return first;
}

/* Whether the process is a requested one; children are added, exited ones removed. */
static int judge(struct mmap_ring *m, const struct mmap_report *r, bool *is_wanted)
{
	uint32_t unused;
	int err = 0;

	*is_wanted = true;
	if (!m->wanted)
		return 0;
	if (r->what == MMAP_FORK && map_find(m->wanted, &r->parent_tgid, &unused))
		err = want(m, r->tgid);
	*is_wanted = map_find(m->wanted, &r->tgid, &unused);
	if (r->what == MMAP_EXIT)
		map_remove(m->wanted, &r->tgid);
	return err;
}

static int hand_on(struct mmap_ring *m, mmap_report_fn *report, void *ctx, uint64_t until_ns)
{
	struct mmap_source *s;
	int err = 0;

	while (!err && (s = earliest(m, until_ns))) {
		bool is_wanted;

		err = judge(m, &s->next, &is_wanted);
		if (!err && is_wanted)
			err = report(ctx, &s->next);
		perf_ring_skip(&s->ring, s->record);
		advance(m, s);
	}
	return err;
}

static void drop_gone(struct mmap_ring *m)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->nr; i++) {
		if (m->sources[i].is_gone && !m->sources[i].record)
			close_source(&m->sources[i]);
		else
			m->sources[kept++] = m->sources[i];
	}
	m->nr = kept;
}

/*
 * The clock is read before the rings: of two reports of one process, the earlier one was written completely before the
 * later one's time, whichever CPU it came from. So if the later one is taken, the earlier one is there too.
 */
int mmap_ring_take(struct mmap_ring *m, mmap_report_fn *report, void *ctx)
{
	uint64_t until_ns = clock_boot_ns();
	int err;

	for (uint32_t i = 0; i < m->nr; i++)
		perf_ring_update(&m->sources[i].ring);
	for (uint32_t i = 0; i < m->nr; i++)
		advance(m, &m->sources[i]);
	err = hand_on(m, report, ctx, until_ns);
	for (uint32_t i = 0; i < m->nr; i++)
		perf_ring_release(&m->sources[i].ring);
	drop_gone(m);
	return err;
}

int mmap_ring_poll_fd(const struct mmap_ring *m)
{
	return m->epoll_fd;
}

uint64_t mmap_ring_lost(const struct mmap_ring *m)
{
	return m->lost;
}

void mmap_ring_close(struct mmap_ring *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->nr; i++)
		close_source(&m->sources[i]);
	if (m->epoll_fd >= 0)
		close(m->epoll_fd);
	map_free(m->wanted);
	free(m->sources);
	free(m);
}
