/* Idle time that was wasted in an interval of a stream of our own: reported, looked up in the kernel, and unknown CPUs of tasks. */
#include "../unit.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyses/explain/explain.h"
#include "analyze/scope.h"
#include "ledger/ledger.h"
#include "live/live_analyzers.h"
#include "live/live_run.h"
#include "live/live_source.h"
#include "model/allowed.h"
#include "serve/waste.h"
#include "sys/topology.h"

#define MS  1000000ULL
#define HOG 3999999 /* above all pids of kernels with their usual limits, as is the next */
#define TID 3999998

union record {
	struct ev_hdr hdr;
	struct ev_switch sw;
	struct {
		struct ev_affinity rec;
		uint64_t mask;
	} cpus;
};

struct stream {
	union record recs[16];
	unsigned int nr, nr_read;
	uint64_t now_ns;
	struct allowed *reports;
	struct topology *topology;
	struct live_run *run;
};

static int open_stream(void *ctx, uint64_t kinds, struct diag *d, void **out)
{
	(void)kinds;
	(void)d;
	*out = ctx;
	return 0;
}

static int attach(void *stream, struct diag *d)
{
	(void)stream;
	(void)d;
	return 0;
}

static int poll_stream(void *stream, const struct ev_sink *sink, struct diag *d)
{
	struct stream *s = stream;
	int err = 0;

	(void)d;
	for (; !err && s->nr_read < s->nr; s->nr_read++)
		err = sink->push(sink->ctx, &s->recs[s->nr_read].hdr);
	return err ? err : sink->advance(sink->ctx, s->now_ns);
}

static uint64_t missing(void *stream)
{
	(void)stream;
	return EV_BIT(EV_DSQ_LEAVE);
}

static uint64_t start_ns(void *stream)
{
	(void)stream;
	return 1 * MS;
}

static void close_stream(void *stream)
{
	(void)stream;
}

static int each_task(void *ctx, proc_task_fn *fn, void *fn_ctx, struct diag *d)
{
	(void)ctx;
	(void)fn;
	(void)fn_ctx;
	(void)d;
	return 0;
}

static void sw(struct stream *s, uint64_t ts, uint32_t cpu, uint32_t prev, uint32_t next,
               uint32_t state)
{
	s->recs[s->nr++].sw = (struct ev_switch){ .hdr = { .size = sizeof(struct ev_switch),
		                                           .kind = EV_SWITCH,
		                                           .cpu = cpu,
		                                           .ts_ns = ts },
		                                  .prev_tid = prev,
		                                  .next_tid = next,
		                                  .prev_state = state,
		                                  .prev_prio = 120,
		                                  .next_prio = 120 };
	s->now_ns = ts;
}

static void report(struct stream *s, uint64_t ts, uint32_t tid, uint64_t mask)
{
	union record *r = &s->recs[s->nr++];

	r->cpus.rec = (struct ev_affinity){
		.hdr = { .size = sizeof(r->cpus), .kind = EV_AFFINITY, .ts_ns = ts },
		.tid = tid,
		.nr = 1
	};
	r->cpus.mask = mask;
}

static int take(void *ctx, const struct ev_hdr *rec)
{
	struct ev_sink sink = allowed_sink(((struct stream *)ctx)->reports);

	expect_eq(rec->kind, EV_AFFINITY);
	return sink.push(sink.ctx, rec);
}

static void start(struct stream *s)
{
	struct topology_cpu cpus[2] = {
		{ .is_possible = true, .is_present = true, .is_online = true },
		{ .is_possible = true, .is_present = true, .is_online = true }
	};
	const struct topology_table table = { .cpus = cpus, .nr_cpus = 2 };
	const struct live_source source = { .open = open_stream,
		                            .attach = attach,
		                            .poll = poll_stream,
		                            .missing = missing,
		                            .start_ns = start_ns,
		                            .close = close_stream,
		                            .tasks = each_task,
		                            .ctx = s };
	struct live_run_cfg cfg = { .analyzers = 1U << ANALYZER_BLAME,
		                    .window_ns = 1000 * MS,
		                    .source = &source,
		                    .affinity = { .push = take, .ctx = s } };
	struct diag d = { 0 };

	*s = (struct stream){ 0 };
	expect_eq(allowed_new(0, &s->reports), 0);
	expect_eq(topology_new(&table, NULL, &s->topology), 0);
	cfg.topology = s->topology;
	expect_eq(live_run_open(&cfg, &d, &s->run), 0);
	expect_eq(live_run_attach(s->run, &d), 0);
}

