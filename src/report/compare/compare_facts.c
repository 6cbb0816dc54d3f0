#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/compare/compare_priv.h"

#define LENGTHS_APART 0.1 /* of the longer one, from which it is said */
#define TEXT_BYTES    64

/* A fact of one recording as a text. */
typedef const char *fact_fn(const struct compare_facts *f, char buf[TEXT_BYTES]);

static const char *number(uint64_t value, char buf[TEXT_BYTES])
{
	if (!value)
		return "unknown";
	snprintf(buf, TEXT_BYTES, "%" PRIu64, value);
	return buf;
}

static const char *cpus(const struct compare_facts *f, char buf[TEXT_BYTES])
{
	return number(f->nr_cpus, buf);
}

static const char *llcs(const struct compare_facts *f, char buf[TEXT_BYTES])
{
	return number(f->nr_llcs, buf);
}

static const char *nodes(const struct compare_facts *f, char buf[TEXT_BYTES])
{
	return number(f->nr_nodes, buf);
}

static const char *machine(const struct compare_facts *f, char buf[TEXT_BYTES])
{
	(void)buf;
	return f->machine ? f->machine : "unknown";
}

static const char *release(const struct compare_facts *f, char buf[TEXT_BYTES])
{
	(void)buf;
	return f->release ? f->release : "unknown";
}

static const char *scheduler(const struct compare_facts *f, char buf[TEXT_BYTES])
{
	(void)buf;
	return f->scheduler ? f->scheduler
	       : f->has_scx ? "one whose name is unknown"
	                    : "none known";
}

static const char *filter(const struct compare_facts *f, char buf[TEXT_BYTES])
{
	(void)buf;
	return f->filter ? f->filter : "all tasks, or unknown";
}

static const char *waking(const struct compare_facts *f, char buf[TEXT_BYTES])
{
	(void)buf;
	return f->has_waking ? "sched_waking" : "sched_wakeup";
}

static const char *producer(const struct compare_facts *f, char buf[TEXT_BYTES])
{
	(void)buf;
	return f->producer ? f->producer : "unknown";
}

static const char *losses(const struct compare_facts *f, char buf[TEXT_BYTES])
{
	snprintf(buf, TEXT_BYTES, "%" PRIu64 " lost", f->lost);
	return f->lost ? buf : "none reported";
}

static const char *ending(const struct compare_facts *f, char buf[TEXT_BYTES])
{
	(void)buf;
	return f->incomplete ? f->incomplete : "complete";
}

static const char *holes(const struct compare_facts *f, char buf[TEXT_BYTES])
{
	char t[TEXT_BYTES / 2];

	if (f->span_ns == f->covered_ns)
		return "none";
	snprintf(buf, TEXT_BYTES, "%s", text_duration(t, sizeof(t), f->span_ns - f->covered_ns));
	return buf;
}

static const char *length(const struct compare_facts *f, char buf[TEXT_BYTES])
{
	return text_duration(buf, TEXT_BYTES, f->span_ns);
}

/* Each text once; what does not fit is cut. */
static void join(const struct compare_list *list, fact_fn *fact, char *dst, size_t size)
{
	size_t len = 0;

	*dst = 0;
	for (uint32_t i = 0; i < list->nr && len < size; i++) {
		char mine[TEXT_BYTES], theirs[TEXT_BYTES];
		const char *text = fact(&list->at[i].facts, mine);
		bool is_known = false;

		for (uint32_t k = 0; k < i && !is_known; k++)
			is_known = strcmp(fact(&list->at[k].facts, theirs), text) == 0;
		if (!is_known)
			len += (size_t)snprintf(dst + len, size - len, "%s%s", len ? ", " : "",
			                        text);
	}
}

/* Whether it is not the same text in all recordings of both sides. */
static bool differs(const struct report_compare *c, fact_fn *fact)
{
	char mine[TEXT_BYTES], first[TEXT_BYTES];
	const char *all = fact(&c->sides[COMPARE_BEFORE].at[0].facts, first);

	for (int side = 0; side < COMPARE_SIDES; side++)
		for (uint32_t i = 0; i < c->sides[side].nr; i++)
			if (strcmp(fact(&c->sides[side].at[i].facts, mine), all) != 0)
				return true;
	return false;
}

static void state_fact(struct report_compare *c, const char *what, const char *meaning,
                       fact_fn *fact)
{
	struct compare_difference *d = &c->differences[c->nr_differences++];

	d->what = what;
	d->meaning = meaning;
	for (int side = 0; side < COMPARE_SIDES; side++)
		join(&c->sides[side], fact, d->texts[side], sizeof(d->texts[side]));
}

/* Stated where recordings differ. */
static const struct fact {
	const char *what;
	const char *meaning;
	fact_fn *text;
} facts[] = {
	{ "CPUs",
	  "Other waits are to be expected on another number of CPUs, whatever else was changed.",
	  cpus },
	{ "last-level caches", "Tasks have other CPUs to move to.", llcs },
	{ "NUMA nodes", "Tasks have other CPUs to move to.", nodes },
	{ "architecture", "The machines are different ones.", machine },
	{ "kernel", "Whatever else was changed, the scheduler may be another one.", release },
	{ "scheduler of sched_ext", "If this is what was changed, it is the comparison.",
	  scheduler },
	{ "recorded tasks", "Not the same tasks were recorded: sums of all tasks do not compare.",
	  filter },
	{ "latency begins with",
	  "Latencies from the waking include the way to the queue, those from the wakeup do not: they do not compare.",
	  waking },
	{ "recorder", "Recorders cost the machine unequal time.", producer },
};

/* Whether a recording is not as good as it should be, even if all are alike in it. */
static bool is_any(const struct report_compare *c, fact_fn *fact, const char *good)
{
	char buf[TEXT_BYTES];

	return differs(c, fact) || strcmp(fact(&c->sides[0].at[0].facts, buf), good) != 0;
}

static bool are_lengths_apart(const struct report_compare *c)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (int side = 0; side < COMPARE_SIDES; side++)
		for (uint32_t i = 0; i < c->sides[side].nr; i++) {
			uint64_t span_ns = c->sides[side].at[i].facts.span_ns;

			least = span_ns < least ? span_ns : least;
			most = span_ns > most ? span_ns : most;
		}
	return (double)(most - least) > LENGTHS_APART * (double)most;
}

_Static_assert(sizeof(facts) / sizeof(facts[0]) + 4 <= COMPARE_MAX_DIFFERENCES, "room for each");

void compare_facts_fill(struct report_compare *c)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (differs(c, facts[i].text))
			state_fact(c, facts[i].what, facts[i].meaning, facts[i].text);
	if (is_any(c, losses, "none reported"))
		state_fact(c, "events",
		           "Waits whose events were lost are missing or too long: see how many.",
		           losses);
	if (is_any(c, ending, "complete"))
		state_fact(c, "end of the recording", "What came after is missing.", ending);
	if (is_any(c, holes, "none"))
		state_fact(c, "time not recorded",
		           "Rates leave it out; waits across it are unknown.", holes);
	if (are_lengths_apart(c))
		state_fact(
			c, "length",
			"Rates are per second, so that both compare; the longest of more waits is longer.",
			length);
}
