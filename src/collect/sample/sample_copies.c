#include "collect/sample/sample_copies.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "abi/profile.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/map.h"
#include "collect/sample/copy_record.h"
#include "collect/sample/perf_ring.h"
#include "collect/sample/sample_stacks.h"
#include "sys/rights/broker.h"
#include "sys/stack_copy.h"

#define ALL_BYTES    ((size_t)64 << 20)
#define MOST_BYTES   ((size_t)16 << 20) /* of a ring: a quarter of a second at 999 Hz */
#define LEAST_BYTES  ((size_t)256 << 10)
#define SELDOM_ALL   ((size_t)16 << 20)
#define SELDOM_BYTES ((size_t)2 << 20)
#define NUMBERS_MAX  (1U << 20) /* copies whose row has not come: tasks that are asleep */
#define STACKS_MAX   (256U << 10)
#define NO_STACK     UINT32_MAX /* of a thread of the kernel */

struct copy_ring {
	int fd;
	uint32_t cpu;
	struct perf_ring ring;
};

struct sample_copies {
	struct sample_copies_cfg cfg;
	struct copy_ring *rings;
	uint32_t nr, room;
	size_t ring_bytes;
	uint64_t seed;
	struct map *known;   /* hash of the addresses -> number of the stack */
	struct map *numbers; /* of copies -> number of the stack */
};

static int open_event(uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period = 1,
		.watermark = 1, /* nothing waits for them */
		.wakeup_watermark = MOST_BYTES,
	};

	copy_record_attr(&attr);
	return broker_perf(&attr, cpu, -1);
}

static int refused(int err, struct diag *d)
{
	if (err == -EACCES || err == -EPERM)
		return diag_set(d, -EACCES,
		                "run 'schedscope profile' as root, or use --unwind table",
		                "may not copy the stacks of processes");
	return diag_set(d, err, "use --unwind table or fp",
	                "this kernel does not copy user stacks");
}

/* As large as is allowed. */
static int map_ring(struct sample_copies *c, struct copy_ring *r)
{
	int err = -ENOMEM;

	for (size_t bytes = c->ring_bytes; err && bytes >= LEAST_BYTES; bytes /= 2)
		err = perf_ring_map(&r->ring, r->fd, bytes);
	return err;
}

static void close_ring(struct copy_ring *r)
{
	perf_ring_unmap(&r->ring);
	close(r->fd);
}

static int add_cpu(struct sample_copies *c, uint32_t cpu, struct diag *d)
{
	struct copy_ring r = { .cpu = cpu };
	int err = GROW(c->rings, c->room, c->nr);

	if (err)
		return diag_set(d, err, NULL, "out of memory");
	r.fd = open_event(cpu);
	if (r.fd == -ENODEV || r.fd == -ENXIO)
		return 0;
	if (r.fd < 0)
		return refused(r.fd, d);
	err = map_ring(c, &r);
	if (err)
		diag_set(d, err, "raise kernel.perf_event_mlock_kb, or run as root",
		         "no memory for perf's ring of CPU %u", cpu);
	else if (bpf_map_update_elem(c->cfg.map_fd, &cpu, &r.fd, BPF_ANY) ||
	         ioctl(r.fd, PERF_EVENT_IOC_ENABLE, 0))
		err = refused(-errno, d);
	if (err)
		close_ring(&r);
	else
		c->rings[c->nr++] = r;
	return err;
}

static size_t bytes_for(uint32_t nr_cpus, bool is_seldom)
{
	size_t bytes = is_seldom ? SELDOM_BYTES : MOST_BYTES;
	size_t all = is_seldom ? SELDOM_ALL : ALL_BYTES;

	while (bytes > 2 * LEAST_BYTES && bytes * nr_cpus > all)
		bytes /= 2;
	return bytes;
}

int sample_copies_open(const struct sample_copies_cfg *cfg, struct diag *d,
                       struct sample_copies **out)
{
	SCOPED(scoped_sample_copies) struct sample_copies *c = calloc(1, sizeof(*c));

