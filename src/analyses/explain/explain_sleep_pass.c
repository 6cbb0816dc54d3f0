/* analyses/explain/explain_sleep — the longest sleeps, or those at a moment, explained, and the sums of all. */
#include <errno.h>
#include <stdlib.h>

#include "abi/call.h"
#include "abi/event_check.h"
#include "analyses/explain/explain.h"
#include "analyses/explain/explain_sleep.h"
#include "analyses/sleep_ends.h"
#include "analyze/edges.h"
#include "analyze/units.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "model/interrupt.h"

#define MAX_SUMS   3 /* of the calls, and of what ended the sleeps */
#define SMALL_SUM  100
#define TIME_BYTES 24

struct chosen {
	const struct scope *sc;
	struct pair_sleep *at; /* in the order of is_before() */
	uint32_t nr, max;
	/* Of all in scope: */
	uint64_t nr_all, all_ns;
	struct edges calls; /* by 0, to the call */
	struct edges ends;  /* by 0, to the task or interrupt that ended them */
};

static void chosen_done(struct chosen *c)
{
	free(c->at);
	edges_done(&c->calls);
	edges_done(&c->ends);
}

static uint64_t length(const struct pair_sleep *row)
{
	return row->end_ns - row->start_ns;
}

/* Not because there was nothing to do until a timer came, or for the kernel: of those are most of a machine. */
static bool is_for_a_task(const struct chosen *c, const struct pair_sleep *row)
{
	const struct task *t = tasks_at(c->sc->s->tasks, row->task);

	return explain_is_ended_by_task(row) && !(t && t->is_kthread);
}

/* The longest is the first; where no task is named, of those that are for another task. */
static bool is_before(const struct chosen *c, const struct pair_sleep *a,
                      const struct pair_sleep *b)
{
	const struct pass_args *args = c->sc->args;
	bool is_any = !args->tid && !args->pid && !args->comm && !args->cgroup;

	if (is_any && is_for_a_task(c, a) != is_for_a_task(c, b))
		return is_for_a_task(c, a);
	return length(a) > length(b);
}

static void keep(struct chosen *c, const struct pair_sleep *row)
{
	uint32_t at;

	if (c->nr == c->max && !is_before(c, row, &c->at[c->max - 1]))
		return;
	at = c->nr < c->max ? c->nr++ : c->max - 1;
	for (; at > 0 && is_before(c, row, &c->at[at - 1]); at--)
		c->at[at] = c->at[at - 1];
	c->at[at] = *row;
}

static int count(struct chosen *c, const struct pair_sleep *row)
{
	uint64_t ns = scope_cut(c->sc, row->start_ns, row->end_ns);
	enum abi_context in = interrupt_context(row->flags, row->by);
	int err = edges_add(&c->calls, 0, sleep_call(c->sc->s, row), ns);

	c->nr_all++;
	c->all_ns += ns;
	if (err || row->is_open)
		return err;
	return edges_add(&c->ends, 0, interrupt_is(in) ? interrupt_key(in, row->by) : row->waker,
	                 ns);
}

static bool is_asked_for(const struct scope *sc, const struct pair_sleep *row)
{
	uint64_t at_ns = sc->args->at_ns;

	return row->task != TASKS_NONE &&
	       (!at_ns || (at_ns >= row->start_ns && at_ns <= row->end_ns));
}

bool explain_has_sleep(const struct scope *sc)
{
	struct rows it = { .sc = sc };
	struct pair_sleep row;

	while (rows_sleep(&it, &row))
		if (is_asked_for(sc, &row))
			return true;
	return false;
}

static int choose(struct chosen *c)
{
	struct rows it = { .sc = c->sc };
	struct pair_sleep row;
	int err = edges_init(&c->calls);

	if (!err)
		err = edges_init(&c->ends);
	c->at = calloc(c->max, sizeof(*c->at));
	if (!c->at)
		return -ENOMEM;
	while (!err && rows_sleep(&it, &row)) {
		if (!is_asked_for(c->sc, &row))
			continue;
		keep(c, &row);
		err = count(c, &row);
	}
	edges_sort(&c->calls);
	edges_sort(&c->ends);
	return err;
}

