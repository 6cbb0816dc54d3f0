#include "collect/stack_part.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collect/bpf_open.h"
#include "collect/events_part.h"
#include "collect/stacks_skel.h"
#include "sys/cpulist.h"

struct stack_part {
	const struct bpf_talk *talk;
	struct stacks_bpf *skel;
	const char *event; /* of EV_SAMPLE_CPU; NULL = not sampled */
	int *fds;          /* perf events, until they belong to links */
	struct bpf_link **links;
	size_t nr;
};

static void scoped_part(struct stack_part *const *p)
{
	stack_part_close(*p);
}

static int open_event(struct perf_event_attr *attr, uint32_t cpu)
{
	long fd = syscall(SYS_perf_event_open, attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static void close_events(struct stack_part *p)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->fds[i] >= 0)
			close(p->fds[i]);
	p->nr = 0;
}

/* One on each CPU; none stays open on failure. A CPU that has just gone offline needs none. */
static int open_events(struct stack_part *p, const struct stack_part_cfg *cfg,
                       struct perf_event_attr *attr)
{
	cpulist_for_each(cpu, cfg->online)
	{
		int fd = open_event(attr, (uint32_t)cpu);

		if (fd == -ENODEV)
			continue;
		if (fd < 0) {
			close_events(p);
			return fd;
		}
		p->fds[p->nr++] = fd;
	}
	return p->nr ? 0 : -ENODEV;
}

static int open_clocks(struct stack_part *p, const struct stack_part_cfg *cfg, struct diag *d)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_freq = cfg->frequency,
		.freq = 1,
		.disabled = 1,
		.exclude_hv = 1,
	};
	int err;

	p->fds = calloc(cfg->online->nr + 1, sizeof(*p->fds));
	p->links = calloc(cfg->online->nr + 1, sizeof(struct bpf_link *));
	if (!p->fds || !p->links)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	p->event = "cycles";
	err = open_events(p, cfg, &attr);
	if (err && err != -EACCES && err != -EPERM && err != -EMFILE) {
		p->event = "cpu-clock";
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_CPU_CLOCK;
		attr.exclude_hv = 0;
		err = open_events(p, cfg, &attr);
	}
	if (err == -EACCES || err == -EPERM)
		return diag_set(d, -EACCES, "run as root, or give the program cap_perfmon",
		                "may not sample whole CPUs");
	if (err == -EMFILE)
		return diag_set(d, err, "raise it with ulimit -n",
		                "too few file descriptors to sample every CPU");
	if (err == -EINVAL)
		return diag_set(d, err, "lower --stack-frequency, or raise that limit",
		                "the kernel does not sample %u times a second: see "
		                "kernel.perf_event_max_sample_rate",
		                cfg->frequency);
	return err ? diag_set(d, err, NULL, "cannot sample with %s", p->event) : 0;
}

static int load(struct stack_part *p, const struct stack_part_cfg *cfg)
{
	int err;

	p->skel = stacks_bpf__open();
	if (!p->skel)
		return -errno;
	p->skel->rodata->cfg = *cfg->ev;
	bpf_program__set_autoload(p->skel->progs.on_clock, cfg->events & STACK_BIT(EV_SAMPLE_CPU));
	bpf_program__set_autoload(p->skel->progs.on_sleep,
	                          cfg->events & STACK_BIT(EV_SAMPLE_OFF_CPU));
	bpf_program__set_autoload(p->skel->progs.on_wake, cfg->events & STACK_BIT(EV_SAMPLE_WAKER));
	err = events_part_share(cfg->events_object, p->skel->obj);
	return err ? err : stacks_bpf__load(p->skel);
}

int stack_part_open(const struct stack_part_cfg *cfg, struct diag *d, struct stack_part **out)
{
	SCOPED(scoped_part) struct stack_part *p = NULL;
	int err = 0;

	if (!cfg->events)
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	p->talk = cfg->talk;
	if (cfg->events & STACK_BIT(EV_SAMPLE_CPU))
		err = open_clocks(p, cfg, d);
	if (err)
		return err;
	err = load(p, cfg);
	if (err)
		return bpf_load_failed(cfg->talk, err, "stacks", d);
	*out = TAKE_PTR(p);
	return 0;
}

const char *stack_part_event(const struct stack_part *p)
{
	return p ? p->event : NULL;
}

static int attach_tracepoint(const struct bpf_program *prog, struct bpf_link **link)
{
	if (!bpf_program__autoload(prog))
		return 0;
	*link = bpf_program__attach(prog);
	return *link ? 0 : -errno;
}

/* The link owns the descriptor from then on. */
static int attach_clock(struct stack_part *p, size_t i)
{
	p->links[i] = bpf_program__attach_perf_event(p->skel->progs.on_clock, p->fds[i]);
	if (!p->links[i])
		return -errno;
	p->fds[i] = -1;
	return 0;
}

int stack_part_attach(struct stack_part *p, struct diag *d)
{
	int err;

	if (!p)
		return 0;
	err = attach_tracepoint(p->skel->progs.on_sleep, &p->skel->links.on_sleep);
	if (!err)
		err = attach_tracepoint(p->skel->progs.on_wake, &p->skel->links.on_wake);
	for (size_t i = 0; !err && i < p->nr; i++)
		err = attach_clock(p, i);
	return err ? bpf_load_failed(p->talk, err, "stacks", d) : 0;
}

void stack_part_listen(struct stack_part *p, bool is_open)
{
	if (p)
		__atomic_store_n(&p->skel->bss->is_open, is_open, __ATOMIC_RELEASE);
}

void stack_part_detach(struct stack_part *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nr; i++) {
		bpf_link__destroy(p->links[i]);
		p->links[i] = NULL;
	}
	stacks_bpf__detach(p->skel);
}

uint64_t stack_part_missed(const struct stack_part *p)
{
	return p ? events_part_missed(p->skel->obj) : 0;
}

void stack_part_close(struct stack_part *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nr; i++)
		bpf_link__destroy(p->links[i]);
	close_events(p);
	stacks_bpf__destroy(p->skel);
	free(p->links);
	free(p->fds);
	free(p);
}
