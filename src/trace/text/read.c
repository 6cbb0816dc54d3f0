/* Reads the text of ftrace, trace-cmd report and perf script, line by line. */
#include "trace/text/text.h"

#include <errno.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "trace/formats.h"

#define EVENTS_MAX     65536U
#define NAME_BYTES_MAX (4U << 20)
#define EVENT_SLOTS    256U
#define IRQ_FLAG       2U /* "d.h2.", unless the header says otherwise */
#define NS_IN_US       1000U
#define PROGRESS_LINES 65536U /* between two calls */

/* An event of the last lines. */
struct event_slot {
	struct span name;
	uint32_t event;
};

struct text_in {
	struct reader *r;
	struct ftrace_cpus cpus;
	struct text_columns columns;
	struct text_header header;
	struct text_names *names;
	struct text_stacks *stacks;
	struct intern *event_ids;
	struct text_event *events; /* by id */
	size_t nr_events;
	struct event_slot slots[EVENT_SLOTS];
	/* Losses that the text reports; they are before the next event of their CPU. */
	uint64_t *lost; /* by CPU: 1 + how many; 0 = none */
	size_t nr_lost;
	bool has_lost;
	bool begins_cpu; /* the next event is the first that is left of its CPU */
	uint64_t nr_taken, nr_counts, nr_lines;
	uint64_t last_ns,
		nr_same; /* the time of the last line, and how many of it there were before */
	bool is_trace_cmd;
};

static void done(struct text_in *t)
{
	ftrace_cpus_done(&t->cpus);
	text_names_free(t->names);
	text_stacks_free(t->stacks);
	intern_free(t->event_ids);
	free(t->events);
	free(t->lost);
}

static int init(struct text_in *t, struct reader *r)
{
	t->r = t->cpus.r = r;
	t->columns.irq_flag = IRQ_FLAG;
	t->names = text_names_new(r);
	t->stacks = text_stacks_new(r);
	t->event_ids = intern_new(EVENTS_MAX, NAME_BYTES_MAX);
	return t->names && t->stacks && t->event_ids ? 0 : -ENOMEM;
}

/* The event of a name; those beyond the cap are one, whose name is empty. */
static uint32_t event_slow(struct text_in *t, struct span name)
{
	uint32_t id;

	if (intern_add(t->event_ids, name.at, span_len(name), &id) < 0 ||
	    GROW_ZEROED(t->events, t->nr_events, id))
		return 0;
	if (!t->events[id].is_ready) {
		t->events[id].member = ftrace_member(name.at, span_len(name));
		t->events[id].is_ready = true;
		text_event_find(&t->events[id]);
	}
	return id;
}

static struct text_event *event_of(struct text_in *t, struct span name)
{
	size_t len = span_len(name);
	const unsigned char *bytes = (const unsigned char *)name.at;
	size_t at = (len * 31 + (size_t)7 * bytes[len - 1] + bytes[len / 2]) % EVENT_SLOTS;
	struct event_slot *slot = &t->slots[at];

	if (span_len(slot->name) != len || memcmp(slot->name.at, name.at, len) != 0) {
		slot->event = event_slow(t, name);
		slot->name = name;
	}
	return slot->event < t->nr_events ? &t->events[slot->event] : NULL;
}

static void unreadable(struct text_in *t, enum damage what)
{
	t->r->tally.damage[what]++;
}

/* Told before the next event of its CPU. */
static void loss_told(struct text_in *t, uint64_t cpu, uint64_t count)
{
	if (cpu >= READER_CPUS_MAX || GROW_ZEROED(t->lost, t->nr_lost, (size_t)cpu))
		return;
	t->lost[cpu] += t->lost[cpu] ? count : count + 1;
	t->has_lost = true;
}

/* What was overwritten before the first event of a CPU is not lost: there the recording begins later. */
static void loss_take(struct text_in *t, struct ftrace_cpu *on, uint64_t ts_ns)
{
	if (on->cpu >= t->nr_lost || !t->lost[on->cpu])
		return;
	if (on->nr_events)
		ftrace_cpus_lost(on, ts_ns, t->lost[on->cpu] - 1);
	else
		t->begins_cpu = true;
	t->lost[on->cpu] = 0;
}

