/* The log of events, against a plain array of the same records. */
#include "../unit.h"

#include <stdlib.h>
#include <string.h>

#include "model/event_log.h"

#define NR       10000
#define NR_ASKED 200

/* A record of any kind as ev_check() lets it pass, and room for the longest here. */
union record {
	struct ev_hdr hdr;
	struct ev_switch sw;
	struct ev_wake wake;
	struct ev_migrate migrate;
	struct ev_fork fork;
	struct ev_cpu_freq freq;
	struct ev_pmu pmu;
	uint64_t words[16];
};

static const struct event_log_query everything = { 0, EVENT_LOG_ANY, EVENT_LOG_ANY, 0, UINT64_MAX };

static uint32_t roll(uint32_t n)
{
	return (uint32_t)rand() % n;
}

static uint32_t some_tid(void)
{
	static const uint32_t far[] = { 65537, 65538, 1U << 22, UINT32_MAX - 1, 2 };

	return roll(10) ? roll(8) : far[roll(5)];
}

static uint32_t some_cpu(void)
{
	static const uint32_t far[] = { 1024, 1025, 65535, 65536, UINT32_MAX - 1 };

	return roll(10) ? roll(4) : far[roll(5)];
}

static void make_record(union record *r, uint64_t ts_ns)
{
	static const struct {
		uint8_t kind;
		uint16_t size;
	} kinds[] = {
		{ EV_SWITCH, sizeof(struct ev_switch) },     { EV_WAKING, sizeof(struct ev_wake) },
		{ EV_MIGRATE, sizeof(struct ev_migrate) },   { EV_FORK, sizeof(struct ev_fork) },
		{ EV_CPU_FREQ, sizeof(struct ev_cpu_freq) }, { EV_PMU, sizeof(struct ev_pmu) + 16 },
	};
	uint32_t k = roll(20) ? roll(3) : roll(6);

	for (size_t i = 0; i < 16; i++)
		r->words[i] = (uint64_t)rand();
	r->hdr = (struct ev_hdr){ kinds[k].size, kinds[k].kind, (uint8_t)roll(4), some_cpu(),
		                  ts_ns };
	r->sw.prev_tid = some_tid(); /* tid, parent_tid: the first word of them all */
	r->sw.next_tid = some_tid(); /* waker_tid */
	if (kinds[k].kind == EV_FORK)
		r->fork.tid = some_tid();
	if (kinds[k].kind == EV_PMU)
		r->pmu.nr = 2;
}

static bool has_tid(const union record *r, uint32_t tid)
{
	switch (r->hdr.kind) {
	case EV_SWITCH:
		return r->sw.prev_tid == tid || r->sw.next_tid == tid;
	case EV_WAKING:
		return r->wake.tid == tid || r->wake.waker_tid == tid;
	case EV_MIGRATE:
		return r->migrate.tid == tid;
	case EV_FORK:
		return r->fork.tid == tid || r->fork.parent_tid == tid;
	case EV_PMU:
		return r->pmu.tid == tid;
	default:
		return false;
	}
}

static bool is_answer(const union record *r, const struct event_log_query *q)
{
	if (r->hdr.ts_ns < q->from_ns || r->hdr.ts_ns >= q->to_ns)
		return false;
	if (q->kinds && !(q->kinds >> r->hdr.kind & 1))
		return false;
	if (q->cpu != EVENT_LOG_ANY && q->cpu != r->hdr.cpu)
		return false;
	return q->tid == EVENT_LOG_ANY || (q->tid != 0 && has_tid(r, q->tid));
}

/* The answer, byte by byte and in order, and nothing else. */
static size_t expect_answer(struct event_log *l, const union record *all, size_t nr,
                            const struct event_log_query *q)
{
	struct event_log_iter it;
	const struct ev_hdr *got;
	size_t found = 0;

	expect_eq(event_log_find(l, q, &it), 0);
	for (size_t i = 0; i < nr; i++) {
		if (!is_answer(&all[i], q))
			continue;
		got = event_log_next(&it);
		assert_non_null(got);
		expect_eq(got->size, all[i].hdr.size);
		assert_memory_equal(got, &all[i], all[i].hdr.size);
		found++;
	}
	assert_null(event_log_next(&it));
	assert_null(event_log_next(&it));
	return found;
}

static struct event_log_query some_query(const union record *all)
{
	static const uint64_t kinds[] = { 0, EV_BIT(EV_FORK), EV_BIT(EV_SWITCH) | EV_BIT(EV_PMU) };
	struct event_log_query q = everything;

	q.kinds = kinds[roll(3)];
	if (roll(3) == 0)
		q.cpu = some_cpu();
	if (roll(3) == 0)
		q.tid = some_tid();
	if (roll(2))
		q.from_ns = all[roll(NR)].hdr.ts_ns + roll(3) - 1;
	if (roll(2))
		q.to_ns = q.from_ns + roll(20000000);
	return q;
}

