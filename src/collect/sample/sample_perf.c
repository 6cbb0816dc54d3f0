#include "collect/sample/sample_perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/text.h"
#include "collect/sample/perf_ring.h"
#include "sys/rights/broker.h"

#define GENERIC_CONFIG_MASK 0xffffffffULL /* above it: the PMU of a generic event */
#define MAX_RATE            "/proc/sys/kernel/perf_event_max_sample_rate"

struct perf_part {
	int fd;
	uint32_t cpu;
	const struct pmu_event *event;
	struct perf_ring ring; /* of throttling; maybe not mapped */
};

struct sample_perf {
	struct sample_perf_cfg cfg;
	struct perf_part *parts;
	uint32_t nr, cap;
	struct perf_event_attr *attrs; /* of each event, as the kernel took it; size 0 = never yet */
	uint32_t nr_skipped;
	uint64_t throttled;
	struct sample_perf_counts counts;
	bool is_enabled;
	bool is_ended; /* the events are closed */
};

DEFINE_SCOPED(sample_perf, sample_perf_close)

/*
 * Some PMUs cannot leave the hypervisor out, and kernels before 5.13 (arm: 6.6) do not take the PMU in a generic
 * event's config, but find it by the CPU.
 */
static int open_event(struct perf_event_attr *attr, uint32_t cpu)
{
	bool is_generic = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
	int fd = broker_perf(attr, cpu, -1);

	if (fd == -EINVAL || fd == -EOPNOTSUPP) {
		attr->exclude_hv = 0;
		fd = broker_perf(attr, cpu, -1);
	}
	if ((fd == -EINVAL || fd == -EOPNOTSUPP || fd == -ENOENT) && is_generic &&
	    attr->config > GENERIC_CONFIG_MASK) {
		attr->config &= GENERIC_CONFIG_MASK;
		fd = broker_perf(attr, cpu, -1);
	}
	return fd;
}

static uint64_t max_rate(void)
{
	SCOPED(scoped_free) char *text = NULL;
	uint64_t rate = 0;

	if (text_read_file(MAX_RATE, 64, &text))
		return 0;
	text_chomp(text);
	return text_to_u64(text, &rate) ? rate : 0;
}

static int no_rights(const struct pmu_event *ev, int err, struct diag *d)
{
	return diag_set(d, -EACCES,
	                "run as root, give the program cap_perfmon, or: sysctl "
	                "kernel.perf_event_paranoid=0",
	                "may not sample '%s' on whole CPUs (%s)", ev->name, strerror(-err));
}

static int no_event(const struct pmu_event *ev, struct diag *d)
{
	if (ev->pmu[0])
		return diag_set(d, -ENOTSUP, "cpu-clock works everywhere",
		                "the PMU '%s' cannot sample '%s'", ev->pmu, ev->name);
	return diag_set(d, -ENOTSUP, "cpu-clock works everywhere", "this kernel cannot sample '%s'",
	                ev->name);
}

static int refused(const struct sample_perf_cfg *cfg, const struct pmu_event *ev, uint32_t cpu,
                   int err, struct diag *d)
{
	char hint[96];

	if (err == -EACCES || err == -EPERM)
		return no_rights(ev, err, d);
	if (err == -EMFILE)
		return diag_set(d, err, "raise it with ulimit -n",
		                "too few file descriptors for '%s' on each CPU", ev->name);
	if (err == -EINVAL && cfg->frequency > max_rate()) {
		(void)snprintf(hint, sizeof(hint),
		               "sysctl kernel.perf_event_max_sample_rate is %llu",
		               (unsigned long long)max_rate());
		return diag_set(d, err, hint,
		                "%llu samples per second are more than this kernel allows",
		                (unsigned long long)cfg->frequency);
	}
	if (err == -ENOENT || err == -EOPNOTSUPP)
		return no_event(ev, d);
	return diag_set(d, err, NULL, "cannot sample '%s' on CPU %u", ev->name, cpu);
}

static int attach(struct perf_part *part, const struct sample_perf_cfg *cfg,
                  const struct pmu_event *ev, struct diag *d)
{
	int err;

	if (cfg->prog_fd < 0) {
		err = perf_ring_map(&part->ring, part->fd, cfg->ring_bytes);
		return err ? diag_set(d, err, "raise kernel.perf_event_mlock_kb, or run as root",
		                      "no memory for perf's rings")
		           : 0;
	}
	if (perf_ring_map(&part->ring, part->fd, (size_t)sysconf(_SC_PAGESIZE)))
		part->ring = (struct perf_ring){ 0 };
	if (ioctl(part->fd, PERF_EVENT_IOC_SET_BPF, cfg->prog_fd) < 0)
		return diag_set(d, -errno, "run as root; see 'schedscope doctor'",
		                "the kernel refused to run a program on each '%s'", ev->name);
	return 0;
}