/* "of the longest", with what a reader can tell apart: "4.00s (95 %) in futex". */
static const char *list_calls(const struct chosen *c, struct report *r)
{
	const struct edge *at;
	uint32_t nr = edges_of(&c->calls, 0, &at);
	const char *text = "";
	char t[TIME_BYTES];

	for (uint32_t i = 0; i < nr && i < MAX_SUMS; i++) {
		const char *name = ev_call_name(at[i].to), *why = sleep_for((uint16_t)at[i].to);

		if (i && at[i].sum_ns < c->all_ns / SMALL_SUM)
			break;
		text = report_printf(r, "%s%s%s (%.0f %%) %s%s", text, i ? ", " : "",
		                     text_duration(t, sizeof(t), at[i].sum_ns),
		                     100.0 * (double)at[i].sum_ns / (double)c->all_ns,
		                     name  ? "in "
		                     : why ? "for "
		                           : "for what is unknown",
		                     name  ? name
		                     : why ? why
		                           : "");
	}
	return text;
}

static const char *list_ends(const struct chosen *c, struct report *r)
{
	const struct source *s = c->sc->s;
	const struct edge *at;
	uint32_t nr = edges_of(&c->ends, 0, &at);
	const char *text = "";

	for (uint32_t i = 0; i < nr && i < MAX_SUMS; i++) {
		char t[TIME_BYTES], words[INTERRUPT_TEXT];
		struct interrupt interrupt;
		const char *by;

		if (i && at[i].sum_ns < c->all_ns / SMALL_SUM)
			break;
		if (interrupt_of_key(at[i].to, &interrupt)) {
			source_name_device(s, &interrupt);
			by = interrupt_words(&interrupt, words);
		} else if (at[i].to == TASKS_NONE) {
			by = "what is unknown";
		} else {
			by = report_printf(r, "%s (%u)", source_comm(s, at[i].to),
			                   source_tid(s, at[i].to));
		}
		text = report_printf(r, "%s%s%s by %s", text, i ? ", " : "",
		                     text_duration(t, sizeof(t), at[i].sum_ns), by);
	}
	return text;
}

/* " of thread 4711": what the arguments select. */
static const char *whose(const struct pass_args *args, struct report *r)
{
	if (args->tid)
		return report_printf(r, " of thread %u", args->tid);
	if (args->comm)
		return report_printf(r, " of %s", args->comm);
	if (args->pid)
		return report_printf(r, " of process %u", args->pid);
	return args->cgroup ? report_printf(r, " of cgroup %s", args->cgroup) : "";
}

/* Sums of all sleeps that the arguments select. */
static void show_all(const struct chosen *c, struct report *r)
{
	const char *ends = list_ends(c, r);
	char t[TIME_BYTES];

	report_u64(r, "total_sleeps", c->nr_all);
	report_u64(r, "total_sleep_ns", c->all_ns);
	if (c->nr_all < 2 || !c->all_ns)
		return;
	report_string(r, "in_all",
	              report_printf(r, "In all %llu sleeps%s, together %s: %s%s%s.",
	                            (unsigned long long)c->nr_all, whose(c->sc->args, r),
	                            text_duration(t, sizeof(t), c->all_ns), list_calls(c, r),
	                            *ends ? "; ended " : "", ends));
}

static void show_line(const struct source *s, const struct explain_node *n, const char *kind,
                      uint64_t ns, const char *text, struct report *r)
{
	bool is_sleep = n->kind == NODE_SLEEP, is_own = is_sleep || kind == NULL;
	uint32_t task = is_sleep ? n->sleep.sleep.task : n->doing.task;
	uint64_t from_ns = is_sleep ? n->sleep.from_ns : n->doing.from_ns,
		 to_ns = is_sleep ? n->sleep.to_ns : n->doing.to_ns;
	static const char *const kinds[] = {
		[NODE_SLEEP] = "sleep", [NODE_HOLDER] = "holder", [NODE_WAKER] = "waker"
	};

	report_begin_object(r, NULL);
	report_u64(r, "depth", n->depth + (is_own ? 0U : 1U));
	report_string(r, "kind", is_own ? kinds[n->kind] : kind);
	report_string(r, "comm", source_comm_at(s, task, to_ns));
	report_u64(r, "tid", source_tid(s, task));
	report_u64(r, "ns", ns);
	report_u64(r, "start_timestamp", from_ns);
	report_u64(r, "end_timestamp", to_ns);
	report_string(r, "text", text);
	report_end_object(r);
}

