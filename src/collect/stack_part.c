#include "collect/stack_part.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "abi/profile.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "collect/bpf_open.h"
#include "collect/context.h"
#include "collect/events_part.h"
#include "collect/loaded.h"
#include "collect/sample/unwind_maps.h"
#include "sys/code_mask.h"
#include "sys/cpulist.h"
#include "sys/rights/broker.h"

#define SKELETON "stacks.skel.h"
#include "collect/skel.h"

const struct bpf_kind bpf_kind_stacks = { "stacks_bpf", stacks_bpf__elf_bytes,
	                                  BPF_CONTEXT_AT(stacks_bpf) };

/* The clock of a CPU. */
struct cpu_clock {
	uint32_t cpu;
	int fd; /* perf event, until it is tied; then -1 */
	struct bpf_tie tie;
};

struct stack_part {
	const struct bpf_log *log;
	struct stacks_bpf *skel;
	struct loaded *loaded;
	const char *event; /* of EV_SAMPLE_CPU; NULL = not sampled */
	struct perf_event_attr attr;
	struct cpu_clock *clocks;
	size_t nr, cap;
	bool is_attached;
	struct unwind_maps *unwind; /* NULL = by frame pointers */
	struct diag why_fp;         /* though tables were tried */
};

DEFINE_SCOPED(stack_part, stack_part_close)

static void close_clock(struct cpu_clock *c)
{
	bpf_tie_close(&c->tie);
	if (c->fd >= 0)
		close(c->fd);
}

static void close_clocks(struct stack_part *p)
{
	for (size_t i = 0; i < p->nr; i++)
		close_clock(&p->clocks[i]);
	p->nr = 0;
}

/* A CPU that has just gone offline needs none. */
static int open_clock(struct stack_part *p, uint32_t cpu)
{
	int err = GROW(p->clocks, p->cap, p->nr), fd;

	if (err)
		return err;
	fd = broker_perf(&p->attr, cpu, -1);
	if (fd == -ENODEV)
		return 0;
	if (fd < 0)
		return fd;
	p->clocks[p->nr++] = (struct cpu_clock){ .cpu = cpu, .fd = fd, .tie = { -1, -1 } };
	return 0;
}

/* One on each CPU; none stays open on failure. */
static int open_on_each(struct stack_part *p, const struct cpulist *online)
{
	cpulist_for_each(cpu, online)
	{
		int err = open_clock(p, (uint32_t)cpu);

		if (err) {
			close_clocks(p);
			return err;
		}
	}
	return p->nr ? 0 : -ENODEV;
}