/* Records of perf itself; of losses it says how many. */
static void take_perf_record(struct text_in *t, const struct text_line *line)
{
	struct span in = line->fields;
	struct ftrace_cpu *on;
	uint64_t count;

	if (!SPAN_BEGINS(line->event, "PERF_RECORD_LOST") || !line->has_cpu || line->is_count ||
	    !SPAN_TAKE(&in, "lost ") || !span_number(&in, &count))
		return;
	on = ftrace_cpus_get(&t->cpus, line->cpu);
	if (on)
		ftrace_cpus_lost(on, line->ts_ns, count);
}

/* The fields into e; false if they cannot be read. */
static bool read_fields(const struct text_event *ev, const struct text_line *line,
                        struct span whole, struct ftrace_event_in *e)
{
	e->ts_ns = line->ts_ns;
	e->pid = line->pid;
	e->has_pid = line->has_pid;
	e->flags = line->flags;
	e->by = line->has_flags ? ABI_BY_UNKNOWN : ABI_BY_NOT_RECORDED;
	e->ours = 0;
	e->member = ev->member;
	e->has = e->texts = 0;
	e->body = pb_in_of((const uint8_t *)whole.at, span_len(whole));
	return !ev->read || ev->read(ev, line->fields, e) || text_read_raw(ev, line->fields, e);
}

static int take_event(struct text_in *t, const struct text_line *line, struct span whole)
{
	struct text_event *ev = event_of(t, line->event);
	struct ftrace_cpu *on = ftrace_cpus_get(&t->cpus, line->cpu);
	struct ftrace_event_in e;
	int err;

	if (!on || !ev)
		return t->cpus.err;
	if (!ev->member && !ev->name)
		ev->name = decoder_text(on->dec, line->event.at, span_len(line->event));
	if (!read_fields(ev, line, whole, &e)) {
		unreadable(t, DAMAGE_TEXT_FIELDS);
		return 0;
	}
	if (t->has_lost)
		loss_take(t, on, line->ts_ns);
	if (t->begins_cpu && line->ts_ns > t->r->info.valid_from_ns)
		t->r->info.valid_from_ns = line->ts_ns;
	t->begins_cpu = false;
	t->nr_taken++;
	err = text_names_see(t->names, line);
	ftrace_cpus_take(on, &e, ev->name);
	if (err || line->form != TEXT_PERF)
		return err;
	/* Samples are of tasks, also of those that no record mentions. */
	decoder_see_tid(on->dec, line->ts_ns, line->pid);
	return text_stacks_begin(t->stacks, line, ev->member);
}

/* What is not an event; false if it is nothing that we know. */
static bool take_other(struct text_in *t, struct span line)
{
	uint64_t cpu, count;

	if (text_comment(t->r, &t->header, &t->columns, line))
		return true;
	if (text_is_remark(t->r, line)) {
		t->is_trace_cmd |= SPAN_BEGINS(line, "cpus=");
		return true;
	}
	if (!text_is_loss(line, &cpu, &count))
		return text_stacks_is_frame(line) && text_stacks_frame(t->stacks, line);
	loss_told(t, cpu, count);
	return true;
}

static bool is_comment(struct span line)
{
	return *line.at == '#' && (span_len(line) == 1 || strchr(" #\t", line.at[1]));
}

/* Lines are in order of nanoseconds that are not printed: what follows in one microsecond is put behind. */
static void spread(struct text_in *t, struct text_line *line)
{
	if (!line->is_rounded || line->ts_ns != t->last_ns)
		t->nr_same = 0;
	else if (t->nr_same < NS_IN_US - 1)
		t->nr_same++;
	t->last_ns = line->ts_ns;
	line->ts_ns += t->nr_same;
}

static int take_line(struct text_in *t, struct span line)
{
	struct text_line parts;

	if (line.at == line.end || is_comment(line)) {
		text_stacks_end(t->stacks);
		t->begins_cpu |= SPAN_BEGINS(line, "##### CPU ");
		(void)text_comment(t->r, &t->header, &t->columns, line);
		return 0;
	}
	if (*line.at == '\t' && text_stacks_frame(t->stacks, line))
		return 0;
	if (!text_line_split(&t->columns, line, &parts)) {
		/* Before the first event may be anything, also the rest of a line that was cut. */
		if (!take_other(t, line) && t->nr_lines) {
			t->nr_lines++;
			unreadable(t, DAMAGE_TEXT_LINE);
		}
		return 0;
	}
	t->nr_lines++;
	if (SPAN_BEGINS(parts.event, "PERF_RECORD_")) {
		take_perf_record(t, &parts);
	} else if (parts.is_count) {
		t->nr_counts++;
		unreadable(t, DAMAGE_TEXT_COUNT);
	} else if (!parts.has_cpu) {
		unreadable(t, DAMAGE_TEXT_NO_CPU);
	} else {
		spread(t, &parts);
		return take_event(t, &parts, line);
	}
	return 0;
}

