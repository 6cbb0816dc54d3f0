#include "report/detail.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/latency.h"
#include "base/cleanup.h"
#include "base/grow.h"

/* Bytes of a row, as they come out of the compression, in base64. */
#define SLICE_BYTES 9U
#define WAIT_BYTES  13U
#define PART_BYTES  6U
#define PAD_NS      200000U /* before and after a wait, at least */
#define MAX_HALVES  24

static void clear(struct detail *d)
{
	d->nr_slices = 0;
	d->nr_waits = 0;
	d->nr_parts = 0;
}

void detail_done(struct detail *d)
{
	free(d->spans);
	free(d->slices);
	free(d->waits);
	free(d->parts);
	*d = (struct detail){ 0 };
}

struct detail_work {
	struct detail *d;
	const struct gather *g;
	uint64_t max_bytes;
};

static bool is_full(const struct detail_work *x)
{
	const struct detail *d = x->d;

	return d->nr_slices * SLICE_BYTES + d->nr_waits * WAIT_BYTES + d->nr_parts * PART_BYTES >
	       x->max_bytes;
}

static uint32_t raw_at(const struct detail_work *x, uint32_t task, uint64_t ts_ns)
{
	return who_at(x->g->who, task, ts_ns);
}

static int add_slice(struct detail_work *x, const struct pair_slice *row)
{
	struct detail *d = x->d;

	if (is_full(x))
		return -E2BIG;
	if (GROW(d->slices, d->room_slices, d->nr_slices))
		return -ENOMEM;
	d->slices[d->nr_slices++] = (struct detail_slice){ row->start_ns, row->end_ns,
		                                           raw_at(x, row->task, row->start_ns),
		                                           row->cpu, row->end };
	return 0;
}

static int add_parts(struct detail_work *x, const struct pair_wait *w, uint32_t *nr)
{
	struct detail *d = x->d;
	struct ledger_walk walk;
	struct ledger_part p;
	int err;

	*nr = 0;
	if (w->task == TASKS_NONE)
		return 0;
	err = ledger_begin(x->g->ledger, w, &walk);
	while (!err && ledger_next(&walk, &p)) {
		if (is_full(x))
			return -E2BIG;
		if (GROW(d->parts, d->room_parts, d->nr_parts))
			return -ENOMEM;
		d->parts[d->nr_parts++] = (struct detail_part){
			.ns = p.end_ns - p.start_ns,
			.culprit = p.kind == LEDGER_TASK ? raw_at(x, (uint32_t)p.what, p.start_ns)
			                                 : 0,
			.cpu = p.cpu,
			.cause = p.kind,
		};
		++*nr;
	}
	return err;
}

static int add_wait(struct detail_work *x, const struct pair_wait *w)
{
	struct detail *d = x->d;
	uint64_t start_ns = pair_wait_woken_ns(w);
	struct detail_wait one = { .start_ns = start_ns,
		                   .end_ns = w->end_ns,
		                   .who = raw_at(x, w->task, start_ns),
		                   .cpu = w->cpu,
		                   .from_cpu = w->from_cpu,
		                   .kind = w->cause == PAIR_PREEMPTED };
	int err;

	if (w->is_open)
		return 0;
	err = who_waker(x->g->who, latency_waker(w), start_ns, &one.waker);
	if (!err)
		err = add_parts(x, w, &one.nr_parts);
	if (err)
		return err;
	if (GROW(d->waits, d->room_waits, d->nr_waits))
		return -ENOMEM;
	d->waits[d->nr_waits++] = one;
	return 0;
}

/* All rows of the scope. */
static int take_all(struct detail_work *x)
{
	struct rows slices = { .sc = x->g->sc }, waits = { .sc = x->g->sc };
	const struct timeline *t = x->g->sc->s->timeline;
	uint64_t nr = timeline_end(t, TIMELINE_SLICE) - timeline_first(t, TIMELINE_SLICE);
	struct pair_slice slice;
	struct pair_wait wait;
	int err = 0;

	/* Of most recordings the slices alone are too much, which need not be tried. */
	if (x->g->sc->is_all && nr && (nr - 1) * SLICE_BYTES > x->max_bytes)
		return -E2BIG;
	while (!err && rows_slice(&slices, &slice))
		err = add_slice(x, &slice);
	while (!err && rows_wait(&waits, &wait))
		err = add_wait(x, &wait);
	return err;
}

