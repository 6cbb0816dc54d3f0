#include "machine/parts/verdict.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define TEXT_BYTES 256
#define NAME_BYTES 16
#define REMEMBERED 64U /* intervals */
#define MAIN_SHARE 0.5 /* of a wait: it had the CPU */
#define IDLE_SHARE 0.5 /* a CPU that was busy for less did not keep a task waiting */
#define STEAL_MIN  0.1

/* The longest wait that ended in an interval. */
struct ended {
	uint64_t at_ns, wait_ns;
	uint32_t tid;
	bool is_preempted;
	char name[NAME_BYTES];
};

struct verdict_part {
	struct machine_verdict verdict;
	uint64_t refresh_ns, interval_ns;
	struct ended ended[REMEMBERED]; /* a ring */
	uint32_t next;
	char text[TEXT_BYTES];
};

static int open_part(const struct machine_source_cfg *cfg, struct diag *d, void **out)
{
	(void)cfg;
	*out = calloc(1, sizeof(struct verdict_part));
	return *out ? 0 : diag_set(d, -ENOMEM, NULL, "out of memory");
}

/* What happened while it was not needed is not known. */
static void suspend(void *part)
{
	memset(part, 0, sizeof(struct verdict_part));
}

struct each {
	const struct machine *m;
	size_t i;
};

/* The threads that did anything; NULL at the end. */
static const struct machine_task *next_thread(struct each *e)
{
	const struct machine_order *order = e->m->thread_order;
	size_t nr = order ? order->nr_active : e->m->nr_threads;

	if (e->i == nr)
		return NULL;
	e->i++;
	return &e->m->threads[order ? order->active[e->i - 1] : e->i - 1];
}

static const char *name_of(const struct machine_task *t)
{
	return t->comm && t->comm[0] ? t->comm : "?";
}

static bool has_class(const struct machine_task *t, const char *class)
{
	return t->class_name && strcmp(t->class_name, class) == 0;
}

/* All that it ran in the interval was on its last CPU. */
static bool is_settled(const struct machine_task *t)
{
	return t->migrations_per_s == 0 && t->last_cpu >= 0;
}

/* The task that had a CPU for the largest part of the interval; NULL = it is not known. */
static const struct machine_task *find_holder(const struct machine *m, int32_t cpu)
{
	const struct machine_task *best = NULL, *t;
	struct each e = { .m = m };

	while ((t = next_thread(&e)))
		if (t->last_cpu == cpu && is_settled(t) && t->run > 0 &&
		    (!best || t->run > best->run))
			best = t;
	return best;
}

static const struct machine_cpu *find_cpu(const struct machine *m, int32_t cpu)
{
	for (size_t i = 0; i < m->nr_cpus; i++)
		if ((int32_t)m->cpus[i].cpu == cpu)
			return &m->cpus[i];
	return NULL;
}

/* Which class decides over others; an ordinary task needs no word. */
static const char *word_of(const struct machine_task *t)
{
	return has_class(t, "rt") ? "real-time " : has_class(t, "dl") ? "deadline " : "";
}

/* Whether it had the CPU for most of the wait, as far as that lies in the interval: before the wait it may have run, too. */
static bool has_held(const struct machine_task *by, uint64_t wait_ns, uint64_t interval_ns)
{
	double wait = (double)(wait_ns < interval_ns ? wait_ns : interval_ns);

	return by->run * (double)interval_ns - ((double)interval_ns - wait) >= MAIN_SHARE * wait;
}

static void say_stalled(struct verdict_part *v, const struct machine *m,
                        const struct machine_task *t)
{
	/* A task of sched_ext may wait in a queue of many CPUs. */
	bool is_placed = is_settled(t) && !has_class(t, "ext");
	const struct machine_task *by = is_placed ? find_holder(m, t->last_cpu) : NULL;
	const struct machine_cpu *cpu = is_placed ? find_cpu(m, t->last_cpu) : NULL;
	char wait[24], last[24];
	int at;

	text_duration(wait, sizeof(wait), t->stall_ns);
	text_duration(last, sizeof(last), v->interval_ns);
	if (!is_placed)
		at = snprintf(v->text, TEXT_BYTES, "%.15s [%u] has waited %s for a CPU", name_of(t),
		              t->tid, wait);
	else
		at = snprintf(v->text, TEXT_BYTES, "CPU %d: %.15s [%u] has waited %s", t->last_cpu,
		              name_of(t), t->tid, wait);
	if (by && has_held(by, t->stall_ns, v->interval_ns))
		snprintf(v->text + at, TEXT_BYTES - (size_t)at,
		         " behind %s%.15s [%u], which had that CPU for %.0f%% of the last %s",
		         word_of(by), name_of(by), by->tid, fmin(by->run, 1) * 100, last);
	else if (cpu && cpu->busy < IDLE_SHARE)
		snprintf(v->text + at, TEXT_BYTES - (size_t)at,
		         ", although that CPU was idle for %.0f%% of the last %s",
		         (1 - cpu->busy) * 100, last);
	v->verdict = (struct machine_verdict){ v->text, t->tid, t->stall_ns, true };
}

