/* Getting out of the kernel what tasks and CPUs have counted. */
#include "collect/stat/stat_collector_priv.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/loaded.h"
#include "collect/percpu.h"
#include "collect/stat/stat_changed.h"

/* One that runs or waits goes on doing so without an event, and is requested again. */
static void note_open(struct stat_collector *c, const struct stat_task *task)
{
	if (!c->open || task->rec.is_last ||
	    !(task->is_running || task->is_waiting || task->has_gap))
		return;
	if (c->nr_open < STAT_CHANGED_MAX)
		c->open[c->nr_open++] = task->id.tid;
	else
		c->must_iterate = true;
}

/* A record must not be trusted to be what it says. */
void stat_collector_hand_on(struct stat_collector *c, const struct stat_rec *rec, size_t len)
{
	int size;

	if (!(rec->kind & STAT_REC_PACKED)) {
		c->fn(c->fn_ctx, rec, len);
		return;
	}
	size = stat_unpack(rec, len, &c->unpacked);
	if (size < 0) {
		c->nr_bad++;
		return;
	}
	if (c->unpacked.rec.kind == STAT_REC_TASK)
		note_open(c, &c->unpacked.task.task);
	c->fn(c->fn_ctx, &c->unpacked.rec, (size_t)size);
}

/* The kernel writes whole records per read. */
static void hand_on(struct stat_collector *c, const uint8_t *buf, size_t len,
                    struct stat_drain *info)
{
	size_t at = 0;

	while (len - at >= sizeof(struct stat_rec)) {
		const struct stat_rec *rec = (const void *)(buf + at);

		if (rec->size < sizeof(*rec) || rec->size > len - at)
			break;
		stat_collector_hand_on(c, rec, rec->size);
		info->nr_tasks += (rec->kind & 0xff) == STAT_REC_TASK;
		at += rec->size;
	}
	c->nr_bad += at != len;
}

static int iterate(struct stat_collector *c, struct stat_drain *info)
{
	SCOPED(scoped_close) int fd = bpf_iter_create(c->drain_link);
	ssize_t n;

	if (fd < 0)
		return -errno;
	for (;;) {
		uint64_t begin = clock_boot_ns();

		n = read(fd, c->buffer, STAT_DRAIN_BUFFER_BYTES);
		info->read_ns += clock_boot_ns() - begin;
		/* The kernel pauses after a million unchanged tasks. */
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			break;
		info->bytes += (uint64_t)n;
		hand_on(c, c->buffer, (size_t)n, info);
	}
	return n < 0 ? -errno : 0;
}

static int read_arrivals(struct stat_collector *c)
{
	__u32 position, nr = c->plan.cfg.nr_cpus;

	if (bpf_map_lookup_batch(bpf_map__fd(c->skel->maps.arrivals), NULL, &position,
	                         c->arrival_cpus, c->arrivals, &nr, NULL) &&
	    errno != ENOENT)
		return -errno;
	return 0;
}

static int read_cpus(struct stat_collector *c)
{
	__u32 zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(c->skel->maps.cpus), &zero, c->cpus))
		return -errno;
	percpu_spread(c->cpus, sizeof(*c->cpus), c->possible, c->nr_possible);
	return c->plan.wants_migrate ? read_arrivals(c) : 0;
}

/* A task that has been on a CPU all the time has no event, and is requested nevertheless. */
static size_t add_running(const struct stat_collector *c, uint32_t *tids)
{
	size_t nr = 0;

	for (uint32_t cpu = 0; cpu < c->plan.cfg.nr_cpus; cpu++)
		if (c->cpus[cpu].since_ns && !c->cpus[cpu].is_idle)
			tids[nr++] = c->cpus[cpu].running_tid;
	return nr;
}

static int ask(struct stat_collector *c, const uint32_t *tids, size_t nr)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	memcpy(c->skel->bss->asked_tids, tids, nr * sizeof(*tids));
	c->skel->bss->nr_asked = (__u32)nr;
	c->skel->bss->nr_unsent = 0;
	if (bpf_prog_test_run_opts(loaded_fd(c->loaded, c->skel->progs.drain_asked), &opts))
		return -errno;
	stat_collector_empty_ring(c);
	c->must_iterate |= c->skel->bss->nr_unsent != 0;
	return 0;
}

/* Returns how many; their list is filled again by the records that come. */
static size_t take_open(struct stat_collector *c, uint32_t *tids)
{
	size_t nr = c->nr_open;

	memcpy(tids, c->open, nr * sizeof(*tids));
	c->nr_open = 0;
	return nr;
}

/* Moves the epoch on, and asks those that have put themselves into its list. */
static int drain_changed(struct stat_collector *c, struct stat_drain *info)
{
	struct stat_changed *lists = c->skel->bss->changed;
	__u32 epoch = c->skel->data->epoch;
	uint64_t begin = clock_boot_ns();
	size_t nr = stat_changed_take(&lists[(epoch + 1) & 1], c->asked);
	bool is_full = stat_changed_is_full(&lists[(epoch + 1) & 1]);
	int err;

	stat_changed_reset(&lists[(epoch + 1) & 1]);
	c->skel->data->epoch = epoch + 1;
	nr += stat_changed_take(&lists[epoch & 1], c->asked + nr);
	err = read_cpus(c);
	nr += add_running(c, c->asked + nr);
	nr += take_open(c, c->asked + nr);
	if (is_full || stat_changed_is_full(&lists[epoch & 1]) || c->must_iterate) {
		c->must_iterate = false;
		return err ? err : iterate(c, info);
	}
	for (size_t at = 0; at < nr && !err; at += STAT_CHANGED_BATCH)
		err = ask(c, c->asked + at,
		          nr - at < STAT_CHANGED_BATCH ? nr - at : STAT_CHANGED_BATCH);
	info->nr_tasks = nr;
	info->read_ns = clock_boot_ns() - begin;
	return err;
}

static int drain_all(struct stat_collector *c, struct stat_drain *info)
{
	int err;

	c->skel->data->epoch++;
	err = iterate(c, info);
	return err ? err : read_cpus(c);
}

int stat_collector_drain(struct stat_collector *c, uint64_t at_ns, stat_record_fn *fn, void *ctx,
                         struct stat_drain *info, struct diag *d)
{
	int err;

	memset(info, 0, sizeof(*info));
	c->fn = fn;
	c->fn_ctx = ctx;
	c->skel->bss->drained_ns = at_ns;
	/* A task that never leaves its CPU has not been charged for its counters yet. */
	if (c->plan.wants_flush)
		stat_collector_run_on_every_cpu(c, c->skel->progs.flush_counters);
	err = c->asked ? drain_changed(c, info) : drain_all(c, info);
	info->took_ns = clock_boot_ns() - at_ns;
	return err ? diag_set(d, err, NULL, "cannot read the statistics from the kernel") : 0;
}
