/* analyze/explain — a wait in plain sentences. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/explain.h"
#include "base/text.h"

#define NAME_BYTES 48
#define TIME_BYTES 24
#define LIST_BYTES 64
#define SMALL_PART 20 /* less than a 20th of the wait is not worth a sentence */

static const char *time_text(char buf[TIME_BYTES], uint64_t ns)
{
	return text_duration(buf, TIME_BYTES, ns);
}

/* "nginx (1234)". */
static const char *name_text(const struct source *s, uint32_t task, char buf[NAME_BYTES])
{
	snprintf(buf, NAME_BYTES, "%s (%" PRIu32 ")", source_comm(s, task), source_tid(s, task));
	return buf;
}

static unsigned int percent(uint64_t part, uint64_t whole)
{
	return whole ? (unsigned int)(100.0 * (double)part / (double)whole + 0.5) : 0;
}

static void say_what(const struct source *s, const struct explain_wait *e, struct report *r)
{
	const struct pair_wait *w = &e->wait;
	char name[NAME_BYTES], waker[NAME_BYTES], t[TIME_BYTES], at[TIME_BYTES];
	const char *irq = w->flags & EV_FLAG_HARDIRQ   ? "an interrupt"
	                  : w->flags & EV_FLAG_SOFTIRQ ? "a softirq"
	                                               : NULL;

	name_text(s, w->task, name);
	time_text(t, explain_wait_ns(e));
	time_text(at, e->start_ns - s->start_ns);
	if (w->cause == PAIR_PREEMPTED && w->waker != TASKS_NONE)
		report_string(
			r, NULL,
			report_printf(
				r,
				"%s lost CPU %u to %s %s after the start and waited %s to run again.",
				name, w->from_cpu != PAIR_NO_CPU ? w->from_cpu : w->cpu,
				name_text(s, w->waker, waker), at, t));
	else if (w->cause == PAIR_PREEMPTED)
		report_string(
			r, NULL,
			report_printf(
				r, "%s lost its CPU %s after the start and waited %s to run again.",
				name, at, t));
	else if (irq)
		report_string(
			r, NULL,
			report_printf(
				r,
				"%s was woken by %s %s after the start and waited %s for CPU %u.",
				name, irq, at, t, w->cpu));
	else
		report_string(
			r, NULL,
			report_printf(
				r, "%s was %s by %s %s after the start and waited %s for CPU %u.",
				name, w->cause == PAIR_NEW ? "started" : "woken",
				w->waker == TASKS_NONE ? "somebody unknown"
						       : name_text(s, w->waker, waker),
				at, t, w->cpu));
}

static void say_runners(const struct source *s, const struct explain_wait *e, struct report *r)
{
	uint64_t wait = explain_wait_ns(e);
	char name[NAME_BYTES], t[TIME_BYTES];
	uint32_t shown = 0;

	for (uint32_t i = 0; i < e->nr_runners && i < EXPLAIN_MAX_RUNNERS && shown < 3; i++) {
		const struct explain_runner *run = &e->runners[i];

		if (run->ns < wait / SMALL_PART)
			break;
		report_string(r, NULL,
		              report_printf(r, "%s ran %s for %s of it (%u %%), in %u slice%s.",
		                            shown ? "It also"
		                                  : report_printf(r, "Meanwhile CPU %u",
		                                                  e->wait.cpu),
		                            name_text(s, run->task, name), time_text(t, run->ns),
		                            percent(run->ns, wait), run->nr_slices,
		                            run->nr_slices == 1 ? "" : "s"));
		shown++;
	}
	if (e->nr_runners > shown && shown)
		report_string(r, NULL,
		              report_printf(r, "%u other task%s had the rest.",
		                            e->nr_runners - shown,
		                            e->nr_runners - shown == 1 ? "" : "s"));
}

