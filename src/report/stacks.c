#include "report/stacks.h"

#include "analyze/source.h"
#include "model/tasks.h"
#include "report/html.h"

#define LATE_NS    50000U /* from an event to the stamp of its stack, at most */
#define NO_STACK   UINT32_MAX
#define ANY_TID    UINT32_MAX
#define MAX_FRAMES 64U

/* Which sample is meant. */
struct wanted {
	uint32_t kind; /* enum source_stack_kind */
	uint32_t tid;  /* ANY_TID = any */
	uint32_t cpu;  /* PAIR_NO_CPU = any */
	uint64_t at_ns;
};

/* The first sample that is not before a time. */
static size_t first_from(const struct source_stacks *all, uint64_t ts_ns)
{
	size_t low = 0, high = all->nr_samples;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all->samples[middle].ts_ns < ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The stack of the nearest one; NO_STACK = there is none. */
static uint32_t find(const struct source_stacks *all, const struct wanted *w)
{
	uint64_t nearest = LATE_NS + 1;
	uint32_t stack = NO_STACK;

	for (size_t i = first_from(all, w->at_ns > LATE_NS ? w->at_ns - LATE_NS : 0);
	     i < all->nr_samples && all->samples[i].ts_ns <= w->at_ns + LATE_NS; i++) {
		const struct source_sample *s = &all->samples[i];
		uint64_t away = s->ts_ns > w->at_ns ? s->ts_ns - w->at_ns : w->at_ns - s->ts_ns;

		if (s->kind != w->kind || s->stack >= all->nr_stacks || away >= nearest ||
		    (w->tid != ANY_TID && s->tid != w->tid) ||
		    (w->cpu != PAIR_NO_CPU && s->cpu != w->cpu && s->cpu != UINT32_MAX))
			continue;
		nearest = away;
		stack = s->stack;
	}
	return stack;
}

static void put(const struct source_stacks *all, uint32_t stack, const char *title, FILE *out)
{
	const struct source_stack *s = &all->stacks[stack];

	fprintf(out,
	        "<details><summary>%s</summary>\n<pre class=\"stack\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">",
	        title, title);
	for (uint32_t i = 0; i < s->nr && i < MAX_FRAMES; i++) {
		const struct source_frame *f = &all->frames[all->stack_frames[s->first + i]];

		html_text(out, *f->name ? f->name : "?");
		if (*f->module) {
			fputs("  [", out);
			html_text(out, f->module);
			fputc(']', out);
		}
		fputc('\n', out);
	}
	if (s->nr > MAX_FRAMES)
		fprintf(out, "... and %u more\n", s->nr - MAX_FRAMES);
	fputs("</pre></details>\n", out);
}

/* When the sleep began that the wakeup ended; 0 = it is not known. */
static int sleep_start(const struct content *c, const struct pair_wait *w, uint64_t *out)
{
	uint64_t woken = pair_wait_woken_ns(w);
	struct timeline_query q = { .table = TIMELINE_SLEEP,
		                    .task = w->task,
		                    .cpu = TIMELINE_ANY_CPU,
		                    .from_ns = woken ? woken - 1 : 0,
		                    .to_ns = woken + 1 };
	struct timeline_iter it;
	union timeline_row row;
	int err = timeline_find(c->source.timeline, &q, &it);

	*out = 0;
	while (!err && timeline_next(&it, NULL, &row))
		*out = row.sleep.start_ns;
	return err;
}

int stacks_write(const struct content *c, const struct pair_wait *w, FILE *out)
{
	const struct source_stacks *all = c->source.stacks;
	struct wanted slept = { .kind = SOURCE_STACK_OFF_CPU,
		                .tid = source_tid(&c->source, w->task),
		                .cpu = PAIR_NO_CPU };
	struct wanted woken = { .kind = SOURCE_STACK_WAKER,
		                .tid = w->waker == TASKS_NONE ? ANY_TID
		                                              : source_tid(&c->source, w->waker),
		                .cpu = w->waker_cpu,
		                .at_ns = pair_wait_woken_ns(w) };
	uint32_t stack;
	int err;

	if (!all || w->cause == PAIR_PREEMPTED)
		return 0;
	err = sleep_start(c, w, &slept.at_ns);
	if (err)
		return err;
	stack = slept.at_ns ? find(all, &slept) : NO_STACK;
	if (stack != NO_STACK)
		put(all, stack, "Where it slept", out);
	stack = find(all, &woken);
	if (stack != NO_STACK)
		put(all, stack, "From where it was woken", out);
	return 0;
}
