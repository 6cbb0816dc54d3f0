#include "ledger_fixture.h"

void world_begin(struct world *w)
{
	struct pair_out out;
	void *state;

	*w = (struct world){ 0 };
	fixture_setup(&state);
	w->f = state;
	expect_eq(timeline_new(&(struct timeline_cfg){ 0 }, &w->timeline), 0);
	out = timeline_out(w->timeline);
	expect_eq(pair_add_out(w->f->pair, &out), 0);
	pair_start(w->f->pair, 0);
}

void world_done(struct world *w, uint64_t ts, bool has_migrations)
{
	struct ledger_cfg cfg = { .nr_cpus = WORLD_CPUS,
		                  .end_ns = ts,
		                  .has_migrations = has_migrations };

	done(w->f, ts);
	w->end_ns = ts;
	expect_eq(ledger_new(w->timeline, &cfg, &w->ledger), 0);
}

void world_end(struct world *w)
{
	void *state = w->f;

	ledger_free(w->ledger);
	timeline_free(w->timeline);
	fixture_teardown(&state);
}

struct pair_wait world_wait(const struct world *w, uint32_t tid, uint64_t end_ns)
{
	for (uint32_t i = 0; i < w->f->nr_waits; i++)
		if (w->f->waits[i].task == task_of(w->f, tid) && w->f->waits[i].end_ns == end_ns)
			return w->f->waits[i];
	fail_msg("task %u has no wait that ends at %llu", tid, (unsigned long long)end_ns);
	return (struct pair_wait){ 0 };
}

uint32_t world_parts(struct world *w, const struct pair_wait *wait, struct ledger_part *out,
                     uint32_t max)
{
	struct ledger_walk walk;
	struct ledger_part part;
	uint32_t nr = 0;

	expect_eq(ledger_begin(w->ledger, wait, &walk), 0);
	while (ledger_next(&walk, &part)) {
		assert_true(nr < max);
		out[nr++] = part;
	}
	assert_false(ledger_next(&walk, &part));
	return nr;
}