/* Whether an earlier span has had it. */
static bool is_had(const struct detail *d, uint32_t span, uint64_t start_ns)
{
	return span && start_ns < d->spans[span - 1].to_ns;
}

static int take_span(struct detail_work *x, uint32_t span)
{
	const struct scope *sc = x->g->sc;
	const struct detail_span *s = &x->d->spans[span];
	struct timeline_query q = { TIMELINE_SLICE, TASKS_NONE, TIMELINE_ANY_CPU, s->from_ns,
		                    s->to_ns };
	struct timeline_iter it;
	union timeline_row row;
	int err = timeline_find(sc->s->timeline, &q, &it);

	while (!err && timeline_next(&it, NULL, &row))
		if (scope_takes(sc, row.slice.task, row.slice.start_ns) &&
		    !is_had(x->d, span, row.slice.start_ns))
			err = add_slice(x, &row.slice);
	q.table = TIMELINE_WAIT;
	if (!err)
		err = timeline_find(sc->s->timeline, &q, &it);
	while (!err && timeline_next(&it, NULL, &row)) {
		uint64_t start_ns = pair_wait_woken_ns(&row.wait);

		if (start_ns < s->to_ns && scope_takes(sc, row.wait.task, start_ns) &&
		    !is_had(x->d, span, start_ns))
			err = add_wait(x, &row.wait);
	}
	return err;
}

