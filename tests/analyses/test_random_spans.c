/*
 * Interrupts, softirqs, block requests and dispatch queues against brute force: streams are made from spans that are
 * known, and the answers worked out from those spans, nanosecond by nanosecond where times lie over each other.
 */
#include "../analyze/more_records.h"

#include <stdlib.h>
#include <string.h>

#include "analyses/passes.h"

#define STREAMS   RANDOM_WORLDS(1000U)
#define CPUS      3
#define MAX_SPANS 40
#define MAX_NS    1500
#define START     1000U

struct made {
	uint64_t start, end; /* of a request: issue, complete */
	uint64_t insert;     /* of a request; 0 = none */
	uint32_t cpu, id, who;
	bool is_irq;
};

struct event {
	uint64_t ts;
	int order; /* of what happens at one moment */
	int span;
	int step;
};

struct stream {
	struct made spans[MAX_SPANS];
	int nr;
	struct event events[3 * MAX_SPANS];
	int nr_events;
};

static uint32_t below(uint32_t n)
{
	return (uint32_t)random() % n;
}

static void add_event(struct stream *s, uint64_t ts, int span, int step)
{
	s->events[s->nr_events] = (struct event){ ts, s->nr_events, span, step };
	s->nr_events++;
}

static int by_time(const void *a, const void *b)
{
	const struct event *left = a, *right = b;

	if (left->ts != right->ts)
		return left->ts < right->ts ? -1 : 1;
	return left->order - right->order;
}

static void sort_events(struct stream *s)
{
	if (s->nr_events)
		qsort(s->events, (size_t)s->nr_events, sizeof(s->events[0]), by_time);
}

/* A span, and perhaps others inside it: those of a CPU lie beside each other or inside. */
static uint64_t nest(struct stream *s, uint32_t cpu, uint64_t at, int depth)
{
	int me = s->nr++;
	uint64_t end = at + 1 + below(20);

	s->spans[me] = (struct made){ .start = at,
		                      .cpu = cpu,
		                      .id = (uint32_t)depth * 10 + below(3),
		                      .who = below(2) ? 100 + below(3) : 0,
		                      .is_irq = below(2) };
	add_event(s, at, me, 0);
	if (depth < 3 && below(2) && s->nr < MAX_SPANS)
		end = nest(s, cpu, at + 1 + below(5), depth + 1) + 1 + below(5);
	s->spans[me].end = end;
	add_event(s, end, me, 1);
	return end;
}

static void make_nested(struct stream *s)
{
	memset(s, 0, sizeof(*s));
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		uint64_t at = START + below(50);
		int room = MAX_SPANS / CPUS * (int)(cpu + 1);

		while (s->nr < room - 3)
			at = nest(s, cpu, at, 0) + 1 + below(50);
	}
	sort_events(s);
}

static void push_nested(const struct stream *s, struct pass_fixture *p)
{
	for (uint32_t tid = 100; tid < 103; tid++)
		sw(&p->f, START, tid - 100, 0, tid, EV_STATE_RUNNABLE);
	for (int i = 0; i < s->nr_events; i++) {
		const struct event *e = &s->events[i];
		const struct made *m = &s->spans[e->span];

		if (!m->is_irq)
			softirq_by(&p->f, e->ts, m->cpu, m->id, m->who, e->step == 1);
		else if (e->step == 0)
			irq_by(&p->f, e->ts, m->cpu, m->id, "h", m->who);
		else
			irq(&p->f, e->ts, m->cpu, m->id, true);
	}
	finish(p, START + MAX_NS);
}

/* Nanoseconds of a CPU in which any interrupt is. */
static uint64_t covered(const struct stream *s, uint32_t cpu)
{
	uint64_t ns = 0;

	for (uint64_t t = START; t < START + 2 * MAX_NS; t++) {
		bool is_in = false;

		for (int i = 0; i < s->nr; i++)
			is_in |= s->spans[i].is_irq && s->spans[i].cpu == cpu &&
			         s->spans[i].start <= t && t < s->spans[i].end;
		ns += is_in;
	}
	return ns;
}