	if (!c || map_new(sizeof(uint64_t), STACKS_MAX, &c->known) ||
	    map_new(sizeof(uint64_t), NUMBERS_MAX, &c->numbers))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	c->cfg = *cfg;
	c->cfg.online = NULL;
	c->seed = hash_seed();
	c->ring_bytes = bytes_for((uint32_t)cfg->online->nr, cfg->is_seldom);
	cpulist_for_each(cpu, cfg->online)
	{
		int err = add_cpu(c, (uint32_t)cpu, d);

		if (err)
			return err;
	}
	*out = TAKE_PTR(c);
	return 0;
}

void sample_copies_close(struct sample_copies *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->nr; i++)
		close_ring(&c->rings[i]);
	free(c->rings);
	map_free(c->known);
	map_free(c->numbers);
	free(c);
}

static bool has_ring(const struct sample_copies *c, uint32_t cpu)
{
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->rings[i].cpu == cpu)
			return true;
	return false;
}

void sample_copies_follow(struct sample_copies *c, const struct cpulist *online)
{
	uint32_t kept = 0;

	/* The event of a CPU that went offline is dead, also when the CPU comes back. */
	for (uint32_t i = 0; i < c->nr; i++) {
		if (cpulist_has(online, c->rings[i].cpu))
			c->rings[kept++] = c->rings[i];
		else
			close_ring(&c->rings[i]);
	}
	c->nr = kept;
	cpulist_for_each(cpu, online)
	{
		if (!has_ring(c, (uint32_t)cpu))
			(void)!add_cpu(c, (uint32_t)cpu, NULL);
	}
}

/* The number of a stack; -E2BIG when there is no room for another. */
static int keep_stack(struct sample_copies *c, const struct prof_stack *stack, uint32_t *out)
{
	uint64_t hash = hash_bytes(stack->ips, stack->nr * sizeof(stack->ips[0]),
	                           c->seed + stack->end);
	int err;

	*out = map_nr(c->known);
	if (map_find(c->known, &hash, out))
		return 0;
	err = sample_stacks_add(c->cfg.stacks, (uint64_t)*out + 1, stack);
	return err ? err : map_insert(c->known, &hash, *out);
}

static int take_record(struct sample_copies *c, const struct perf_event_header *record)
{
	struct prof_stack stack = { 0 }, walked;
	struct stack_copy copy;
	struct prof_copy note;
	uint32_t number = NO_STACK;
	int err = copy_record_parse(record, record->size, &note, &walked, &copy);

	if (err < 0)
		return 0; /* its row finds no stack, and is counted as lost */
	if (err == 1) {
		err = c->cfg.walker.walk(c->cfg.walker.ctx, &copy, &stack);
		if (!err)
			err = keep_stack(c, &stack, &number);
	}
	if (!err)
		err = map_insert(c->numbers, &note.number, number);
	return err == -E2BIG ? 0 : err;
}

static int take_ring(struct sample_copies *c, struct perf_ring *r)
{
	const struct perf_event_header *record;
	bool is_bad;
	int err = 0;

	while (!err && (record = perf_ring_peek(r, &is_bad))) {
		err = take_record(c, record);
		perf_ring_skip(r, record);
		perf_ring_release(r); /* at once: it is large */
	}
	return err;
}

int sample_copies_take(struct sample_copies *c)
{
	bool has_any = false;
	int err;

	for (uint32_t i = 0; i < c->nr; i++) {
		perf_ring_update(&c->rings[i].ring);
		has_any |= c->rings[i].ring.until != c->rings[i].ring.at;
	}
	if (!has_any)
		return 0;
	err = c->cfg.walker.prepare(c->cfg.walker.ctx);
	for (uint32_t i = 0; !err && i < c->nr; i++)
		err = take_ring(c, &c->rings[i].ring);
	return err;
}

int sample_copies_find(struct sample_copies *c, uint64_t number, uint64_t *hash)
{
	uint32_t at;

	if (!map_find(c->numbers, &number, &at))
		return -ENOENT;
	map_remove(c->numbers, &number);
	*hash = at == NO_STACK ? 0 : (uint64_t)at + 1;
	return 0;
}