/* whole: it ends with a line; otherwise the last one may be cut. */
static int take_lines(struct text_in *t, struct span in, bool is_whole)
{
	const struct trace_read_cfg *cfg = &t->r->cfg;
	const char *begin = in.at;
	struct span line;
	uint32_t nr = 0;
	int err = 0;

	while (!err && span_line(&in, &line)) {
		if (in.at == in.end && !is_whole && in.end[-1] != '\n' && t->nr_lines) {
			t->r->tally.damage[DAMAGE_TRUNCATED_BYTES] += span_len(line);
			break;
		}
		err = take_line(t, line);
		if (cfg->progress && ++nr == PROGRESS_LINES) {
			nr = 0;
			cfg->progress(cfg->progress_ctx, (uint64_t)(in.at - begin),
			              2 * (uint64_t)(in.end - begin));
		}
	}
	return err;
}

static int take_escaped(struct text_in *t, struct span in)
{
	struct span plain;
	int err = text_unescape(t->r, in, &plain);

	if (err)
		return err;
	err = take_lines(t, plain, true);
	memset(t->slots, 0, sizeof(t->slots)); /* they point into it */
	free((char *)(uintptr_t)plain.at);
	return err;
}

/* The blocks of systrace, of which some hold other things. */
static int take_html(struct text_in *t, struct span in)
{
	struct span block;
	int err = 0;

	while (!err && text_next_block(&in, &block))
		if (text_is_trace(block))
			err = text_is_escaped(block) ? take_escaped(t, block)
			                             : take_lines(t, block, true);
	return err;
}

static void put_facts(struct text_in *t)
{
	struct reader *r = t->r;

	if (t->is_trace_cmd)
		r->info.producer_name = "trace-cmd";
	else
		r->info.producer_name = t->columns.form == TEXT_PERF ? "perf" : "ftrace";
	r->info.nr_packets = r->tally.totals[OF_LINES] = t->nr_lines;
	if (t->header.clock && !t->header.has_other_clock)
		r->clocks.trace = clocks_get(&r->clocks, t->header.clock, 0);
}

/* Lines that were all of a kind that says too little. */
static int check(const struct text_in *t, const char *name, struct diag *d)
{
	if (t->nr_taken)
		return 0;
	if (t->nr_counts)
		return diag_set(d, -EINVAL,
		                "choose another clock before you record: echo mono > "
		                "/sys/kernel/tracing/trace_clock",
		                "the times in '%s' are counts without a unit, as those of the "
		                "trace clocks counter, uptime and x86-tsc",
		                name);
	if (t->r->tally.damage[DAMAGE_TEXT_NO_CPU])
		return diag_set(d, -EINVAL, "print them: perf script -F +cpu,+time",
		                "the lines of '%s' have no CPU numbers", name);
	if (t->header.is_graph)
		return diag_set(d, -EINVAL,
		                "record events with 'echo nop > "
		                "/sys/kernel/tracing/current_tracer'",
		                "'%s' is of the function_graph tracer: it has no events of the "
		                "scheduler",
		                name);
	return 0;
}

int text_read(struct reader *r, const struct trace_bytes *in, const struct ev_sink *sink,
              struct diag *d)
{
	struct span bytes = { in->bytes, (const char *)in->bytes + in->len };
	struct text_in *t = calloc(1, sizeof(*t));
	int err = t ? init(t, r) : -ENOMEM;

	if (!err)
		err = text_is_html(bytes) ? take_html(t, bytes) : take_lines(t, bytes, false);
	if (!err)
		err = check(t, in->name, d);
	if (!err)
		err = text_stacks_finish(t->stacks);
	if (!err) {
		put_facts(t);
		err = ftrace_cpus_merge(&t->cpus, sink);
	}
	if (t)
		done(t);
	free(t);
	return err;
}