static void check_nested(const struct stream *s, struct pass_fixture *p)
{
	uint64_t nr_irqs = 0, nr_soft = 0, soft_ns = 0, cover = 0, of_101 = 0, seen = 0;
	const struct report_node *root;

	for (int i = 0; i < s->nr; i++) {
		const struct made *m = &s->spans[i];

		nr_irqs += m->is_irq;
		nr_soft += !m->is_irq;
		soft_ns += m->is_irq ? 0 : m->end - m->start;
		of_101 += !m->is_irq && m->who == 101 ? m->end - m->start : 0;
	}
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		cover += covered(s, cpu);
	p->args.limit = 1000;
	if (nr_irqs) {
		root = run_pass(p, &pass_irq_analysis);
		expect_eq(num_at(root, "total_interrupts"), nr_irqs);
		expect_eq(num_at(root, "handler_time_ns"), cover);
		for (const struct report_node *at = report_at(root, "by_cpu")->first; at;
		     at = at->next)
			expect_eq(num_at(at, "total_duration_ns"),
			          covered(s, (uint32_t)num_at(at, "cpu")));
	}
	if (!nr_soft)
		return;
	root = run_pass(p, &pass_softirq_analysis);
	expect_eq(num_at(root, "total_events"), nr_soft);
	expect_eq(num_at(root, "total_duration_ns"), soft_ns);
	for (const struct report_node *at = report_at(root, "by_process")->first; at; at = at->next)
		if (!is_null_at(at, "pid") && num_at(at, "pid") == 101)
			seen += num_at(at, "total_duration_ns");
	expect_eq(seen, of_101);
}

static void each(void (*test)(struct pass_fixture *p))
{
	for (unsigned int seed = 0; seed < STREAMS; seed++) {
		void *state;

		srandom(seed);
		assert_int_equal(pass_setup(&state), 0);
		test(state);
		pass_teardown(&state);
	}
}

static void one_nested(struct pass_fixture *p)
{
	struct stream s;

	make_nested(&s);
	push_nested(&s, p);
	check_nested(&s, p);
}

static void interrupts_and_softirqs(void **state)
{
	(void)state;
	each(one_nested);
}

/* Requests of two devices; a sector is used again only after its request has completed. */
static void one_block(struct pass_fixture *p)
{
	uint64_t queue_ns = 0, device_ns = 0, read_ns = 0, nr_queue = 0, nr_read = 0,
		 bytes[2] = { 0 };
	const struct report_node *root;
	struct stream s;

	memset(&s, 0, sizeof(s));
	for (; s.nr < MAX_SPANS; s.nr++) {
		struct made *m = &s.spans[s.nr];

		m->id = below(
			2); /* device; the sector is the span's number, halved: one of each device has it */
		m->is_irq = below(2); /* a read */
		m->insert = below(2) ? START + below(MAX_NS) : 0;
		m->start = m->insert ? m->insert + below(100) : START + below(MAX_NS);
		m->end = m->start + below(300);
		m->id = (uint32_t)s.nr % 2;
		if (m->insert)
			add_event(&s, m->insert, s.nr, EV_BLOCK_INSERT);
		add_event(&s, m->start, s.nr, EV_BLOCK_ISSUE);
		add_event(&s, m->end, s.nr, EV_BLOCK_COMPLETE);
		nr_queue += m->insert != 0;
		queue_ns += m->insert ? m->start - m->insert : 0;
		device_ns += m->end - m->start;
		nr_read += m->is_irq;
		read_ns += m->is_irq ? m->end - (m->insert ? m->insert : m->start) : 0;
		bytes[m->id] += m->is_irq ? 512ULL * (unsigned int)(s.nr + 1) : 0;
	}
	sort_events(&s);
	for (int i = 0; i < s.nr_events; i++) {
		const struct event *e = &s.events[i];
		const struct made *m = &s.spans[e->span];

		block(&p->f, e->ts, e->step,
		      &(struct block_step){ .dev = m->id + 1,
		                            .sector = (unsigned int)e->span / 2,
		                            .nr_sectors = (unsigned int)e->span + 1,
		                            .tid = 100,
		                            .rwbs = m->is_irq ? "R" : "W" });
	}
	finish(p, START + 2 * MAX_NS);
	root = run_pass(p, &pass_block_io);
	expect_eq(num_at(root, "total_ios"), MAX_SPANS);
	expect_eq(num_at(root, "read_count"), nr_read);
	expect_eq(num_at(root, "write_count"), MAX_SPANS - nr_read);
	expect_eq(num_at(root, "read_bytes"), bytes[0] + bytes[1]);
	assert_true(real_at(root, "device_latency.mean") == (double)device_ns / MAX_SPANS);
	if (nr_queue)
		assert_true(real_at(root, "queue_latency.mean") ==
		            (double)queue_ns / (double)nr_queue);
	if (nr_read)
		assert_true(real_at(root, "read_latency.mean") ==
		            (double)read_ns / (double)nr_read);
	for (int i = 0; i < 2; i++) {
		const struct report_node *at = report_at(root, i ? "by_device.1" : "by_device.0");

		expect_eq(num_at(at, "read_bytes"),
		          bytes[strcmp(text_at(at, "device"), "0:1") ? 1 : 0]);
	}
}