/* back: how often in a hundred time goes back. */
static void compare(unsigned int seed, uint32_t back)
{
	union record *all = calloc(NR, sizeof(*all));
	uint64_t ts_ns = 1000000;
	size_t found = 0;
	struct event_log *l;
	struct ev_sink sink;

	assert_non_null(all);
	srand(seed);
	expect_eq(event_log_new(&(struct event_log_cfg){ 0 }, &l), 0);
	sink = event_log_sink(l);
	for (size_t i = 0; i < NR; i++) {
		/* Now and then a pause of more than 32 bits of nanoseconds. */
		ts_ns += roll(5000) ? roll(2000) : 5000000000;
		make_record(&all[i], roll(100) < back ? ts_ns - roll(900000) : ts_ns);
		expect_eq(sink.push(sink.ctx, &all[i].hdr), 0);
	}
	expect_eq(event_log_nr(l), NR);
	expect_eq(event_log_dropped(l), 0);
	expect_eq(expect_answer(l, all, NR, &everything), NR);
	for (int i = 0; i < NR_ASKED; i++) {
		struct event_log_query q = some_query(all);

		found += expect_answer(l, all, NR, &q);
	}
	assert_true(found > NR);
	event_log_free(l);
	free(all);
}

static void questions_are_answered_like_a_walk_over_an_array(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed < 4; seed++)
		compare(seed, 0);
}

static void also_where_time_goes_back(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed < 3; seed++)
		compare(seed, 3);
}

static union record switch_at(uint64_t ts_ns, uint32_t prev, uint32_t next)
{
	return (union record){ .sw = { .hdr = { sizeof(struct ev_switch), EV_SWITCH, 0, 1, ts_ns },
		                       .prev_tid = prev,
		                       .next_tid = next } };
}

static void a_full_log_drops_what_comes_later(void **state)
{
	struct event_log_query q = everything;
	struct event_log_iter it;
	struct event_log *l;
	struct ev_sink sink;
	uint64_t nr = 0;
	union record r;

	(void)state;
	expect_eq(event_log_new(&(struct event_log_cfg){ .cap_bytes = 600000 }, &l), 0);
	sink = event_log_sink(l);
	for (uint64_t i = 0; i < 100000; i++) {
		r = switch_at(i, 0, 5);
		expect_eq(sink.push(sink.ctx, &r.hdr), 0);
	}
	assert_true(event_log_bytes(l) <= 600000);
	/* Two chunks of 256 KiB, 24 bytes each, but for a rest that no whole record would fit into. */
	assert_in_range(event_log_nr(l), 2 * (256 * 1024 / 24 - 1), 2 * (256 * 1024 / 24));
	expect_eq(event_log_nr(l) + event_log_dropped(l), 100000);
	expect_eq(event_log_find(l, &q, &it), 0);
	for (const struct ev_hdr *rec; (rec = event_log_next(&it)); nr++)
		expect_eq(rec->ts_ns, nr);
	expect_eq(nr, event_log_nr(l));
	event_log_free(l);
}

static void an_index_follows_what_comes_later(void **state)
{
	struct event_log_query by_tid = everything, by_cpu = everything;
	union record all[40];
	struct event_log *l;
	struct ev_sink sink;

	(void)state;
	by_tid.tid = 7;
	by_cpu.cpu = 1;
	expect_eq(event_log_new(&(struct event_log_cfg){ 0 }, &l), 0);
	sink = event_log_sink(l);
	for (size_t i = 0; i < 40; i++) {
		all[i] = switch_at(i, i % 2 ? 7 : 0, i % 3 ? 7 : 9);
		expect_eq(sink.push(sink.ctx, &all[i].hdr), 0);
		(void)expect_answer(l, all, i + 1, &by_tid);
		expect_eq(expect_answer(l, all, i + 1, &by_cpu), i + 1);
	}
	event_log_free(l);
}

static void an_empty_log_answers_with_nothing(void **state)
{
	struct event_log_query q = everything;
	struct event_log *l;

	(void)state;
	expect_eq(event_log_new(&(struct event_log_cfg){ 0 }, &l), 0);
	expect_eq(expect_answer(l, NULL, 0, &q), 0);
	q.cpu = 3;
	expect_eq(expect_answer(l, NULL, 0, &q), 0);
	q.tid = 3;
	expect_eq(expect_answer(l, NULL, 0, &q), 0);
	expect_eq(event_log_nr(l), 0);
	event_log_free(l);
	event_log_free(NULL);
}

static void each_task_of_a_record_is_named_once(void **state)
{
	uint32_t tids[EVENT_LOG_MAX_TIDS];
	union record r = switch_at(1, 7, 9);
	struct ev_cpu_freq freq = { .hdr = { sizeof(freq), EV_CPU_FREQ, 0, 0, 1 }, 5, 6 };

	(void)state;
	expect_eq(event_log_tids(&r.hdr, tids), 2);
	expect_eq(tids[0], 7);
	expect_eq(tids[1], 9);
	r = switch_at(1, 7, 7);
	expect_eq(event_log_tids(&r.hdr, tids), 1);
	r = switch_at(1, 0, 9);
	expect_eq(event_log_tids(&r.hdr, tids), 1);
	expect_eq(tids[0], 9);
	expect_eq(event_log_tids(&freq.hdr, tids), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(questions_are_answered_like_a_walk_over_an_array),
		cmocka_unit_test(also_where_time_goes_back),
		cmocka_unit_test(a_full_log_drops_what_comes_later),
		cmocka_unit_test(an_index_follows_what_comes_later),
		cmocka_unit_test(an_empty_log_answers_with_nothing),
		cmocka_unit_test(each_task_of_a_record_is_named_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
