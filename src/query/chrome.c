#include "query/chrome.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/json_write.h"
#include "model/interrupt.h"

/* Above those that the kernel gives. */
enum { PID_CPUS = 4194305, PID_INTERRUPTS = 4194306, PID_COUNTERS = 4194307, PID_SPANS = 4194308 };

#define NAME_BYTES 96

struct chrome {
	const struct source *s;
	const struct chrome_cfg *cfg;
	struct json_writer w;
	uint64_t nr_ids; /* of flows and async events */
};

/* Where an event is. */
struct place {
	uint32_t pid, tid;
};

static struct place place_of(const struct chrome *c, uint32_t task)
{
	const struct task *t = tasks_at(c->s->tasks, task);

	if (!t)
		return (struct place){ PID_SPANS, 0 };
	return (struct place){ t->tgid ? t->tgid : t->tid, t->tid };
}

static void put_us(struct chrome *c, const char *key, uint64_t ns)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%" PRIu64 ".%03u", ns / 1000,
	                   (unsigned int)(ns % 1000));

	jw_raw(&c->w, key, text, (size_t)len);
}

static void begin(struct chrome *c, const char *phase, const char *name, struct place at,
                  uint64_t ts_ns)
{
	jw_begin_object(&c->w, NULL);
	jw_string(&c->w, "ph", phase);
	jw_string(&c->w, "name", name && *name ? name : "unknown");
	jw_u64(&c->w, "pid", at.pid);
	jw_u64(&c->w, "tid", at.tid);
	put_us(c, "ts", ts_ns > c->s->start_ns ? ts_ns - c->s->start_ns : 0);
}

static void begin_slice(struct chrome *c, const char *name, struct place at, uint64_t start_ns,
                        uint64_t end_ns)
{
	begin(c, "X", name, at, start_ns);
	put_us(c, "dur", end_ns - start_ns);
}

static void put_name(struct chrome *c, const char *what, struct place at, const char *name)
{
	jw_begin_object(&c->w, NULL);
	jw_string(&c->w, "ph", "M");
	jw_string(&c->w, "name", what);
	jw_u64(&c->w, "pid", at.pid);
	jw_u64(&c->w, "tid", at.tid);
	jw_begin_object(&c->w, "args");
	jw_string(&c->w, "name", name);
	jw_end_object(&c->w);
	jw_end_object(&c->w);
}

static void put_cpu_names(struct chrome *c)
{
	static const struct {
		uint32_t pid;
		const char *name;
	} processes[] = { { PID_CPUS, "CPUs" },
		          { PID_INTERRUPTS, "Interrupts" },
		          { PID_COUNTERS, "Counters" },
		          { PID_SPANS, "Spans of no task" } };
	uint32_t nr_cpus = pair_nr_cpus(c->s->pair);
	char name[32];

	for (size_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++)
		put_name(c, "process_name", (struct place){ processes[i].pid, 0 },
		         processes[i].name);
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++) {
		(void)snprintf(name, sizeof(name), "CPU %u", cpu);
		put_name(c, "thread_name", (struct place){ PID_CPUS, cpu }, name);
		put_name(c, "thread_name", (struct place){ PID_INTERRUPTS, cpu }, name);
	}
}

static void put_task_names(struct chrome *c)
{
	for (uint32_t task = 0; task < tasks_nr(c->s->tasks); task++) {
		const char *comm = tasks_comm(c->s->tasks, task);
		struct place at = place_of(c, task);

		if (!comm || !at.tid || at.pid == PID_SPANS)
			continue;
		put_name(c, "thread_name", at, comm);
		if (at.pid == at.tid)
			put_name(c, "process_name", at, comm);
	}
}

static int find(struct chrome *c, enum timeline_table table, uint32_t task,
                struct timeline_iter *it)
{
	struct timeline_query q = { .table = table,
		                    .task = task,
		                    .cpu = TIMELINE_ANY_CPU,
		                    .from_ns = c->cfg->from_ns,
		                    .to_ns = c->cfg->to_ns ? c->cfg->to_ns : UINT64_MAX };

	return timeline_find(c->s->timeline, &q, it);
}

static const char *comm_at(const struct chrome *c, uint32_t task, uint64_t ts_ns)
{
	return tasks_string(c->s->tasks, tasks_comm_at(c->s->tasks, task, ts_ns));
}

static int put_cpus(struct chrome *c)
{
	struct timeline_iter it;
	union timeline_row row;
	int err = find(c, TIMELINE_SLICE, TASKS_NONE, &it);

	while (!err && timeline_next(&it, NULL, &row)) {
		const struct pair_slice *r = &row.slice;
		struct place of = place_of(c, r->task);

		begin_slice(c, comm_at(c, r->task, r->start_ns), (struct place){ PID_CPUS, r->cpu },
		            r->start_ns, r->end_ns);
		jw_begin_object(&c->w, "args");
		jw_u64(&c->w, "pid", of.pid);
		jw_u64(&c->w, "tid", of.tid);
		jw_i64(&c->w, "prio", r->prio);
		jw_end_object(&c->w);
		jw_end_object(&c->w);
	}
	return err;
}