static void block_requests(void **state)
{
	(void)state;
	each(one_block);
}

static uint64_t depth_at(const struct stream *s, uint32_t queue, uint64_t t)
{
	uint64_t depth = 0;

	for (int i = 0; i < s->nr; i++)
		depth += s->spans[i].id == queue && s->spans[i].start <= t && t < s->spans[i].end;
	return depth;
}

static void check_queue(const struct stream *s, const struct report_node *at, uint64_t from,
                        uint64_t to)
{
	uint32_t queue = (uint32_t)num_at(at, "dsq_id");
	uint64_t max = 0, sum = 0, nr = 0, ns = 0;
	double avg;

	for (uint64_t t = from; t < to; t++) {
		uint64_t depth = depth_at(s, queue, t);

		sum += depth;
		max = depth > max ? depth : max;
	}
	for (int i = 0; i < s->nr; i++) {
		const struct made *m = &s->spans[i];
		bool overlaps = m->start < to &&
		                (m->end > from || (m->end == from && m->start == m->end));

		if (m->id != queue || !overlaps)
			continue;
		nr++;
		ns += m->end - m->start;
	}
	expect_eq(num_at(at, "event_count"), nr);
	expect_eq(num_at(at, "max_queue_depth"), max);
	avg = (double)sum / (double)(to - from);
	assert_true(real_at(at, "avg_queue_depth") > avg - 1e-9 &&
	            real_at(at, "avg_queue_depth") < avg + 1e-9);
	avg = (double)ns / (double)nr / 1e3;
	assert_true(real_at(at, "latency_avg_us") > avg - 1e-9 &&
	            real_at(at, "latency_avg_us") < avg + 1e-9);
}

static void one_dsq(struct pass_fixture *p)
{
	const struct report_node *root;
	struct stream s;
	uint64_t end = START + 2 * MAX_NS;

	memset(&s, 0, sizeof(s));
	for (; s.nr < MAX_SPANS; s.nr++) {
		struct made *m = &s.spans[s.nr];

		m->id = 1 + below(3);
		m->start = START + below(MAX_NS);
		m->end = m->start + below(200);
		add_event(&s, m->end, s.nr, 0);
	}
	sort_events(&s);
	p->facts.has_scx = true;
	sw(&p->f, START, 0, 0, 100, EV_STATE_RUNNABLE);
	for (int i = 0; i < s.nr_events; i++) {
		const struct made *m = &s.spans[s.events[i].span];

		dsq_leave(&p->f, m->end, m->start, m->id, 100, EV_NO_LAYER);
	}
	finish(p, end);
	root = run_pass(p, &pass_dsq_latency);
	expect_eq(num_at(root, "total_events"), MAX_SPANS);
	for (const struct report_node *at = report_at(root, "per_dsq")->first; at; at = at->next)
		check_queue(&s, at, START, end);
	p->args.from_ns = START + 300;
	p->args.to_ns = START + 1000;
	root = run_pass(p, &pass_dsq_latency);
	for (const struct report_node *at = report_at(root, "per_dsq")->first; at; at = at->next)
		check_queue(&s, at, p->args.from_ns, p->args.to_ns);
}

static void dispatch_queues(void **state)
{
	(void)state;
	each(one_dsq);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interrupts_and_softirqs),
		cmocka_unit_test(block_requests),
		cmocka_unit_test(dispatch_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