static const char *with_time(const char *before, uint64_t ns, const char *after, struct report *r)
{
	char t[TIME_BYTES];

	return report_printf(r, "%s %s%s%s", before, text_duration(t, sizeof(t), ns),
	                     *after ? " " : "", after);
}

/* Below a task: what it waited for and how long it ran. Its sleeps are entries of their own. */
static void show_doing(const struct source *s, const struct explain_tree *t,
                       const struct explain_node *n, struct report *r)
{
	const struct explain_doing *d = &n->doing;
	uint64_t rest_ns = d->ns[DOING_WAIT];

	for (uint32_t i = 0; i < d->parts.nr && i < EXPLAIN_MAX_NAMED; i++) {
		const struct explain_part *p = &d->parts.at[i];

		if (p->ns < t->small_ns || p->kind == LEDGER_KINDS)
			break;
		rest_ns -= p->ns;
		show_line(s, n, "wait", p->ns,
		          with_time("waited", p->ns, explain_doing_part(s, d, p, r), r), r);
	}
	if (rest_ns && rest_ns >= t->small_ns)
		show_line(s, n, "wait", rest_ns,
		          with_time("waited", rest_ns, "in smaller parts", r), r);
	if (d->ns[DOING_RUN] >= t->small_ns && d->ns[DOING_RUN])
		show_line(s, n, "run", d->ns[DOING_RUN], with_time("ran", d->ns[DOING_RUN], "", r),
		          r);
	if (d->unknown_ns >= t->small_ns && d->unknown_ns)
		show_line(s, n, "unknown", d->unknown_ns,
		          with_time("unknown for", d->unknown_ns, "", r), r);
}

static void show_chain(const struct source *s, const struct explain_tree *t, struct report *r)
{
	report_begin_array(r, "chain");
	for (uint32_t i = 0; i < t->nr; i++) {
		const struct explain_node *n = &t->nodes[i];
		bool is_sleep = n->kind == NODE_SLEEP;

		show_line(s, n, NULL, is_sleep ? n->sum_ns : n->doing.to_ns - n->doing.from_ns,
		          explain_node_text(s, n, r), r);
		if (!is_sleep)
			show_doing(s, t, n, r);
	}
	report_end_array(r);
	report_bool(r, "is_chain_cut", t->is_cut);
}

/* What a picture needs: when each task of the chain did what. Lane 0 is that of the sleeper, which is not in the list. */
static void show_lanes(const struct source *s, const struct explain_tree *t, struct report *r)
{
	static const char *const kinds[DOING_KINDS] = {
		[DOING_RUN] = "runs", [DOING_WAIT] = "waits", [DOING_SLEEP] = "sleeps"
	};

	uint32_t of_depth[EXPLAIN_MAX_DEPTH] = { 0 }, nr = 0; /* the last lane of each depth */

	report_begin_array(r, "lanes");
	for (uint32_t i = 1; i < t->nr; i++) {
		const struct explain_doing *d = &t->nodes[i].doing;
		uint8_t depth = t->nodes[i].depth;

		if (t->nodes[i].kind == NODE_SLEEP)
			continue;
		of_depth[depth] = ++nr;
		report_begin_object(r, NULL);
		/* A task, its sleep, and the task that the sleep is for have depths that follow each other. */
		report_u64(r, "for_lane", depth > 1 ? of_depth[depth - 2] : 0);
		report_string(r, "comm", source_comm_at(s, d->task, d->to_ns));
		report_u64(r, "tid", source_tid(s, d->task));
		report_string(r, "role", t->nodes[i].kind == NODE_HOLDER ? "had it" : "ended it");
		report_u64(r, "start_timestamp", d->from_ns);
		report_u64(r, "end_timestamp", d->to_ns);
		report_begin_array(r, "pieces");
		for (uint32_t k = 0; k < d->nr_pieces; k++) {
			report_begin_object(r, NULL);
			report_string(r, "kind", kinds[d->pieces[k].kind]);
			report_u64(r, "start_timestamp", d->pieces[k].start_ns);
			report_u64(r, "end_timestamp", d->pieces[k].end_ns);
			report_end_object(r);
		}
		report_end_array(r);
		report_end_object(r);
	}
	report_end_array(r);
}