/* A state of a thread, from the three tables that have them. */
struct state {
	const char *name;
	uint64_t start_ns, end_ns;
	uint16_t cpu;
};

static struct state state_of(unsigned int table, const union timeline_row *row)
{
	static const char *const sleeps[] = { "Sleeping", "Uninterruptible sleep",
		                              "Stopped or idle" };
	const struct pair_wait *w = &row->wait;

	if (table == 0)
		return (struct state){ "Running", row->slice.start_ns, row->slice.end_ns,
			               row->slice.cpu };
	if (table == 1)
		return (struct state){ w->cause == PAIR_PREEMPTED ? "Runnable (preempted)"
			                                          : "Runnable",
			               w->wakeup_ns ? w->wakeup_ns : w->waking_ns, w->end_ns,
			               w->cpu };
	return (struct state){ row->sleep.state < 3 ? sleeps[row->sleep.state] : "Sleeping",
		               row->sleep.start_ns, row->sleep.end_ns, row->sleep.cpu };
}

/* The row that ends first is the next; what overlaps the one before begins behind it. */
static int put_states(struct chrome *c, uint32_t task)
{
	static const enum timeline_table tables[3] = { TIMELINE_SLICE, TIMELINE_WAIT,
		                                       TIMELINE_SLEEP };
	struct timeline_iter its[3];
	union timeline_row row;
	struct state next[3];
	bool has[3];
	uint64_t until_ns = 0;
	int err = 0;

	for (unsigned int i = 0; i < 3 && !err; i++) {
		err = find(c, tables[i], task, &its[i]);
		has[i] = !err && timeline_next(&its[i], NULL, &row);
		if (has[i])
			next[i] = state_of(i, &row);
	}
	while (!err && (has[0] || has[1] || has[2])) {
		unsigned int first = 3;

		for (unsigned int i = 0; i < 3; i++)
			if (has[i] && (first == 3 || next[i].end_ns < next[first].end_ns))
				first = i;
		if (next[first].start_ns < until_ns)
			next[first].start_ns = until_ns;
		if (next[first].start_ns < next[first].end_ns) {
			until_ns = next[first].end_ns;
			begin_slice(c, next[first].name, place_of(c, task), next[first].start_ns,
			            until_ns);
			jw_begin_object(&c->w, "args");
			if (next[first].cpu != PAIR_NO_CPU)
				jw_u64(&c->w, "cpu", next[first].cpu);
			jw_end_object(&c->w);
			jw_end_object(&c->w);
		}
		has[first] = timeline_next(&its[first], NULL, &row);
		if (has[first])
			next[first] = state_of(first, &row);
	}
	return err;
}

/* From the task that woke another to where that one runs. Interrupts have no track of a thread. */
static int put_flows(struct chrome *c)
{
	struct timeline_iter it;
	union timeline_row row;
	int err = find(c, TIMELINE_WAIT, TASKS_NONE, &it);

	while (!err && timeline_next(&it, NULL, &row)) {
		const struct pair_wait *r = &row.wait;
		uint64_t from_ns = r->waking_ns ? r->waking_ns : r->wakeup_ns;

		if (r->is_open || r->waker == TASKS_NONE || r->cause == PAIR_PREEMPTED || !from_ns)
			continue;
		c->nr_ids++;
		begin(c, "s", "wakeup", place_of(c, r->waker), from_ns);
		jw_string(&c->w, "cat", "wakeup");
		jw_u64(&c->w, "id", c->nr_ids);
		jw_end_object(&c->w);
		begin(c, "f", "wakeup", place_of(c, r->task), r->end_ns);
		jw_string(&c->w, "cat", "wakeup");
		jw_string(&c->w, "bp", "e");
		jw_u64(&c->w, "id", c->nr_ids);
		jw_end_object(&c->w);
	}
	return err;
}

static const char *span_name(const struct chrome *c, const struct pair_span *r, char *buf)
{
	static const char *const kinds[PAIR_SPAN_KINDS] = {
		[PAIR_IRQ] = "irq",
		[PAIR_SOFTIRQ] = "softirq",
		[PAIR_IPI] = "ipi",
		[PAIR_WORK] = "work",
		[PAIR_BLOCK_QUEUE] = "block queue",
		[PAIR_BLOCK_DEVICE] = "block device",
		[PAIR_BLOCK_TOTAL] = "block request",
		[PAIR_RECLAIM] = "reclaim",
		[PAIR_FSYNC] = "fsync",
		[PAIR_LOCK] = "lock",
		[PAIR_NAMED] = "span",
	};
	const char *name = tasks_string(c->s->tasks, r->name_id);
	const char *what = r->kind < PAIR_SPAN_KINDS ? kinds[r->kind] : "span";

	if (r->kind == PAIR_SOFTIRQ)
		name = softirq_name((uint32_t)r->id);
	else if (r->kind == PAIR_WORK)
		name = source_symbol(c->s, r->id);
	if (r->kind == PAIR_NAMED && name && *name)
		return name;
	(void)snprintf(buf, NAME_BYTES, "%s%s%s", what, name && *name ? " " : "", name ? name : "");
	return buf;
}

