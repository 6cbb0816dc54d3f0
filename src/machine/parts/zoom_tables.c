#include "machine/parts/zoom_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"
#include "machine/machine_interval.h"
#include "model/interrupt.h"
#include "sys/proc/irq_names.h"

_Static_assert(MACHINE_ZOOM_HOLDERS == ZOOM_HOLDERS, "as many as the kernel reports");
_Static_assert((int)MACHINE_SLEEPS == ZOOM_SLEEPS, "in the order of the kernel side");

/* The slots are the truth: a reader may see a sample half added. */
static struct machine_dist dist_of(const struct abi_hist *from)
{
	const struct abi_extremes *e = &from->extremes[1];
	struct hist h = { .sum_ns = from->sum_ns,
		          .min_ns = e->min_ns,
		          .max_ns = e->max_ns,
		          .max_at_ns = e->max_at_ns,
		          .max_cpu = e->max_cpu };

	for (uint32_t i = 0; i < HIST_SLOTS; i++) {
		h.slots[i] = from->slots[i];
		h.count += from->slots[i];
	}
	return machine_dist_of(&h);
}

static enum machine_from from_of(uint32_t context)
{
	if (context == ABI_IN_HARDIRQ)
		return MACHINE_FROM_HARDIRQ;
	if (context == ABI_IN_NMI)
		return MACHINE_FROM_NMI;
	return context == ABI_IN_SOFTIRQ ? MACHINE_FROM_SOFTIRQ : MACHINE_FROM_THREAD;
}

/* Devices are read again at each refresh: an interrupt may get another one. */
static void name_interrupt(char to[MACHINE_INTERRUPT], uint32_t context, uint16_t by)
{
	char device[MACHINE_INTERRUPT], text[INTERRUPT_TEXT];
	struct interrupt i = { .in = (enum abi_context)context, .by = by };
	uint32_t irq;

	if (!interrupt_is(i.in))
		return;
	if (interrupt_irq(by, &irq) && !irq_name_read("", irq, device, sizeof(device)))
		i.device = device;
	(void)snprintf(to, MACHINE_INTERRUPT, "%s", interrupt_title(&i, text));
}

static enum machine_cause cause_of(uint32_t cause)
{
	if (cause == STAT_CAUSE_PREEMPTED)
		return MACHINE_PREEMPTED;
	return cause == STAT_CAUSE_NEW ? MACHINE_NEW : MACHINE_WOKEN;
}

static int by_count(const void *a, const void *b)
{
	const struct machine_waker *x = a, *y = b;

	if (x->wait.count != y->wait.count)
		return x->wait.count < y->wait.count ? 1 : -1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return strcmp(x->interrupt, y->interrupt);
}

static int by_time(const void *a, const void *b)
{
	const struct machine_rival *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static size_t fill_wakers(struct machine_waker *out, const struct zoom_reading *r)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->nr_wakers; i++) {
		enum machine_from from = from_of(r->waker_keys[i].context);
		struct machine_dist wait = dist_of(&r->wakers[i].waits);

		if (!wait.count) /* is just being made */
			continue;
		out[nr] = (struct machine_waker){
			.tid = r->waker_keys[i].tid,
			.comm = from == MACHINE_FROM_THREAD ? r->wakers[i].comm : NULL,
			.from = from,
			.is_from_known = r->waker_keys[i].context != ABI_IN_UNKNOWN,
			.wait = wait,
		};
		name_interrupt(out[nr++].interrupt, r->waker_keys[i].context, r->waker_keys[i].by);
	}
	qsort(out, nr, sizeof(*out), by_count);
	return nr;
}

static size_t fill_rivals(struct machine_rival *out, const struct zoom_reading *r)
{
	uint64_t sum = r->state->other_rivals.ns;

	for (size_t i = 0; i < r->nr_rivals; i++)
		sum += r->rivals[i].ns;
	for (size_t i = 0; i < r->nr_rivals; i++) {
		const struct zoom_rival *from = &r->rivals[i];

		out[i] = (struct machine_rival){
			.tid = r->rival_tids[i],
			.comm = r->rival_tids[i] ? from->comm : "idle",
			.ns = from->ns,
			.max_ns = from->max_ns,
			.share = sum ? (double)from->ns / (double)sum : 0,
			.times = from->nr,
			.taken = from->nr_taken,
		};
	}
	qsort(out, r->nr_rivals, sizeof(*out), by_time);
	return r->nr_rivals;
}

static void fill_wait(struct machine_zoom_wait *out, const struct zoom_wait *w)
{
	*out = (struct machine_zoom_wait){
		.start_ns = w->start_ns,
		.wait_ns = w->end_ns > w->start_ns ? w->end_ns - w->start_ns : 0,
		.run_ns = w->run_ns,
		.sleep_ns = w->sleep_ns,
		.sleep = w->sleep_state < MACHINE_SLEEPS ? (enum machine_sleep)w->sleep_state
		                                         : MACHINE_SLEEP_OTHER,
		.cause = cause_of(w->cause),
		.from = from_of(w->context),
		.from_cpu = (int32_t)w->from_cpu,
		.queue_cpu = (int32_t)w->queue_cpu,
		.cpu = (int32_t)w->cpu,
		.waker_tid = w->waker_tid,
		.others_ns = w->others_ns,
		.nr_holders = w->nr_holders < ZOOM_HOLDERS ? w->nr_holders : ZOOM_HOLDERS,
	};
	if (out->from == MACHINE_FROM_THREAD)
		out->waker_comm = w->waker_comm;
	name_interrupt(out->interrupt, w->context, w->by);
	for (uint32_t i = 0; i < out->nr_holders; i++)
		out->holders[i] = (struct machine_holder){
			.tid = w->holders[i].tid,
			.comm = w->holders[i].tid ? w->holders[i].comm : "idle",
			.ns = w->holders[i].ns,
			.times = w->holders[i].nr,
		};
}

void zoom_tables_fill(struct zoom_tables *t, const struct zoom_reading *r, struct machine_zoom *out)
{
	for (uint32_t i = 0; i < ZOOM_CAUSES; i++)
		out->waits[cause_of(i)] = dist_of(&r->state->delays[i]);
	for (uint32_t i = 0; i < ZOOM_SLEEPS; i++)
		out->sleeps[i] = (struct machine_zoom_sleep){ r->state->sleeps[i].nr,
			                                      r->state->sleeps[i].ns,
			                                      r->state->sleeps[i].max_ns };
	out->migrations = r->state->nr_migrations;
	out->missed = r->missed;
	out->cut = r->state->nr_cut;
	out->cut_ns = r->state->cut_ns;
	out->wakers = t->wakers;
	out->nr_wakers = fill_wakers(t->wakers, r);
	out->other_wakers = dist_of(&r->state->other_wakers);
	out->rivals = t->rivals;
	out->nr_rivals = fill_rivals(t->rivals, r);
	out->other_rivals_ns = r->state->other_rivals.ns;
	out->last = t->waits;
	out->nr_last = r->nr_waits;
	for (size_t i = 0; i < r->nr_waits; i++)
		fill_wait(&t->waits[i], &r->waits[i]);
}