static void show_holders(const struct source *s, const struct explain_sleep *e, struct report *r)
{
	report_begin_array(r, "held_by");
	for (uint32_t i = 0; e->is_futex && i < e->nr_holders; i++) {
		const struct explain_holder *h = &e->holders[i];

		report_begin_object(r, NULL);
		report_string(r, "comm", source_comm_at(s, h->task, h->to_ns));
		report_u64(r, "tid", source_tid(s, h->task));
		report_u64(r, "ns", h->to_ns - h->from_ns);
		report_u64(r, "released_timestamp", h->to_ns);
		report_end_object(r);
	}
	report_end_array(r);
}

static void show_sleep(const struct scope *sc, const struct explain_tree *t, struct report *r)
{
	static const char *const states[] = { "S", "D", "other" };
	const struct explain_sleep *e = &t->nodes[0].sleep;
	const struct pair_sleep *row = &e->sleep;
	const struct source *s = sc->s;
	const char *interrupt = explain_sleep_interrupt(s, row, r);

	report_begin_object(r, NULL);
	report_string(r, "comm", source_comm_at(s, row->task, row->start_ns));
	report_u64(r, "tid", source_tid(s, row->task));
	report_u64(r, "sleep_ns", length(row));
	report_bool(r, "is_open", row->is_open);
	report_string(r, "state", states[row->state]);
	report_string(r, "syscall", ev_call_name(e->call));
	report_string(r, "call", explain_call_text(e->call, row->arg, r));
	report_string(r, "for", sleep_for(e->call));
	report_u64(r, "cpu", row->cpu);
	report_u64(r, "start_timestamp", row->start_ns);
	report_u64(r, "end_timestamp", row->end_ns);
	waker_report(s, r,
	             interrupt ? interrupt_key(interrupt_context(row->flags, row->by), row->by)
	                       : row->waker,
	             row->end_ns);
	show_holders(s, e, r);
	report_begin_array(r, "sentences");
	explain_sleep_sentences(s, t, r);
	report_end_array(r);
	show_chain(s, t, r);
	if (sc->args->is_drawn)
		show_lanes(s, t, r);
	report_end_object(r);
}

/* The ledger is of the time that the sleeps cover. */
static int show_sleeps(const struct chosen *c, struct report *r)
{
	SCOPED(scoped_free) struct explain_tree *tree = malloc(sizeof(*tree));
	SCOPED(scoped_ledger) struct ledger *l = NULL;
	uint64_t start_ns = UINT64_MAX, end_ns = 0;
	int err;

	if (!tree)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->nr; i++) {
		start_ns = c->at[i].start_ns < start_ns ? c->at[i].start_ns : start_ns;
		end_ns = c->at[i].end_ns > end_ns ? c->at[i].end_ns : end_ns;
	}
	err = c->nr ? explain_ledger(c->sc->s, start_ns, end_ns, &l) : 0;
	for (uint32_t i = 0; i < c->nr && !err; i++) {
		err = explain_sleep_tree(c->sc->s, l, &c->at[i], tree);
		if (!err)
			show_sleep(c->sc, tree, r);
	}
	return err;
}

int explain_sleeps(const struct scope *sc, uint32_t limit, struct report *r)
{
	SCOPED(chosen_done) struct chosen c = { .sc = sc, .max = limit };
	int err = choose(&c);

	if (err)
		return err;
	report_u64(r, "sleeps_explained", c.nr);
	show_all(&c, r);
	report_begin_array(r, "sleeps");
	err = show_sleeps(&c, r);
	report_end_array(r);
	return err;
}