static void say_rest(const struct explain_wait *e, struct report *r)
{
	uint64_t wait = explain_wait_ns(e), small = wait / SMALL_PART;
	char t[TIME_BYTES], t2[TIME_BYTES];

	if (e->irq_ns + e->softirq_ns > small)
		report_string(r, NULL,
		              report_printf(r, "Interrupts took %s and softirqs %s on that CPU.",
		                            time_text(t, e->irq_ns), time_text(t2, e->softirq_ns)));
	if (e->idle_ns > small)
		report_string(
			r, NULL,
			report_printf(
				r,
				"CPU %u itself was idle for %s of the wait (%u %%): it had to wake up first.",
				e->wait.cpu, time_text(t, e->idle_ns), percent(e->idle_ns, wait)));
	if (e->unknown_ns > small)
		report_string(
			r, NULL,
			report_printf(
				r, "What CPU %u did for %s of it is not known: events are missing.",
				e->wait.cpu, time_text(t, e->unknown_ns)));
	if (e->nr_migrations)
		report_string(r, NULL,
		              report_printf(r, "It was moved %u time%s while it waited.",
		                            e->nr_migrations, e->nr_migrations == 1 ? "" : "s"));
}

/* The CPUs of the recording that it may use, "0-3,8"; false if that is all of them, or too many words. */
static bool list_bound(const struct source *s, const struct explain_wait *e, char *buf, size_t size)
{
	uint32_t nr = pair_nr_cpus(s->pair), end;
	bool is_bound = false;
	size_t len = 0;

	for (uint32_t cpu = 0; cpu < nr && len < size; cpu = end + 1) {
		for (end = cpu; end < nr && source_may_use(s, e->wait.task, end, e->wait.end_ns);
		     end++)
			;
		is_bound |= end < nr;
		if (end == cpu)
			continue;
		len += (size_t)snprintf(buf + len, size - len, end - cpu > 1 ? "%s%u-%u" : "%s%u",
		                        len ? "," : "", cpu, end - 1);
	}
	return is_bound && len && len < size;
}

static void say_bound(const struct source *s, const struct explain_wait *e, struct report *r)
{
	char cpus[LIST_BYTES];

	if (source_is_bound(s, e->wait.task) && list_bound(s, e, cpus, sizeof(cpus)))
		report_string(r, NULL,
		              report_printf(r, "It is bound to CPU%s %s and may run nowhere else.",
		                            strpbrk(cpus, "-,") ? "s" : "", cpus));
}

static void say_idle(const struct source *s, const struct explain_wait *e, struct report *r)
{
	uint64_t wait = explain_wait_ns(e);
	char t[TIME_BYTES], t2[TIME_BYTES];
	int32_t llc = source_llc(s, e->wait.cpu);

	if (e->any_idle_ns <= wait / SMALL_PART) {
		report_string(r, NULL, "No other CPU that it may use was idle meanwhile.");
		return;
	}
	report_string(
		r, NULL,
		report_printf(
			r,
			"For %s of it (%u %%) another CPU that it may use was idle, CPU %u for %s%s: "
			"the scheduler could have run it there.",
			time_text(t, e->any_idle_ns), percent(e->any_idle_ns, wait), e->idle[0].cpu,
			time_text(t2, e->idle[0].ns),
			llc >= 0 && llc == source_llc(s, e->idle[0].cpu) ? " (same cache)" : ""));
}

static void say_links(const struct source *s, const struct explain_link *links, uint32_t nr,
                      struct report *r)
{
	char name[NAME_BYTES], t[TIME_BYTES], t2[TIME_BYTES];
	uint64_t sum = links[0].wait_ns;

	for (uint32_t i = 1; i < nr; i++) {
		sum += links[i].wait_ns;
		report_string(r, NULL,
		              report_printf(r, "Before that, %s had itself waited %s and run %s.",
		                            name_text(s, links[i].wait.task, name),
		                            time_text(t, links[i].wait_ns),
		                            time_text(t2, links[i].run_ns)));
	}
	if (nr > 1)
		report_string(r, NULL,
		              report_printf(r,
		                            "Along this chain of %u tasks the waits add up to %s.",
		                            nr, time_text(t, sum)));
}

void explain_sentences(const struct source *s, const struct explain_wait *e,
                       const struct explain_link *links, uint32_t nr_links, struct report *r)
{
	say_what(s, e, r);
	say_runners(s, e, r);
	say_rest(e, r);
	say_bound(s, e, r);
	say_idle(s, e, r);
	say_links(s, links, nr_links, r);
}
