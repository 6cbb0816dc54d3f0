#include "trace/perfdata/stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"

#define KERNEL     "[kernel.kallsyms]_" /* and the symbol by which it was found where the kernel is */
#define CHAINS_MAX (1U << 26)
#define PATHS_MAX  (1U << 22)
#define PATH_BYTES ((size_t)1 << 30)

struct chain_key {
	uint64_t a, b;
};

int pd_stacks_new(struct perfdata *d)
{
	struct pd_stacks *s = calloc(1, sizeof(*s));

	d->stacks = s;
	if (!s)
		return -ENOMEM;
	s->nr_events = 1;
	s->seed = hash_seed();
	s->paths = intern_new(PATHS_MAX, PATH_BYTES);
	if (!s->paths)
		return -ENOMEM;
	return map_new(sizeof(struct chain_key), CHAINS_MAX, &s->chain_ids);
}

void pd_stacks_free(struct pd_stacks *s)
{
	if (!s)
		return;
	free(s->samples);
	map_free(s->chain_ids);
	free(s->chains);
	free(s->addresses);
	free(s->changes);
	intern_free(s->paths);
	free(s->build_ids);
	free(s);
}

static uint16_t event_of(struct perfdata *d, uint32_t name)
{
	struct pd_stacks *s = d->stacks;

	if (!name)
		return 0;
	for (uint16_t i = 1; i < s->nr_events; i++)
		if (s->events[i] == name)
			return i;
	if (s->nr_events == STACK_EVENTS_MAX)
		return 0;
	s->events[s->nr_events] = name;
	return s->nr_events++;
}

bool pd_chain_context(uint64_t address, int *context)
{
	switch ((int64_t)address) {
	case -128:
		*context = CONTEXT_KERNEL;
		return true;
	case -512:
	case -640: /* of a chain that comes in a record of its own */
		*context = CONTEXT_USER;
		return true;
	default:
		if (address < (uint64_t)-4095)
			return false;
		*context = CONTEXT_OTHER; /* a hypervisor, guests */
		return true;
	}
}

static bool make_room(struct perfdata *d, struct pd_stacks *s, uint32_t nr)
{
	while (s->nr_addresses + nr > s->cap_addresses)
		if (!grow_counted(d->r, &s->addresses, s->cap_addresses, &s->cap_addresses,
		                  sizeof(*s->addresses)))
			return false;
	return grow_counted(d->r, &s->chains, s->nr_chains, &s->cap_chains, sizeof(*s->chains));
}

/* PD_NONE for none, or without memory. */
static uint32_t chain_of(struct perfdata *d, struct pd_chain chain)
{
	struct pd_stacks *s = d->stacks;
	const size_t bytes = (size_t)chain.nr * sizeof(uint64_t);
	const struct chain_key key = { hash_bytes(chain.bytes, bytes, s->seed),
		                       hash_bytes(chain.bytes, bytes, ~s->seed) };
	struct pd_raw_chain *c;
	uint32_t at;
	int context = CONTEXT_NONE;

	if (!chain.nr)
		return PD_NONE;
	if (map_find(s->chain_ids, &key, &at))
		return at;
	if (!make_room(d, s, chain.nr) ||
	    map_insert(s->chain_ids, &key, (uint32_t)s->nr_chains) < 0) {
		pd_fail(d, -ENOMEM);
		return PD_NONE;
	}
	c = &s->chains[s->nr_chains];
	*c = (struct pd_raw_chain){ .first = s->nr_addresses, .nr = chain.nr };
	for (uint32_t i = 0; i < chain.nr; i++) {
		uint64_t address = pd_u64(d, chain.bytes + 8 * (size_t)i);

		s->addresses[s->nr_addresses++] = address;
		c->has_user |= !pd_chain_context(address, &context) && context != CONTEXT_KERNEL &&
		               address >> 63 == 0;
	}
	return (uint32_t)s->nr_chains++;
}

