#include "sys/pmu/perf_counter.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/rights/broker.h"

#define GENERIC_CONFIG_MASK 0xffffffffULL /* above it: the PMU of a generic event */

struct perf_counter {
	int *fds; /* by CPU; -1 = not counted there */
	uint32_t nr_fds;
	size_t nr;
	size_t nr_skipped;
	struct perf_event_attr attr; /* as the kernel took it last */
};

/* The CPU and the thread. */
struct counter_place {
	uint32_t cpu;
	int pid; /* -1 = whatever runs there */
	int group_fd;
};

static int sys_open(struct perf_event_attr *attr, const struct counter_place *at)
{
	return at->pid < 0 ? broker_perf(attr, at->cpu, at->group_fd)
	                   : broker_perf_of(attr, at->pid, at->cpu, at->group_fd);
}

/* To the hard limit; with CAP_SYS_RESOURCE beyond it. Many CPUs times several counters exceed 1024. */
static int raise_nofile(void)
{
	struct rlimit limit, higher;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	higher = limit;
	if (limit.rlim_cur < limit.rlim_max) {
		higher.rlim_cur = limit.rlim_max;
	} else {
		higher.rlim_cur = limit.rlim_cur * 2;
		higher.rlim_max = higher.rlim_cur;
	}
	return setrlimit(RLIMIT_NOFILE, &higher) < 0 ? -EMFILE : 0;
}

static int open_raising(struct perf_event_attr *attr, const struct counter_place *at)
{
	int fd = sys_open(attr, at);

	while (fd == -EMFILE && !raise_nofile())
		fd = sys_open(attr, at);
	return fd;
}

static bool is_refusal(int err)
{
	return err == -EINVAL || err == -EOPNOTSUPP;
}

static bool names_its_pmu(const struct perf_event_attr *attr)
{
	bool is_generic = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;

	return is_generic && attr->config > GENERIC_CONFIG_MASK;
}

/*
 * Not every PMU can leave out idle (arm) or the hypervisor, and kernels before 5.13 (arm: 6.6) do not
 * take the PMU in a generic event's config, but find it by the CPU. What worked is kept in attr for the
 * next CPU.
 */
static int open_relaxing(struct perf_event_attr *attr, const struct counter_place *at)
{
	struct perf_event_attr a = *attr;
	int fd = open_raising(&a, at);

	if (is_refusal(fd) && a.exclude_idle) {
		a.exclude_idle = 0;
		fd = open_raising(&a, at);
	}
	if (is_refusal(fd) && a.exclude_hv) {
		a.exclude_hv = 0;
		fd = open_raising(&a, at);
	}
	if ((fd == -ENOENT || is_refusal(fd)) && names_its_pmu(&a)) {
		a = *attr;
		a.config &= GENERIC_CONFIG_MASK;
		fd = open_relaxing(&a, at);
	}
	if (fd >= 0)
		*attr = a;
	return fd;
}

static int refused(const struct pmu_event *ev, int err, struct diag *d)
{
	SCOPED(scoped_free) char *level = NULL;
	char hint[256];

	if (text_read_file("/proc/sys/kernel/perf_event_paranoid", 64, &level) == 0)
		text_chomp(level);
	snprintf(hint, sizeof(hint),
	         "run as root, give the program cap_perfmon, or: sysctl kernel.perf_event_paranoid=0 "
	         "(now %s)",
	         level ? level : "unknown");
	return diag_set(d, -EACCES, hint, "may not count '%s' on whole CPUs (%s)", ev->name,
	                strerror(-err));
}

static int open_failed(const struct pmu_event *ev, uint32_t cpu, int err, struct diag *d)
{
	if (err == -EACCES || err == -EPERM)
		return refused(ev, err, d);
	if (err == -EMFILE)
		return diag_set(d, err, "raise it with ulimit -n",
		                "too few file descriptors for '%s'", ev->name);
	if (err == -ESRCH)
		return diag_set(d, err, NULL, "the thread to count '%s' for has exited", ev->name);
	if (err != -ENOENT && err != -EOPNOTSUPP)
		return diag_set(d, err, NULL, "cannot count '%s' on CPU %u", ev->name, cpu);
	if (ev->pmu[0])
		return diag_set(d, -ENOTSUP,
		                "schedscope stat --perf-list shows what can be counted",
		                "the PMU '%s' does not count '%s'", ev->pmu, ev->name);
	return diag_set(d, -ENOTSUP, "software events such as context-switches work everywhere",
	                "cannot count '%s': no hardware counters on this machine (common in virtual "
	                "machines)",
	                ev->name);
}

static void attr_init(struct perf_event_attr *attr, const struct pmu_event *ev,
                      enum perf_counter_mode mode)
{
	*attr = (struct perf_event_attr){
		.type = ev->type,
		.size = sizeof(*attr),
		.config = ev->config,
		.config1 = ev->config1,
		.config2 = ev->config2,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.exclude_user = mode == PERF_COUNT_KERNEL,
		.exclude_kernel = mode == PERF_COUNT_USER,
		.exclude_hv = 1,
		.exclude_idle = 1,
	};
}

/* Opens on one CPU, or counts it as skipped. */
static int open_cpu(struct perf_counter *c, const struct perf_counter_cfg *cfg, uint32_t cpu,
                    struct diag *d)
{
	int leader = cfg->leader ? perf_counter_fd(cfg->leader, cpu) : -1;
	struct counter_place at = { cpu, cfg->tid ? (int)cfg->tid : -1, leader };
	int fd;