static int by_from(const void *a, const void *b)
{
	const struct detail_span *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* The times around so many waits, joined where they overlap; of each only its last part, a half as often as said. */
static void list_spans(struct detail_work *x, const struct pair_wait *worst, size_t nr, int halves)
{
	const struct scope *sc = x->g->sc;
	struct detail *d = x->d;
	uint32_t last = 0;

	d->nr_spans = 0;
	for (size_t i = 0; i < nr; i++) {
		uint64_t start_ns = pair_wait_woken_ns(&worst[i]), end_ns = worst[i].end_ns;
		uint64_t pad_ns = (end_ns - start_ns) / 4 > PAD_NS ? (end_ns - start_ns) / 4
		                                                   : PAD_NS;
		struct detail_span s = { start_ns > pad_ns ? start_ns - pad_ns : 0,
			                 end_ns + pad_ns };

		s.from_ns = s.to_ns - ((s.to_ns - s.from_ns) >> halves);
		if (s.from_ns < sc->from_ns)
			s.from_ns = sc->from_ns;
		if (s.to_ns > sc->to_ns)
			s.to_ns = sc->to_ns;
		if (s.from_ns < s.to_ns)
			d->spans[d->nr_spans++] = s;
	}
	if (d->nr_spans)
		qsort(d->spans, d->nr_spans, sizeof(*d->spans), by_from);
	for (uint32_t i = 1; i < d->nr_spans; i++) {
		if (d->spans[i].from_ns > d->spans[last].to_ns)
			d->spans[++last] = d->spans[i];
		else if (d->spans[i].to_ns > d->spans[last].to_ns)
			d->spans[last].to_ns = d->spans[i].to_ns;
	}
	d->nr_spans = d->nr_spans ? last + 1 : 0;
}

/* Fewer of the waits until it fits, then less of the worst one. */
static int take_worst(struct detail_work *x, const struct pair_wait *worst, size_t nr)
{
	int halves = 0, err;

	for (;;) {
		clear(x->d);
		list_spans(x, worst, nr, halves);
		err = 0;
		for (uint32_t i = 0; i < x->d->nr_spans && !err; i++)
			err = take_span(x, i);
		if (err != -E2BIG)
			return err;
		if (nr > 1)
			nr /= 2;
		else if (++halves > MAX_HALVES)
			break;
	}
	clear(x->d);
	x->d->nr_spans = 0;
	return 0;
}

static int by_cpu(const void *a, const void *b)
{
	const struct detail_slice *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

int detail_make(struct detail *d, const struct gather *g, const struct pair_wait *worst,
                size_t nr_worst, uint64_t max_bytes)
{
	struct detail_work x = { d, g, max_bytes };
	int err;

	*d = (struct detail){ 0 };
	if (!g->ledger) {
		d->is_complete = true;
		return 0;
	}
	err = take_all(&x);
	d->is_complete = !err;
	if (err == -E2BIG) {
		clear(d);
		d->spans = calloc(nr_worst + 1, sizeof(*d->spans));
		err = d->spans ? take_worst(&x, worst, nr_worst) : -ENOMEM;
	}
	if (!err && d->nr_slices)
		qsort(d->slices, d->nr_slices, sizeof(*d->slices), by_cpu);
	return err;
}

static uint32_t shown(const struct who *w, uint32_t raw)
{
	return w->as_who ? w->as_who[raw] : raw;
}

static uint32_t shown_other(const struct who *w, uint32_t raw)
{
	return w->as_other && !(raw & WHO_INTERRUPT) ? w->as_other[raw] : raw;
}

void detail_mark(const struct detail *d, const struct who *w, struct tables_used *used)
{
	for (size_t i = 0; i < d->nr_slices; i++)
		used->who[shown(w, d->slices[i].who)] = 1;
	for (size_t i = 0; i < d->nr_waits; i++) {
		uint32_t waker = shown_other(w, d->waits[i].waker);

		used->who[shown(w, d->waits[i].who)] = 1;
		if (waker & WHO_INTERRUPT)
			used->interrupts[waker & ~WHO_INTERRUPT] = 1;
		else
			used->wakers[waker] = 1;
	}
	for (size_t i = 0; i < d->nr_parts; i++)
		used->who[shown(w, d->parts[i].culprit)] = 1;
}

int detail_pack_slices(const struct detail *d, const struct who *w, uint64_t start_ns,
                       struct pack *out)
{
	*out = (struct pack){ .table = "slice" };
	pack_column(out, "cpu", true);
	pack_column(out, "start", true);
	pack_column(out, "ns", false);
	pack_column(out, "who", false);
	pack_column(out, "end", false);
	for (size_t i = 0; i < d->nr_slices; i++) {
		const struct detail_slice *s = &d->slices[i];

		pack_row(out, (uint64_t[]){ s->cpu, s->start_ns - start_ns, s->end_ns - s->start_ns,
		                            w->numbers[shown(w, s->who)], s->end });
	}
	return pack_close(out);
}

int detail_pack_waits(const struct detail *d, const struct who *w, uint64_t start_ns,
                      struct pack *out)
{
	*out = (struct pack){ .table = "waited" };
	pack_column(out, "start", true);
	pack_column(out, "ns", false);
	pack_column(out, "who", false);
	pack_column(out, "cpu", false);
	pack_column(out, "from_cpu", false);
	pack_column(out, "waker", false);
	pack_column(out, "kind", false);
	for (size_t i = 0; i < d->nr_waits; i++) {
		const struct detail_wait *x = &d->waits[i];

		pack_row(out,
		         (uint64_t[]){ x->start_ns > start_ns ? x->start_ns - start_ns : 0,
		                       x->end_ns - x->start_ns, w->numbers[shown(w, x->who)],
		                       x->cpu, x->from_cpu == PAIR_NO_CPU ? 0 : x->from_cpu + 1U,
		                       who_waker_number(w, shown_other(w, x->waker)), x->kind });
	}
	return pack_close(out);
}

int detail_pack_parts(const struct detail *d, const struct who *w, struct pack *out)
{
	size_t part = 0;

	*out = (struct pack){ .table = "part" };
	pack_column(out, "wait", true);
	pack_column(out, "cause", false);
	pack_column(out, "culprit", false);
	pack_column(out, "cpu", false);
	pack_column(out, "ns", false);
	for (size_t i = 0; i < d->nr_waits; i++) {
		for (uint32_t k = 0; k < d->waits[i].nr_parts; k++, part++) {
			const struct detail_part *p = &d->parts[part];

			pack_row(out, (uint64_t[]){ i, p->cause, w->numbers[shown(w, p->culprit)],
			                            p->cpu, p->ns });
		}
	}
	return pack_close(out);
}

void detail_document(const struct detail *d, uint64_t start_ns, struct json_writer *out)
{
	jw_begin_object(out, "detail");
	jw_bool(out, "complete", d->is_complete);
	if (!d->is_complete) {
		jw_begin_array(out, "spans");
		for (uint32_t i = 0; i < d->nr_spans; i++) {
			jw_begin_array(out, NULL);
			jw_u64(out, NULL, d->spans[i].from_ns - start_ns);
			jw_u64(out, NULL, d->spans[i].to_ns - start_ns);
			jw_end_array(out);
		}
		jw_end_array(out);
	}
	jw_end_object(out);
}