static void ask_for_addresses(struct perf_event_attr *attr, size_t ring_bytes)
{
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_user = 1;
	attr->sample_max_stack = SAMPLE_PERF_DEPTH;
	attr->watermark = 1; /* nothing waits for them */
	attr->wakeup_watermark = (uint32_t)ring_bytes;
}

static void close_part(struct perf_part *part)
{
	perf_ring_unmap(&part->ring);
	close(part->fd);
}

/* Opens it on one CPU, or counts that as skipped. */
static int open_cpu(struct sample_perf *p, const struct pmu_event *ev, uint32_t cpu, struct diag *d)
{
	const struct sample_perf_cfg *cfg = &p->cfg;
	struct perf_event_attr attr = {
		.type = ev->type,
		.size = sizeof(attr),
		.config = ev->config,
		.config1 = ev->config1,
		.config2 = ev->config2,
		.sample_period = cfg->period,
		.disabled = 1,
		.exclude_hv = 1,
	};
	struct perf_event_attr *known = &p->attrs[ev - cfg->events->items];
	struct perf_part part = { .cpu = cpu, .event = ev };
	int err = GROW(p->parts, p->cap, p->nr);

	if (err)
		return diag_set(d, err, NULL, "out of memory");
	if (cfg->frequency) {
		attr.freq = 1;
		attr.sample_freq = cfg->frequency;
	}
	if (cfg->prog_fd < 0)
		ask_for_addresses(&attr, cfg->ring_bytes);
	if (known->size)
		attr = *known;
	part.fd = open_event(&attr, cpu);
	if (part.fd == -ENODEV || part.fd == -ENXIO) {
		p->nr_skipped++;
		return 0;
	}
	if (part.fd < 0)
		return refused(cfg, ev, cpu, part.fd, d);
	*known = attr;
	err = attach(&part, cfg, ev, d);
	if (!err && p->is_enabled && ioctl(part.fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		err = diag_set(d, -errno, NULL, "cannot switch '%s' on", ev->name);
	if (err)
		close_part(&part);
	else
		p->parts[p->nr++] = part;
	return err;
}

static bool is_asked_for(const struct sample_perf_cfg *cfg, const struct pmu_event *ev,
                         uint32_t cpu)
{
	if (cfg->cpu != UINT32_MAX && cfg->cpu != cpu)
		return false;
	return !ev->cpus.nr || cpulist_has(&ev->cpus, cpu);
}

static bool is_open(const struct sample_perf *p, const struct pmu_event *ev, uint32_t cpu)
{
	for (uint32_t i = 0; i < p->nr; i++)
		if (p->parts[i].cpu == cpu && p->parts[i].event == ev)
			return true;
	return false;
}

static int open_one(struct sample_perf *p, const struct pmu_event *ev, const struct cpulist *online,
                    struct diag *d)
{
	int first = 0;

	cpulist_for_each(cpu, online)
	{
		int err = 0;

		if (is_asked_for(&p->cfg, ev, (uint32_t)cpu) && !is_open(p, ev, (uint32_t)cpu))
			err = open_cpu(p, ev, (uint32_t)cpu, first ? NULL : d);
		if (err && !p->is_enabled)
			return err;
		p->nr_skipped += err != 0;
		first = first ? first : err;
	}
	return first;
}

int sample_perf_open(const struct sample_perf_cfg *cfg, struct diag *d, struct sample_perf **out)
{
	SCOPED(scoped_sample_perf) struct sample_perf *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	p->cfg = *cfg;
	p->cfg.online = NULL;
	p->attrs = calloc(cfg->events->nr ? cfg->events->nr : 1, sizeof(*p->attrs));
	if (!p->attrs)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	for (size_t i = 0; i < cfg->events->nr; i++) {
		err = open_one(p, &cfg->events->items[i], cfg->online, d);
		if (err)
			return err;
	}
	if (!p->nr)
		return diag_set(d, -ENODEV, "see /sys/devices/system/cpu/online",
		                "none of the CPUs that were asked for is online");
	*out = TAKE_PTR(p);
	return 0;
}

int sample_perf_enable(struct sample_perf *p)
{
	int err = 0;

	for (uint32_t i = 0; i < p->nr; i++)
		if (ioctl(p->parts[i].fd, PERF_EVENT_IOC_ENABLE, 0) < 0 && !err)
			err = -errno;
	p->is_enabled = true;
	return err;
}

/* The events of a CPU that went offline are dead, also when it comes back. */
static void close_gone(struct sample_perf *p, const struct cpulist *online)
{
	uint32_t kept = 0;

	(void)sample_perf_throttled(p);
	for (uint32_t i = 0; i < p->nr; i++) {
		if (cpulist_has(online, p->parts[i].cpu))
			p->parts[kept++] = p->parts[i];
		else
			close_part(&p->parts[i]);
	}
	p->nr = kept;
}

int sample_perf_follow(struct sample_perf *p, const struct cpulist *online, struct diag *d)
{
	int err = 0;

	if (p->is_ended)
		return 0;
	close_gone(p, online);
	p->nr_skipped = 0;
	for (size_t i = 0; i < p->cfg.events->nr; i++) {
		int one = open_one(p, &p->cfg.events->items[i], online, err ? NULL : d);

		err = err ? err : one;
	}
	return err;
}

uint32_t sample_perf_nr(const struct sample_perf *p)
{
	return p->nr;
}

uint32_t sample_perf_nr_skipped(const struct sample_perf *p)
{
	return p->nr_skipped;
}

uint64_t sample_perf_throttled(struct sample_perf *p)
{
	const struct perf_event_header *record;
	bool is_bad;

	for (uint32_t i = 0; !p->is_ended && i < p->nr; i++) {
		struct perf_ring *r = &p->parts[i].ring;

		perf_ring_update(r);
		while ((record = perf_ring_peek(r, &is_bad))) {
			p->throttled += record->type == PERF_RECORD_THROTTLE;
			perf_ring_skip(r, record);
		}
		perf_ring_release(r);
	}
	return p->throttled;
}

/* What is marked as the beginning of kernel or user addresses is none. */
static void emit_sample(const struct perf_event_header *record, sample_perf_fn *fn, void *ctx)
{
	const uint64_t *words = (const uint64_t *)(record + 1);
	size_t nr_words = (record->size - sizeof(*record)) / sizeof(*words), nr;
	uint64_t callers[SAMPLE_PERF_DEPTH + 4];
	struct sample_perf_address sample = { .callers = callers };
	bool has_leaf = false;

	if (nr_words < 2)
		return;
	sample.address = words[0];
	nr = words[1] < nr_words - 2 ? (size_t)words[1] : nr_words - 2;
	for (size_t i = 0; i < nr && sample.nr_callers < SAMPLE_PERF_DEPTH; i++) {
		if (words[2 + i] >= (uint64_t)PERF_CONTEXT_MAX)
			continue;
		if (has_leaf)
			callers[sample.nr_callers++] = words[2 + i];
		has_leaf = true;
	}
	fn(ctx, &sample);
}

static void read_ring(struct sample_perf *p, struct perf_ring *r, sample_perf_fn *fn, void *ctx)
{
	const struct perf_event_header *record;
	bool is_bad;

	perf_ring_update(r);
	while ((record = perf_ring_peek(r, &is_bad))) {
		if (record->type == PERF_RECORD_SAMPLE) {
			p->counts.samples++;
			emit_sample(record, fn, ctx);
		} else if (record->type == PERF_RECORD_LOST &&
		           record->size >= sizeof(*record) + 2 * sizeof(uint64_t)) {
			p->counts.lost += ((const uint64_t *)(record + 1))[1];
		}
		p->throttled += record->type == PERF_RECORD_THROTTLE;
		perf_ring_skip(r, record);
	}
	p->counts.lost += is_bad;
	perf_ring_release(r);
}

void sample_perf_read(struct sample_perf *p, sample_perf_fn *fn, void *ctx,
                      struct sample_perf_counts *out)
{
	for (uint32_t i = 0; !p->is_ended && i < p->nr; i++)
		read_ring(p, &p->parts[i].ring, fn, ctx);
	*out = p->counts;
}

void sample_perf_end(struct sample_perf *p)
{
	if (p->is_ended)
		return;
	for (uint32_t i = 0; i < p->nr; i++)
		(void)ioctl(p->parts[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	(void)sample_perf_throttled(p);
	p->is_ended = true;
	for (uint32_t i = 0; i < p->nr; i++)
		close_part(&p->parts[i]);
}

void sample_perf_close(struct sample_perf *p)
{
	if (!p)
		return;
	sample_perf_end(p);
	free(p->attrs);
	free(p->parts);
	free(p);
}