	if (cfg->event->cpus.nr && !cpulist_has(&cfg->event->cpus, cpu))
		return 0;
	if (cfg->leader && leader < 0) {
		c->nr_skipped++;
		return 0;
	}
	fd = open_relaxing(&c->attr, &at);
	if (fd == -ENODEV || fd == -ENXIO) {
		c->nr_skipped++;
		return 0;
	}
	if (fd < 0)
		return open_failed(cfg->event, cpu, fd, d);
	c->fds[cpu] = fd;
	c->nr++;
	return 0;
}

/* A place for each CPU up to the last one of the list. */
static int make_room(struct perf_counter *c, const struct cpulist *online)
{
	uint32_t nr_fds = (uint32_t)(cpulist_last(online) + 1);
	int *fds = nr_fds > c->nr_fds ? reallocarray(c->fds, nr_fds, sizeof(*fds)) : c->fds;

	if (!fds)
		return nr_fds ? -ENOMEM : 0;
	c->fds = fds;
	for (; c->nr_fds < nr_fds; c->nr_fds++)
		c->fds[c->nr_fds] = -1;
	return 0;
}

int perf_counter_open(const struct perf_counter_cfg *cfg, struct diag *d, struct perf_counter **out)
{
	SCOPED(scoped_perf_counter) struct perf_counter *c = calloc(1, sizeof(*c));
	const struct cpulist *online = cfg->online;

	if (!c || make_room(c, online))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	attr_init(&c->attr, cfg->event, cfg->mode);
	c->attr.disabled = !cfg->leader;
	c->attr.inherit = c->attr.inherit_thread = cfg->tid != 0;
	for (int cpu = cpulist_next(online, 0); cpu >= 0;
	     cpu = cpulist_next(online, (uint32_t)cpu + 1)) {
		int err = open_cpu(c, cfg, (uint32_t)cpu, d);

		if (err)
			return err;
	}
	if (!c->nr)
		return diag_set(d, -ENODEV, NULL, "no online CPU counts '%s'", cfg->event->name);
	*out = TAKE_PTR(c);
	return 0;
}

static void close_gone(struct perf_counter *c, const struct cpulist *online)
{
	for (uint32_t cpu = 0; cpu < c->nr_fds; cpu++) {
		if (c->fds[cpu] < 0 || cpulist_has(online, cpu))
			continue;
		close(c->fds[cpu]);
		c->fds[cpu] = -1;
		c->nr--;
	}
}

int perf_counter_follow(struct perf_counter *c, const struct perf_counter_cfg *cfg, struct diag *d)
{
	int first = 0;

	if (make_room(c, cfg->online))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	close_gone(c, cfg->online);
	c->nr_skipped = 0;
	cpulist_for_each(cpu, cfg->online)
	{
		int err = 0;

		if (c->fds[cpu] < 0)
			err = open_cpu(c, cfg, (uint32_t)cpu, first ? NULL : d);
		/* Members count while their leader does. */
		if (!err && !cfg->leader && c->fds[cpu] >= 0 &&
		    ioctl(c->fds[cpu], PERF_EVENT_IOC_ENABLE, 0) < 0)
			err = -errno;
		c->nr_skipped += err != 0;
		first = first ? first : err;
	}
	return first;
}

void perf_counter_close(struct perf_counter *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->nr_fds; i++)
		if (c->fds[i] >= 0)
			close(c->fds[i]);
	free(c->fds);
	free(c);
}

int perf_counter_fd(const struct perf_counter *c, uint32_t cpu)
{
	return cpu < c->nr_fds ? c->fds[cpu] : -1;
}

size_t perf_counter_nr(const struct perf_counter *c)
{
	return c->nr;
}

size_t perf_counter_nr_skipped(const struct perf_counter *c)
{
	return c->nr_skipped;
}

static int control(const struct perf_counter *c, unsigned long request)
{
	int err = 0;

	for (uint32_t i = 0; i < c->nr_fds; i++)
		if (c->fds[i] >= 0 && ioctl(c->fds[i], request, PERF_IOC_FLAG_GROUP) < 0 && !err)
			err = -errno;
	return err;
}

int perf_counter_enable(const struct perf_counter *c)
{
	int err = control(c, PERF_EVENT_IOC_RESET);

	return err ? err : control(c, PERF_EVENT_IOC_ENABLE);
}

int perf_counter_read(const struct perf_counter *c, uint32_t cpu, struct perf_count *out)
{
	struct perf_count count;
	int fd = perf_counter_fd(c, cpu);
	ssize_t nr;

	if (fd < 0)
		return -ENODEV;
	nr = read(fd, &count, sizeof(count));
	if (nr < 0)
		return -errno;
	if (nr != (ssize_t)sizeof(count))
		return -EIO; /* end of file: the kernel could not schedule a pinned group */
	*out = count;
	return 0;
}

bool perf_count_scaled(const struct perf_count *c, double *out)
{
	if (!c->running_ns)
		return false;
	if (c->running_ns >= c->enabled_ns)
		*out = (double)c->value;
	else
		*out = (double)c->value * ((double)c->enabled_ns / (double)c->running_ns);
	return true;
}

bool perf_counter_can_open(void *ctx, const struct pmu_event *event)
{
	struct perf_event_attr attr;
	int cpu = cpulist_next(&event->cpus, 0);
	struct counter_place at = { cpu < 0 ? 0 : (uint32_t)cpu, -1, -1 };
	int fd;

	(void)ctx;
	attr_init(&attr, event, PERF_COUNT_ALL);
	fd = open_relaxing(&attr, &at);
	if (fd >= 0)
		close(fd);
	/* A refusal says nothing about the event, and an offline CPU neither. */
	return fd >= 0 || fd == -EACCES || fd == -EPERM || fd == -ENODEV || fd == -ENXIO;
}
