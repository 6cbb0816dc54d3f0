#include "serve/waste.h"

#include <errno.h>
#include <stdlib.h>

#include "analyses/waste.h"
#include "base/cleanup.h"
#include "model/allowed.h"
#include "record/affinity.h"

/* A report with room for the widest mask. */
struct report_of_task {
	struct ev_affinity rec;
	uint64_t words[AFFINITY_WORDS];
};

static int look_up(const struct source *s, uint32_t tid, struct allowed *reports)
{
	const struct ev_sink sink = allowed_sink(reports);
	struct report_of_task r;
	int nr = affinity_of_task(tid, r.words);

	if (nr <= 0)
		return 0; /* it has exited */
	r.rec = (struct ev_affinity){
		.hdr = { .size = (__u16)(sizeof(r.rec) + (size_t)nr * sizeof(r.words[0])),
		         .kind = EV_AFFINITY,
		         .ts_ns = s->end_ns },
		.tid = tid,
		.nr = (__u16)nr,
	};
	return sink.push(sink.ctx, &r.rec.hdr);
}

int waste_look_up(const struct scope *sc, struct allowed *reports)
{
	SCOPED(scoped_free) uint8_t *is_done = calloc(sc->nr_tasks + 1UL, 1);
	struct rows it = { .sc = sc };
	struct pair_wait w;
	int err = is_done ? 0 : -ENOMEM;

	while (!err && rows_wait(&it, &w)) {
		uint32_t tid = source_tid(sc->s, w.task);

		if (!tid || w.task >= sc->nr_tasks || is_done[w.task] ||
		    w.end_ns - pair_wait_woken_ns(&w) < WASTE_MIN_WAIT_NS)
			continue;
		is_done[w.task] = 1;
		if (!allowed_is_known(reports, tid))
			err = look_up(sc->s, tid, reports);
	}
	return err;
}

int waste_of_interval(const struct scope *sc, struct ledger *l, uint64_t *out_ns)
{
	const struct waste_cfg cfg = { .sc = sc, .ledger = l, .needs_affinity = true };
	struct waste_sums sums = { 0 };
	int err = waste_measure(&cfg, &sums);

	if (!err)
		*out_ns = sums.wasted_ns;
	waste_sums_done(&sums);
	return err;
}
