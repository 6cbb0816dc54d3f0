#include "machine/machine_usage.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static struct machine_count find_pair(const struct sys_pairs *pairs, const char *name)
{
	for (size_t i = 0; i < pairs->nr; i++)
		if (strcmp(pairs->items[i].name, name) == 0)
			return (struct machine_count){ true, pairs->items[i].value };
	return (struct machine_count){ 0 };
}

static double advance(struct machine_count *before, struct machine_count now, double seconds)
{
	double rate = NAN;

	if (before->is_known && now.is_known && seconds > 0)
		rate = (double)(now.value > before->value ? now.value - before->value : 0) /
		       seconds;
	*before = now;
	return rate;
}

/* The kernel adds it up when it pleases. */
static double pressure_of(struct machine_count *before, const struct sys_stats *now,
                          const char *name, double seconds)
{
	double part = advance(before, find_pair(&now->pressure, name), seconds * 1e9);

	return part > 1 ? 1 : part;
}

static void take_sizes(struct machine_memory *m, const struct sys_stats *now)
{
	struct machine_count found;

#define X(member, name)                        \
	found = find_pair(&now->memory, name); \
	m->member##_kib = found.is_known ? found.value : MACHINE_NO_KIB;
	MACHINE_MEMORY_LIST(X)
#undef X
}

static void take_paging(struct machine_memory *m, struct machine_memory_before *b,
                        const struct sys_stats *now, double seconds)
{
	double faults = advance(&b->minor_faults_per_s, find_pair(&now->paging, "pgfault"),
	                        seconds);

	m->major_faults_per_s = advance(&b->major_faults_per_s,
	                                find_pair(&now->paging, "pgmajfault"), seconds);
	m->minor_faults_per_s = faults - m->major_faults_per_s;
	m->swap_in_per_s = advance(&b->swap_in_per_s, find_pair(&now->paging, "pswpin"), seconds);
	m->swap_out_per_s = advance(&b->swap_out_per_s, find_pair(&now->paging, "pswpout"),
	                            seconds);
}

static void take_pressure(struct machine_memory *m, struct machine_memory_before *b,
                          const struct sys_stats *now, double seconds)
{
	m->cpu_some = pressure_of(&b->cpu_some, now, "cpu.some", seconds);
	m->memory_some = pressure_of(&b->memory_some, now, "memory.some", seconds);
	m->memory_full = pressure_of(&b->memory_full, now, "memory.full", seconds);
	m->io_some = pressure_of(&b->io_some, now, "io.some", seconds);
	m->io_full = pressure_of(&b->io_full, now, "io.full", seconds);
}

static double used_of(uint64_t whole, uint64_t left)
{
	if (!whole || whole == MACHINE_NO_KIB || left == MACHINE_NO_KIB)
		return NAN;
	return left < whole ? (double)(whole - left) / (double)whole : 0;
}

static int remember(struct machine_past *p, double value, struct machine_history *out)
{
	int err = machine_past_add(p, value);

	*out = machine_past_show(p);
	return err;
}

#define REMEMBER(member) err = err ? err : remember(&u->pasts.member, m->member, &m->past.member);
#define FORGET(member)   machine_past_done(&u->pasts.member), u->memory.past.member = none;

static int remember_memory(struct machine_usage *u)
{
	struct machine_memory *m = &u->memory;
	int err = remember(&u->pasts.used, used_of(m->total_kib, m->available_kib), &m->past.used);

	err = err ? err
	          : remember(&u->pasts.swap_used, used_of(m->swap_total_kib, m->swap_free_kib),
	                     &m->past.swap_used);
	MACHINE_PAGING_LIST(REMEMBER)
	return err;
}

static int remember_pressure(struct machine_usage *u)
{
	struct machine_memory *m = &u->memory;
	int err = 0;

	MACHINE_PRESSURE_LIST(REMEMBER)
	return err;
}

static void forget_memory(struct machine_usage *u)
{
	const struct machine_history none = { 0 };

	FORGET(used)
	FORGET(swap_used)
	MACHINE_PAGING_LIST(FORGET)
}

static void forget_pressure(struct machine_usage *u)
{
	const struct machine_history none = { 0 };

	MACHINE_PRESSURE_LIST(FORGET)
}

static double net_rate(bool is_known, uint64_t from, uint64_t to, double seconds)
{
	return is_known && seconds > 0 ? (double)(to > from ? to - from : 0) / seconds : NAN;
}

static void take_net(const struct sys_net *n, const struct sys_net *b, double seconds,
                     struct machine_net *out)
{
	static const struct sys_net none;
	const struct sys_net *from = b ? b : &none;