void pd_stacks_sample(struct perfdata *d, const struct pd_attr *a,
                      const struct trace_sample *sample, uint32_t pid, struct pd_chain chain)
{
	struct pd_stacks *s = d->stacks;
	uint32_t nr = chain_of(d, chain);

	if (d->err || s->nr_samples >= PD_NONE)
		return;
	if (!grow_counted(d->r, &s->samples, s->nr_samples, &s->cap_samples, sizeof(*s->samples))) {
		pd_fail(d, -ENOMEM);
		return;
	}
	s->samples[s->nr_samples] = (struct pd_raw_sample){
		.s = *sample, .order = (uint32_t)s->nr_samples, .pid = pid, .chain = nr
	};
	s->samples[s->nr_samples++].s.event = event_of(d, a->name);
}

static void add_change(struct perfdata *d, const struct pd_change *change)
{
	struct pd_stacks *s = d->stacks;

	if (s->nr_changes >= PD_NONE)
		return;
	if (!grow_counted(d->r, &s->changes, s->nr_changes, &s->cap_changes, sizeof(*s->changes))) {
		pd_fail(d, -ENOMEM);
		return;
	}
	s->changes[s->nr_changes] = *change;
	s->changes[s->nr_changes].order = (uint32_t)s->nr_changes;
	s->nr_changes++;
}

void pd_stacks_fork(struct perfdata *d, uint64_t ts_ns, uint32_t parent, uint32_t child)
{
	add_change(d,
	           &(struct pd_change){
			   .ts_ns = ts_ns, .kind = CHANGE_FORK, .pid = child, .parent = parent });
}

void pd_stacks_exec(struct perfdata *d, uint64_t ts_ns, uint32_t pid)
{
	add_change(d, &(struct pd_change){ .ts_ns = ts_ns, .kind = CHANGE_EXEC, .pid = pid });
}

/* pid, tid, start, length, offset; then MMAP2 has the file's numbers or its build id, and protection and flags. */
void pd_mmap(struct perfdata *d, const struct pd_record *rec)
{
	enum {
		PATH_OF_MMAP = 40,
		BUILD_ID_LEN = 40,
		BUILD_ID = 44,
		PATH_OF_MMAP2 = 72,
		MISC_DATA = 1 << 13,
		MISC_BUILD_ID = 1 << 14
	};
	uint32_t end, path = rec->type == PD_MMAP ? PATH_OF_MMAP : PATH_OF_MMAP2;
	struct pd_when when = pd_when_of(d, rec, &end);
	const char *s = (const char *)rec->bytes + path;
	struct pd_change change = { .ts_ns = when.ts_ns, .kind = CHANGE_MAP };
	uint64_t len;

	if (end <= path) {
		pd_damage(d, DAMAGE_PERF_BAD);
		return;
	}
	change.pid = pd_u32(d, rec->bytes + 8);
	change.start = pd_u64(d, rec->bytes + 16);
	len = pd_u64(d, rec->bytes + 24);
	change.offset = pd_u64(d, rec->bytes + 32);
	if (rec->misc & MISC_DATA || !len) /* no code */
		return;
	change.end = len > UINT64_MAX - change.start ? UINT64_MAX : change.start + len;
	if (intern_add(d->stacks->paths, s, strnlen(s, end - path), &change.path) < 0)
		change.path = 0;
	if (rec->type == PD_MMAP2 && rec->misc & MISC_BUILD_ID)
		pd_build_id_set(d, change.path, rec->bytes + BUILD_ID, rec->bytes[BUILD_ID_LEN]);
	if (change.pid == PD_NONE && strncmp(s, KERNEL, sizeof(KERNEL) - 1) == 0)
		d->r->info.kernel_text = change.offset;
	add_change(d, &change);
}

void pd_ksymbol(struct perfdata *d, const struct pd_record *rec)
{
	enum { NAME = 24, UNREGISTER = 1 };
	uint32_t end;
	const char *s = (const char *)rec->bytes + NAME;

	(void)pd_when_of(d, rec, &end);
	if (end <= NAME) {
		pd_damage(d, DAMAGE_PERF_BAD);
		return;
	}
	if (!(pd_u16(d, rec->bytes + 22) & UNREGISTER))
		pd_fail(d, pd_symbol_add(d, pd_u64(d, rec->bytes + 8), pd_u32(d, rec->bytes + 16),
		                         s, strnlen(s, end - NAME)));
}
