/* Lines that are no events: comments, and what they say about the recording. */
#include <stdlib.h>

#include "trace/text/text.h"

#define IRQ_FLAG_MAX 3U /* the shortest column of flags has one more */
#define NR_CPUS_MAX  READER_CPUS_MAX

/* Behind word, wherever it is. */
static bool find_after(struct span in, const char *word, struct span *after)
{
	size_t len = strlen(word);
	const char *at = span_find(in, word, len);

	if (!at)
		return false;
	*after = (struct span){ at + len, in.end };
	return true;
}

static void take_nr_cpus(struct reader *r, struct span in)
{
	uint64_t nr;

	if (span_number(&in, &nr) && nr && nr <= NR_CPUS_MAX)
		r->info.nr_cpus_reported = (uint32_t)nr;
}

/* "=> hardirq/softirq": the flags are described one a line, in their order. */
static void take_flag(struct text_header *h, struct text_columns *c, struct span in)
{
	struct span after;

	if (find_after(in, "=> CPU#", &after))
		return;
	if (find_after(in, "=> irqs-off", &after))
		h->nr_flags = 0;
	if (find_after(in, "=> hardirq/softirq", &after) && h->nr_flags <= IRQ_FLAG_MAX)
		c->irq_flag = h->nr_flags;
	h->nr_flags++;
}

/* "use_clockid = 1, clockid = 1": of each event of perf; only what all of them say counts. */
static void take_clock(struct text_header *h, struct span in)
{
	static const struct {
		uint64_t id; /* of clock_gettime() */
		uint32_t clock;
	} known[] = { { 0, CLOCK_ID_REALTIME },
		      { 1, CLOCK_ID_MONOTONIC },
		      { 4, CLOCK_ID_MONOTONIC_RAW },
		      { 7, CLOCK_ID_BOOTTIME } };
	uint32_t clock = 0;
	uint64_t id;
	struct span after;

	if (find_after(in, "use_clockid = 1", &after)) {
		if (!find_after(after, ", clockid = ", &after) || !span_number(&after, &id))
			id = 0; /* is not printed where it is 0 */
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (known[i].id == id)
				clock = known[i].clock;
	}
	if (h->nr_clock_said++ && clock != h->clock)
		h->has_other_clock = true;
	h->clock = clock;
}

/* "# hostname : vm" and others that perf script --header prints. */
static void take_perf_fact(struct reader *r, struct text_header *h, struct span in)
{
	const struct {
		const char *key;
		const char **to;
	} facts[] = {
		{ "# hostname : ", &r->info.machine_name },
		{ "# os release : ", &r->info.release },
		{ "# arch : ", &r->info.machine },
		{ "# perf version : ", &r->info.producer_version },
	};
	struct span after;

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (span_begins(in, facts[i].key, strlen(facts[i].key)) && !**facts[i].to) {
			in.at += strlen(facts[i].key);
			*facts[i].to = info_text(r, in.at, span_len(in));
			r->info.sysname = "Linux";
			return;
		}
	if (find_after(in, "# nrcpus online : ", &after))
		take_nr_cpus(r, after);
	else if (SPAN_BEGINS(in, "# event : name = "))
		take_clock(h, in);
}

bool text_comment(struct reader *r, struct text_header *h, struct text_columns *c, struct span in)
{
	struct span after;

	span_skip_spaces(&in);
	if (in.at == in.end)
		return true;
	if (*in.at != '#')
		return false;
	if (find_after(in, "#P:", &after))
		take_nr_cpus(r, after);
	if (find_after(in, "=> ", &after))
		take_flag(h, c, in);
	else if (SPAN_BEGINS(in, "# tracer: function_graph"))
		h->is_graph = true;
	else if (find_after(in, " trace v1", &after) && find_after(after, " on ", &after) &&
	         !*r->info.release)
		r->info.release = info_text(r, after.at, span_len(after));
	else
		take_perf_fact(r, h, in);
	return true;
}

bool text_is_remark(struct reader *r, struct span in)
{
	struct span from = in, after;
	uint64_t cpu;

	if (SPAN_TAKE(&in, "cpus=")) {
		if (r)
			take_nr_cpus(r, in);
		return true;
	}
	span_skip_spaces(&from);
	if (SPAN_BEGINS(from, "=> ")) /* a frame of a stack of ftrace */
		return true;
	if (SPAN_TAKE(&from, "CPU ") && span_number(&from, &cpu) && SPAN_BEGINS(from, " is empty"))
		return true;
	return SPAN_BEGINS(in, "version = ") || SPAN_BEGINS(in, "TRACE:") ||
	       SPAN_BEGINS(in, "capturing trace") || SPAN_BEGINS(in, "trace-cmd: ") ||
	       (SPAN_BEGINS(in, "Trace starting at ") && find_after(in, "events", &after));
}

bool text_is_loss(struct span in, uint64_t *cpu, uint64_t *count)
{
	struct span at;

	*count = 0;
	/* Behind the name of the buffer, where there are several. */
	if (span_len(in) > 200 || !find_after(in, "CPU:", &at) || !span_number(&at, cpu) ||
	    !SPAN_TAKE(&at, " ["))
		return false;
	if (SPAN_TAKE(&at, "LOST ")) {
		if (span_number(&at, count) && !SPAN_TAKE(&at, " "))
			return false;
		return SPAN_BEGINS(at, "EVENTS]");
	}
	if (span_number(&at, count) && !SPAN_TAKE(&at, " "))
		return false;
	return SPAN_BEGINS(at, "EVENTS DROPPED]");
}