/* A task runs on CPU 0 until 10 ms, and waits there behind a hog until 40 ms. CPU 1 is idle from 20 to 35 ms. */
static void one_waits(struct stream *s, uint32_t tid)
{
	sw(s, 2 * MS, 0, 0, tid, EV_STATE_RUNNABLE);
	sw(s, 3 * MS, 1, 0, HOG - 1000, EV_STATE_RUNNABLE);
	sw(s, 10 * MS, 0, tid, HOG, EV_STATE_PREEMPTED);
	sw(s, 20 * MS, 1, HOG - 1000, 0, EV_STATE_S);
	sw(s, 35 * MS, 1, 0, HOG - 1000, EV_STATE_RUNNABLE);
	sw(s, 40 * MS, 0, HOG, tid, EV_STATE_S);
	s->now_ns = 50 * MS;
}

/* As an interval of serve/blame does it. */
static uint64_t wasted(struct stream *s)
{
	const struct pass_args args = { .cpu = PASS_ANY_CPU, .layer = EV_NO_LAYER };
	struct live_shot *shot = NULL;
	struct ledger *l = NULL;
	struct source source;
	struct scope sc;
	struct diag d = { 0 };
	uint64_t ns = UINT64_MAX;

	expect_eq(live_run_poll(s->run, &d), 0);
	expect_eq(live_run_shot(s->run, &shot), 0);
	source = *live_shot_source(shot);
	source.affinity = s->reports;
	expect_eq(scope_init(&sc, &source, &args, &d), 0);
	expect_eq(explain_ledger(&source, source.start_ns, source.end_ns, &l), 0);
	expect_eq(waste_look_up(&sc, s->reports), 0);
	expect_eq(waste_of_interval(&sc, l, &ns), 0);
	ledger_free(l);
	scope_done(&sc);
	live_shot_put(shot);
	live_run_close(s->run);
	topology_free(s->topology);
	allowed_free(s->reports);
	return ns;
}

static void reports_of_the_stream_say_which_cpus(void **state)
{
	struct stream s;

	(void)state;
	start(&s);
	report(&s, 1 * MS, TID, 0x3);
	one_waits(&s, TID);
	expect_eq(wasted(&s), 15 * MS);
	start(&s);
	report(&s, 1 * MS, TID, 0x1);
	one_waits(&s, TID);
	expect_eq(wasted(&s), 0);
}

static void the_kernel_says_it_of_those_that_are_there(void **state)
{
	cpu_set_t cpus;
	struct stream s;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	start(&s);
	one_waits(&s, (uint32_t)getpid());
	expect_eq(wasted(&s), CPU_ISSET(1, &cpus) ? 15 * MS : 0);
	/* A report of the interval is better than what holds now. */
	start(&s);
	report(&s, 1 * MS, (uint32_t)getpid(), 0x1);
	one_waits(&s, (uint32_t)getpid());
	expect_eq(wasted(&s), 0);
}

static void one_that_has_exited_is_left_out(void **state)
{
	pid_t pid = fork();
	struct stream s;

	(void)state;
	assert_true(pid >= 0);
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	start(&s);
	one_waits(&s, (uint32_t)pid);
	expect_eq(wasted(&s), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_of_the_stream_say_which_cpus),
		cmocka_unit_test(the_kernel_says_it_of_those_that_are_there),
		cmocka_unit_test(one_that_has_exited_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