static const struct machine_task *longest_stall(const struct machine *m)
{
	const struct machine_task *worst = NULL, *t;
	struct each e = { .m = m };

	while ((t = next_thread(&e)))
		if (t->stall_ns && (!worst || t->stall_ns > worst->stall_ns))
			worst = t;
	return worst;
}

static void remember_ended(struct verdict_part *v, const struct machine *m, uint64_t now_ns)
{
	struct ended *to = &v->ended[v->next++ % REMEMBERED];
	const struct machine_task *t;
	struct each e = { .m = m };

	*to = (struct ended){ .at_ns = now_ns };
	while ((t = next_thread(&e))) {
		uint64_t woken = t->latency.count ? t->latency.max_ns : 0;
		uint64_t preempted = t->preempted.count ? t->preempted.max_ns : 0;
		uint64_t wait_ns = woken > preempted ? woken : preempted;

		if (wait_ns <= to->wait_ns)
			continue;
		to->wait_ns = wait_ns;
		to->tid = t->tid;
		to->is_preempted = preempted > woken;
		snprintf(to->name, sizeof(to->name), "%.15s", name_of(t));
	}
}

static bool say_stolen(struct verdict_part *v, const struct machine *m)
{
	const struct machine_cpu *worst = NULL;

	for (size_t i = 0; i < m->nr_cpus; i++)
		if (m->cpus[i].steal >= STEAL_MIN && (!worst || m->cpus[i].steal > worst->steal))
			worst = &m->cpus[i];
	if (!worst)
		return false;
	snprintf(v->text, TEXT_BYTES, "CPU %u: the hypervisor took %.0f%% of its time", worst->cpu,
	         worst->steal * 100);
	v->verdict = (struct machine_verdict){ .text = v->text };
	return true;
}

static void say_ended(struct verdict_part *v, uint64_t now_ns)
{
	const struct ended *worst = NULL;
	char wait[24];

	for (uint32_t i = 0; i < REMEMBERED; i++)
		if (v->ended[i].tid && v->ended[i].at_ns + VERDICT_NS > now_ns &&
		    (!worst || v->ended[i].wait_ns > worst->wait_ns))
			worst = &v->ended[i];
	if (!worst)
		return;
	snprintf(v->text, TEXT_BYTES, "longest wait of the last %llu s: %s [%u], %s%s",
	         VERDICT_NS / 1000000000ULL, worst->name, worst->tid,
	         text_duration(wait, sizeof(wait), worst->wait_ns),
	         worst->is_preempted ? " after preemption" : " after a wakeup");
	v->verdict = (struct machine_verdict){ v->text, worst->tid, worst->wait_ns, false };
}

static void refresh(void *part, const struct machine_part_refresh *r)
{
	struct verdict_part *v = part;
	const struct machine_task *stalled = longest_stall(r->machine);

	v->interval_ns = v->refresh_ns ? r->now_ns - v->refresh_ns : 0;
	v->refresh_ns = r->now_ns;
	v->verdict = (struct machine_verdict){ 0 };
	remember_ended(v, r->machine, r->now_ns);
	if (stalled && v->interval_ns)
		say_stalled(v, r->machine, stalled);
	else if (!say_stolen(v, r->machine))
		say_ended(v, r->now_ns);
	r->machine->verdict = v->verdict.text ? &v->verdict : NULL;
}

const struct machine_part machine_part_verdict = {
	.name = "verdict",
	.needs = MACHINE_VERDICT,
	.open = open_part,
	.refresh = refresh,
	.suspend = suspend,
	.close = free,
};
