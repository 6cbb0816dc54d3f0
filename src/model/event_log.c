#include "model/event_log.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "model/event_log_priv.h"

#define DEFAULT_CAP_BYTES ((size_t)4 << 30)

/* Size of the kinds that have one; 0 for the others. */
const uint16_t event_log_sizes[EV_KIND_MAX] = {
#define X(name, nr, type, what) [nr] = sizeof(struct type),
	EV_KINDS(X)
#undef X
};

#define X(name, nr, type, what)                                                          \
	_Static_assert(sizeof(struct type) <= sizeof(((struct event_log_iter *)0)->rec), \
	               #type " does not fit into an iterator");
EV_KINDS(X)
#undef X

static bool is_fixed(uint8_t kind)
{
	return kind != EV_SAMPLE && kind != EV_PMU && kind != EV_PROBE_INFO && kind != EV_STRING &&
	       kind != EV_AFFINITY && kind != EV_CGROUP_INFO;
}

/* The offset of a kind's tids in its body, plus one; 0 = none. */
#define AT(type, field) (offsetof(struct type, field) - sizeof(struct ev_hdr) + 1)
const uint8_t event_log_tid_places[EV_KIND_MAX][EVENT_LOG_MAX_TIDS] = {
	[EV_SWITCH] = { AT(ev_switch, prev_tid), AT(ev_switch, next_tid) },
	[EV_WAKING] = { AT(ev_wake, tid), AT(ev_wake, waker_tid) },
	[EV_WAKEUP] = { AT(ev_wake, tid), AT(ev_wake, waker_tid) },
	[EV_WAKEUP_NEW] = { AT(ev_wake, tid), AT(ev_wake, waker_tid) },
	[EV_MIGRATE] = { AT(ev_migrate, tid) },
	[EV_FORK] = { AT(ev_fork, parent_tid), AT(ev_fork, tid) },
	[EV_EXEC] = { AT(ev_exec, tid), AT(ev_exec, old_tid) },
	[EV_EXIT] = { AT(ev_exit, tid) },
	[EV_RENAME] = { AT(ev_rename, tid) },
	[EV_FREE] = { AT(ev_free, tid) },
	[EV_HANG] = { AT(ev_task, tid) },
	[EV_WAIT] = { AT(ev_task, tid) },
	[EV_SOFTIRQ_ENTRY] = { AT(ev_softirq, tid) },
	[EV_SOFTIRQ_EXIT] = { AT(ev_softirq, tid) },
	[EV_IRQ_ENTRY] = { AT(ev_irq_entry, tid) },
	[EV_IPI_SEND] = { AT(ev_ipi_send, tid) },
	[EV_WORK_START] = { AT(ev_work, tid) },
	[EV_WORK_END] = { AT(ev_work, tid) },
	[EV_PROBE] = { AT(ev_probe, tid) },
	[EV_SAMPLE] = { AT(ev_sample, tid) },
	[EV_PMU] = { AT(ev_pmu, tid) },
	[EV_AFFINITY] = { AT(ev_affinity, tid) },
	[EV_CGROUP] = { AT(ev_cgroup, tid) },
	[EV_SCX_RUN] = { AT(ev_scx_run, tid) },
	[EV_DSQ_LEAVE] = { AT(ev_dsq_leave, tid) },
	[EV_SPAN] = { AT(ev_span, tid) },
	[EV_BLOCK] = { AT(ev_block, tid) },
	[EV_MEMORY] = { AT(ev_memory, tid) },
	[EV_FSYNC] = { AT(ev_fsync, tid) },
	[EV_BLOCKED] = { AT(ev_blocked, tid) },
	[EV_THROTTLE] = { AT(ev_throttle, tid) },
	[EV_SLEEP] = { AT(ev_sleep, tid) },
	[EV_POLICY] = { AT(ev_policy, tid) },
	[EV_LOCK] = { AT(ev_lock, tid) },
	[EV_TASK_INFO] = { AT(ev_task_info, tid) },
};

int event_log_new(const struct event_log_cfg *cfg, struct event_log **out)
{
	struct event_log *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->cfg = *cfg;
	if (!l->cfg.cap_bytes)
		l->cfg.cap_bytes = DEFAULT_CAP_BYTES;
	*out = l;
	return 0;
}

void event_log_free(struct event_log *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->nr_chunks; i++)
		event_log_chunk_put(l->chunks[i]);
	free(l->chunks);
	event_log_index_free(&l->by_cpu);
	event_log_index_free(&l->by_tid);
	free(l);
}