static int open_clocks(struct stack_part *p, const struct stack_part_cfg *cfg, struct diag *d)
{
	int err;

	p->attr = (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(p->attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_freq = cfg->frequency,
		.freq = 1,
		.disabled = 1,
		.exclude_hv = 1,
	};
	p->event = "cycles";
	err = open_on_each(p, cfg->online);
	if (err && err != -EACCES && err != -EPERM && err != -EMFILE) {
		p->event = "cpu-clock";
		p->attr.type = PERF_TYPE_SOFTWARE;
		p->attr.config = PERF_COUNT_SW_CPU_CLOCK;
		p->attr.exclude_hv = 0;
		err = open_on_each(p, cfg->online);
	}
	if (err == -EACCES || err == -EPERM)
		return diag_set(d, -EACCES, "run as root, or give the program cap_perfmon",
		                "may not sample whole CPUs");
	if (err == -EMFILE)
		return diag_set(d, err, "raise it with ulimit -n",
		                "too few file descriptors to sample every CPU");
	if (err == -EINVAL)
		return diag_set(d, err, "lower --stack-frequency, or raise that limit",
		                "the kernel does not allow %u samples a second: see "
		                "kernel.perf_event_max_sample_rate",
		                cfg->frequency);
	return err ? diag_set(d, err, NULL, "cannot sample with %s", p->event) : 0;
}

/* Which programs; what they share with the event stream; where tables are kept. */
static int choose(struct stack_part *p, const struct stack_part_cfg *cfg, bool by_tables)
{
	int err = 0;

	p->skel->rodata->cfg = *cfg->ev;
	p->skel->rodata->context_cfg = *cfg->context;
	p->skel->rodata->stacks_cfg.by_tables = by_tables;
	p->skel->rodata->stacks_cfg.pc_mask = code_mask();
	context_choose(p->skel->obj, NULL, NULL); /* the event stream's do it */
	bpf_program__set_autoload(p->skel->progs.on_clock, cfg->events & STACK_BIT(EV_SAMPLE_CPU));
	bpf_program__set_autoload(p->skel->progs.on_sleep,
	                          cfg->events & STACK_BIT(EV_SAMPLE_OFF_CPU));
	bpf_program__set_autoload(p->skel->progs.on_wake, cfg->events & STACK_BIT(EV_SAMPLE_WAKER));
	bpf_program__set_autoload(p->skel->progs.on_fork_unwind, by_tables);
	bpf_program__set_autoload(p->skel->progs.on_exec_unwind, by_tables);
	bpf_program__set_autoload(p->skel->progs.on_free_unwind, by_tables);
	if (by_tables)
		err = bpf_map__set_max_entries(p->skel->maps.unwind_pages, UNWIND_MAPS_PAGES);
	if (!err && by_tables)
		err = bpf_map__set_max_entries(p->skel->maps.unwind_processes,
		                               UNWIND_MAPS_PROCESSES);
	return err ? err : events_part_share(cfg->events_object, p->skel->obj);
}

static void unload(struct stack_part *p)
{
	unwind_maps_free(TAKE_PTR(p->unwind));
	loaded_close(TAKE_PTR(p->loaded));
	stacks_bpf__destroy(TAKE_PTR(p->skel));
}

static int load(struct stack_part *p, const struct stack_part_cfg *cfg, bool by_tables)
{
	int err;

	p->skel = stacks_bpf__open();
	if (!p->skel)
		return -errno;
	err = loaded_new(BPF_STACKS, p->skel->obj, &p->loaded);
	if (!err)
		err = choose(p, cfg, by_tables);
	if (!err)
		err = loaded_load(p->loaded);
	if (!err && by_tables)
		err = unwind_maps_new(bpf_map__fd(p->skel->maps.unwind_pages), UNWIND_MAPS_PAGES,
		                      bpf_map__fd(p->skel->maps.unwind_processes), &p->unwind);
	return err;
}

/* By tables where the kernel takes the programs; what else is wrong is wrong by frame pointers, too. */
static int load_either(struct stack_part *p, const struct stack_part_cfg *cfg, struct diag *d)
{
	bool by_tables = cfg->unwind != STACK_UNWIND_FP;
	int err = load(p, cfg, by_tables);

	if (err && cfg->unwind == STACK_UNWIND_TRY) {
		(void)bpf_load_failed(cfg->log, err, "stacks by tables", &p->why_fp);
		unload(p);
		err = load(p, cfg, false);
	}
	return err ? bpf_load_failed(cfg->log, err, "stacks", d) : 0;
}

int stack_part_open(const struct stack_part_cfg *cfg, struct diag *d, struct stack_part **out)
{
	SCOPED(scoped_stack_part) struct stack_part *p = NULL;
	int err = 0;

	if (!cfg->events)
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	p->log = cfg->log;
	if (cfg->events & STACK_BIT(EV_SAMPLE_CPU))
		err = open_clocks(p, cfg, d);
	if (!err)
		err = load_either(p, cfg, d);
	if (err)
		return err;
	*out = TAKE_PTR(p);
	return 0;
}

struct unwind_maps *stack_part_unwind(const struct stack_part *p)
{
	return p ? p->unwind : NULL;
}

const struct diag *stack_part_why_fp(const struct stack_part *p)
{
	return p ? &p->why_fp : NULL;
}

int stack_part_follow_processes(struct stack_part *p, struct diag *d)
{
	int err;

	if (!p || !p->unwind)
		return 0;
	err = loaded_attach(p->loaded, p->skel->progs.on_fork_unwind);
	if (!err)
		err = loaded_attach(p->loaded, p->skel->progs.on_exec_unwind);
	if (!err)
		err = loaded_attach(p->loaded, p->skel->progs.on_free_unwind);
	return err ? bpf_load_failed(p->log, err, "stacks", d) : 0;
}

const char *stack_part_event(const struct stack_part *p)
{
	return p ? p->event : NULL;
}

/* The descriptor belongs to the tie from then on. */
static int attach_clock(struct stack_part *p, struct cpu_clock *c)
{
	int err = bpf_tie_event(loaded_fd(p->loaded, p->skel->progs.on_clock), c->fd, 0, &c->tie);

	if (!err)
		c->fd = -1;
	return err;
}

int stack_part_attach(struct stack_part *p, struct diag *d)
{
	int err;

	if (!p)
		return 0;
	err = loaded_attach(p->loaded, p->skel->progs.on_sleep);
	if (!err)
		err = loaded_attach(p->loaded, p->skel->progs.on_wake);
	for (size_t i = 0; !err && i < p->nr; i++)
		err = attach_clock(p, &p->clocks[i]);
	p->is_attached = !err;
	return err ? bpf_load_failed(p->log, err, "stacks", d) : 0;
}

/* The event of a CPU that went offline is dead, also when the CPU comes back. */
static void close_gone(struct stack_part *p, const struct cpulist *online)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->nr; i++) {
		if (cpulist_has(online, p->clocks[i].cpu))
			p->clocks[kept++] = p->clocks[i];
		else
			close_clock(&p->clocks[i]);
	}
	p->nr = kept;
}

static bool has_clock(const struct stack_part *p, uint32_t cpu)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->clocks[i].cpu == cpu)
			return true;
	return false;
}

static int add_clock(struct stack_part *p, uint32_t cpu)
{
	size_t before = p->nr;
	int err = open_clock(p, cpu);

	if (!err && p->nr > before)
		err = attach_clock(p, &p->clocks[before]);
	if (err && p->nr > before)
		close_clock(&p->clocks[--p->nr]);
	return err;
}

int stack_part_follow(struct stack_part *p, const struct cpulist *online)
{
	int first = 0;

	if (!p || !p->event || !p->is_attached)
		return 0;
	close_gone(p, online);
	cpulist_for_each(cpu, online)
	{
		int err = has_clock(p, (uint32_t)cpu) ? 0 : add_clock(p, (uint32_t)cpu);

		first = first ? first : err;
	}
	return first;
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
	p->is_attached = false;
	close_clocks(p);
	loaded_detach(p->loaded);
}

uint64_t stack_part_missed(const struct stack_part *p)
{
	return p ? events_part_missed(p->loaded) : 0;
}

void stack_part_close(struct stack_part *p)
{
	if (!p)
		return;
	close_clocks(p);
	unload(p);
	free(p->clocks);
	free(p);
}