	*out = (struct machine_net){
		.name = n->name,
		.rx_bytes_per_s = net_rate(b, from->rx_bytes, n->rx_bytes, seconds),
		.tx_bytes_per_s = net_rate(b, from->tx_bytes, n->tx_bytes, seconds),
		.rx_packets_per_s = net_rate(b, from->rx_packets, n->rx_packets, seconds),
		.tx_packets_per_s = net_rate(b, from->tx_packets, n->tx_packets, seconds),
		.errors_per_s = net_rate(b, from->rx_errors + from->tx_errors,
		                         n->rx_errors + n->tx_errors, seconds),
		.drops_per_s = net_rate(b, from->rx_drops + from->tx_drops,
		                        n->rx_drops + n->tx_drops, seconds),
		.rx_bytes = n->rx_bytes,
		.tx_bytes = n->tx_bytes,
	};
}

static int remember_net(struct machine_net_before *b, struct machine_net *n)
{
	int err = remember(&b->rx, n->rx_bytes_per_s, &n->rx_history);

	err = err ? err : remember(&b->tx, n->tx_bytes_per_s, &n->tx_history);
	err = err ? err : remember(&b->rx_packets, n->rx_packets_per_s, &n->rx_packets_history);
	return err ? err : remember(&b->tx_packets, n->tx_packets_per_s, &n->tx_packets_history);
}

static void forget_net(struct machine_net_before *b)
{
	machine_past_done(&b->rx);
	machine_past_done(&b->tx);
	machine_past_done(&b->rx_packets);
	machine_past_done(&b->tx_packets);
}

/* Where its place is now; interfaces that come or go move the others, which keep what they were. */
static bool find_before(struct machine_usage *u, size_t nr_before, size_t at, const char *name)
{
	for (size_t i = at; i < nr_before; i++) {
		struct machine_net_before swapped = u->nets_before[i];

		if (strcmp(swapped.counts.name, name) != 0)
			continue;
		u->nets_before[i] = u->nets_before[at];
		u->nets_before[at] = swapped;
		return true;
	}
	return false;
}

static int take_nets(struct machine_usage *u, const struct sys_stats *now, double seconds)
{
	size_t nr_before = u->nr_nets;
	int err = 0;

	for (size_t i = 0; i < now->nr_nets && !err; i++) {
		const struct sys_net *n = &now->nets[i];
		struct machine_net_before *b = &u->nets_before[i];
		bool is_known = find_before(u, nr_before, i, n->name);

		/* Another one had this place: it goes to the end, or is gone. */
		if (!is_known && i < nr_before && nr_before < SYS_NETS_MAX)
			u->nets_before[nr_before++] = *b;
		else if (!is_known && i < nr_before)
			forget_net(b);
		if (!is_known)
			*b = (struct machine_net_before){ 0 };
		if (!is_known && i >= nr_before)
			nr_before = i + 1;
		take_net(n, is_known ? &b->counts : NULL, seconds, &u->nets[i]);
		b->counts = *n;
		err = remember_net(b, &u->nets[i]);
	}
	for (size_t i = now->nr_nets; i < nr_before; i++)
		forget_net(&u->nets_before[i]);
	u->nr_nets = now->nr_nets;
	return err;
}

static void forget_nets(struct machine_usage *u)
{
	for (size_t i = 0; i < u->nr_nets; i++) {
		forget_net(&u->nets_before[i]);
		u->nets[i].rx_history = u->nets[i].tx_history = (struct machine_history){ 0 };
		u->nets[i].rx_packets_history = u->nets[i].tx_packets_history =
			(struct machine_history){ 0 };
	}
}

static double seconds_since(uint64_t *before, uint64_t now)
{
	double seconds = *before && now > *before ? (double)(now - *before) / 1e9 : 0;

	*before = now;
	return seconds;
}

static int take_memory(struct machine_usage *u, const struct sys_stats *now, double seconds)
{
	take_sizes(&u->memory, now);
	take_paging(&u->memory, &u->before, now, seconds);
	return remember_memory(u);
}

int machine_usage_take(struct machine_usage *u, const struct sys_stats *now, uint32_t parts,
                       uint64_t now_ns)
{
	int err = 0;

	if (parts & SYS_PART_MEMORY)
		err = take_memory(u, now, seconds_since(&u->memory_ns, now_ns));
	else
		forget_memory(u);
	if (parts & SYS_PART_PRESSURE) {
		take_pressure(&u->memory, &u->before, now, seconds_since(&u->pressure_ns, now_ns));
		err = err ? err : remember_pressure(u);
	} else {
		forget_pressure(u);
	}
	if (parts & SYS_PART_NETS)
		return err ? err : take_nets(u, now, seconds_since(&u->nets_ns, now_ns));
	forget_nets(u);
	return err;
}

void machine_usage_done(struct machine_usage *u)
{
	forget_memory(u);
	forget_pressure(u);
	forget_nets(u);
	*u = (struct machine_usage){ 0 };
}