static struct log_chunk *add_chunk(struct event_log *l, uint64_t ts_ns)
{
	struct log_chunk *c;

	while (l->nr_chunks == EVENT_LOG_MAX_CHUNKS ||
	       (l->nr_chunks + 1) * EVENT_LOG_CHUNK_BYTES > l->cfg.cap_bytes)
		if (!event_log_make_room(l))
			return NULL;
	if (GROW(l->chunks, l->max_chunks, l->nr_chunks))
		return NULL;
	c = malloc(EVENT_LOG_CHUNK_BYTES);
	if (!c)
		return NULL;
	*c = (struct log_chunk){ .base_ns = ts_ns, .min_ns = UINT64_MAX };
	atomic_init(&c->refs, 1);
	l->chunks[l->nr_chunks++] = c;
	return c;
}

/* The chunk that takes the record; NULL when the log is full, and then it stays so without a window: what is kept has no holes. */
static struct log_chunk *room_for(struct event_log *l, uint32_t units, uint64_t ts_ns)
{
	struct log_chunk *c = l->nr_chunks ? l->chunks[l->nr_chunks - 1] : NULL;

	if (l->dropped && !l->cfg.window_ns)
		return NULL;
	if (c && c->nr_units + units <= EVENT_LOG_CHUNK_UNITS)
		return c;
	return add_chunk(l, ts_ns);
}

static void note(struct event_log *l, struct log_chunk *c, const struct ev_hdr *rec)
{
	if (rec->ts_ns < l->last_ns)
		l->is_unsorted = true;
	l->last_ns = rec->ts_ns;
	if (rec->ts_ns < c->min_ns)
		c->min_ns = rec->ts_ns;
	if (rec->ts_ns > c->max_ns)
		c->max_ns = rec->ts_ns;
	c->kinds |= EV_BIT(rec->kind);
	c->nr++;
	l->nr++;
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct event_log *l = ctx;
	uint32_t units = rec->size / EVENT_LOG_UNIT + 1; /* as a whole, behind a short header */
	struct short_hdr h = { 0 };
	struct log_chunk *c;
	uint64_t *to;

	if (rec->kind >= EV_KIND_MAX || !event_log_sizes[rec->kind] ||
	    rec->size < event_log_sizes[rec->kind])
		return 0; /* unknown: not useful in queries */
	c = room_for(l, units, rec->ts_ns);
	if (!c) {
		l->dropped++;
		return 0;
	}
	if (l->by_cpu.nr_buckets || l->by_tid.nr_buckets)
		event_log_drop_indexes(l);
	to = c->data + c->nr_units;
	l->last_place = (l->gone + l->nr_chunks - 1) * EVENT_LOG_CHUNK_UNITS + c->nr_units;
	if (!l->cfg.keeps_whole && is_fixed(rec->kind) && rec->size == event_log_sizes[rec->kind] &&
	    rec->cpu <= UINT16_MAX && rec->ts_ns - c->base_ns <= UINT32_MAX) {
		h = (struct short_hdr){ (uint32_t)(rec->ts_ns - c->base_ns), (uint16_t)rec->cpu,
			                rec->kind, rec->flags };
		units = (uint32_t)(rec->size - sizeof(*rec)) / EVENT_LOG_UNIT + 1;
		memcpy(to + 1, rec + 1, rec->size - sizeof(*rec));
	} else {
		memcpy(to + 1, rec, rec->size);
	}
	memcpy(to, &h, sizeof(h));
	c->nr_units += units;
	note(l, c, rec);
	if (l->cfg.window_ns)
		event_log_keep_window(l);
	return 0;
}

struct ev_sink event_log_sink(struct event_log *l)
{
	return (struct ev_sink){ .push = push, .ctx = l };
}

uint64_t event_log_nr(const struct event_log *l)
{
	return l->nr;
}

uint64_t event_log_dropped(const struct event_log *l)
{
	return l->dropped;
}

size_t event_log_bytes(const struct event_log *l)
{
	return l->nr_chunks * EVENT_LOG_CHUNK_BYTES + l->by_cpu.bytes + l->by_tid.bytes;
}

unsigned int event_log_tids(const struct ev_hdr *rec, uint32_t tids[EVENT_LOG_MAX_TIDS])
{
	if (rec->kind >= EV_KIND_MAX)
		return 0;
	return event_log_body_tids(rec->kind, (const uint8_t *)(rec + 1), tids);
}