static void put_async(struct chrome *c, const struct pair_span *r, const char *name)
{
	struct place at = place_of(c, r->task);

	c->nr_ids++;
	for (int is_end = 0; is_end < 2; is_end++) {
		begin(c, is_end ? "e" : "b", name, at, is_end ? r->end_ns : r->start_ns);
		jw_string(&c->w, "cat", "span");
		jw_u64(&c->w, "id", c->nr_ids);
		jw_end_object(&c->w);
	}
}

static int put_spans(struct chrome *c)
{
	struct timeline_iter it;
	union timeline_row row;
	char buf[NAME_BYTES];
	int err = find(c, TIMELINE_SPAN, TASKS_NONE, &it);

	while (!err && timeline_next(&it, NULL, &row)) {
		const struct pair_span *r = &row.span;
		const char *name = span_name(c, r, buf);

		if (r->kind != PAIR_IRQ && r->kind != PAIR_SOFTIRQ && r->kind != PAIR_IPI) {
			put_async(c, r, name);
			continue;
		}
		begin_slice(c, name, (struct place){ PID_INTERRUPTS, r->cpu }, r->start_ns,
		            r->end_ns);
		jw_end_object(&c->w);
	}
	return err;
}

static const char *counter_name(const struct chrome *c, const struct pair_counter *r, char *buf)
{
	const char *text;

	switch (r->kind) {
	case PAIR_CPU_FREQ_KHZ:
		(void)snprintf(buf, NAME_BYTES, "CPU %u frequency (kHz)", r->cpu);
		break;
	case PAIR_CPU_IDLE_STATE:
		(void)snprintf(buf, NAME_BYTES, "CPU %u idle state", r->cpu);
		break;
	case PAIR_HW_PRESSURE:
		(void)snprintf(buf, NAME_BYTES, "CPU %u hw pressure", r->cpu);
		break;
	case PAIR_GPU_MEM_BYTES:
		(void)snprintf(buf, NAME_BYTES, "GPU %" PRIu64 " memory", r->id);
		break;
	case PAIR_DSQ_DEPTH:
		(void)snprintf(buf, NAME_BYTES, "DSQ 0x%" PRIx64 " depth", r->id);
		break;
	default:
		text = tasks_string(c->s->tasks, (uint32_t)r->id);
		(void)snprintf(buf, NAME_BYTES, "%s", text ? text : "counter");
	}
	return buf;
}

static int put_counters(struct chrome *c)
{
	struct timeline_iter it;
	union timeline_row row;
	char buf[NAME_BYTES];
	int err = find(c, TIMELINE_COUNTER, TASKS_NONE, &it);

	while (!err && timeline_next(&it, NULL, &row)) {
		const struct pair_counter *r = &row.counter;
		bool has_left = r->kind == PAIR_CPU_IDLE_STATE && r->value == UINT32_MAX;

		begin(c, "C", counter_name(c, r, buf), (struct place){ PID_COUNTERS, 0 }, r->ts_ns);
		jw_begin_object(&c->w, "args");
		jw_i64(&c->w, "value", has_left ? -1 : (int64_t)r->value);
		jw_end_object(&c->w);
		jw_end_object(&c->w);
	}
	return err;
}

static void put_facts(struct chrome *c)
{
	const struct source_facts *f = c->s->facts;
	char text[32];

	jw_string(&c->w, "displayTimeUnit", "ns");
	jw_begin_object(&c->w, "otherData");
	jw_string(&c->w, "producer", f->producer);
	if (f->release)
		jw_string(&c->w, "release", f->release);
	/* As a text: readers take numbers for doubles, which do not hold all nanoseconds. */
	(void)snprintf(text, sizeof(text), "%" PRIu64, c->s->start_ns);
	jw_string(&c->w, "start_ns", text);
	jw_string(&c->w, "clock", f->clock);
	jw_u64(&c->w, "lost", f->lost);
	if (f->incomplete)
		jw_string(&c->w, "incomplete", f->incomplete);
	jw_end_object(&c->w);
}

int chrome_write(const struct source *s, const struct chrome_cfg *cfg, FILE *out)
{
	struct chrome c = { .s = s, .cfg = cfg };
	int err, writing;

	jw_init(&c.w, out, false);
	jw_begin_object(&c.w, NULL);
	put_facts(&c);
	jw_begin_array(&c.w, "traceEvents");
	put_cpu_names(&c);
	put_task_names(&c);
	err = put_cpus(&c);
	for (uint32_t task = 0; task < tasks_nr(s->tasks) && !err; task++)
		err = put_states(&c, task);
	if (!err)
		err = put_flows(&c);
	if (!err)
		err = put_spans(&c);
	if (!err)
		err = put_counters(&c);
	jw_end_array(&c.w);
	jw_end_object(&c.w);
	writing = jw_finish(&c.w);
	return err ? err : writing;
}
