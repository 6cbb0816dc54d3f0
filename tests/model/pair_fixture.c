#include "pair_fixture.h"

#include <stdlib.h>
#include <string.h>

#define KEEP(name, type, array, nr)                                \
	static void keep_##name(void *ctx, const struct type *row) \
	{                                                          \
		struct fixture *f = ctx;                           \
                                                                   \
		assert_true(f->nr < MAX_ROWS);                     \
		f->array[f->nr++] = *row;                          \
	}

KEEP(switched, pair_switch, switches, nr_switches)
KEEP(slice, pair_slice, slices, nr_slices)
KEEP(wait, pair_wait, waits, nr_waits)
KEEP(sleep, pair_sleep, sleeps, nr_sleeps)
KEEP(wakeup, pair_wakeup, wakeups, nr_wakeups)
KEEP(migration, pair_migration, migrations, nr_migrations)
KEEP(span, pair_span, spans, nr_spans)
KEEP(counter, pair_counter, counters, nr_counters)
KEEP(mark, pair_mark, marks, nr_marks)
KEEP(idle, pair_idle, idles, nr_idles)
KEEP(gap, pair_gap, gaps, nr_gaps)
KEEP(dsq, pair_dsq, dsqs, nr_dsqs)
KEEP(run, pair_run, runs, nr_runs)
KEEP(pmu, pair_pmu, pmus, nr_pmus)
KEEP(throttle, pair_throttle, throttles, nr_throttles)
KEEP(steal, pair_steal, steals, nr_steals)

static void keep_begin(void *ctx, uint32_t task, uint64_t ts_ns)
{
	(void)task;
	(void)ts_ns;
	((struct fixture *)ctx)->nr_begun++;
}

static void keep_end(void *ctx, uint32_t task, uint64_t ts_ns)
{
	(void)task;
	(void)ts_ns;
	((struct fixture *)ctx)->nr_ended++;
}

int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct tasks_cfg cfg = { .keep_dead_ns = UINT64_MAX };
	struct pair_out out = {
		.ctx = f,
		.task_begin = keep_begin,
		.task_end = keep_end,
		.switched = keep_switched,
		.slice = keep_slice,
		.wait = keep_wait,
		.sleep = keep_sleep,
		.wakeup = keep_wakeup,
		.migration = keep_migration,
		.span = keep_span,
		.counter = keep_counter,
		.mark = keep_mark,
		.idle = keep_idle,
		.gap = keep_gap,
		.dsq = keep_dsq,
		.run = keep_run,
		.pmu = keep_pmu,
		.throttle = keep_throttle,
		.steal = keep_steal,
	};

	assert_non_null(f);
	expect_eq(tasks_new(&cfg, &f->tasks), 0);
	expect_eq(pair_new(&(struct pair_cfg){ .tasks = f->tasks }, &f->pair), 0);
	expect_eq(pair_add_out(f->pair, &out), 0);
	f->sink = pair_sink(f->pair);
	*state = f;
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	pair_free(f->pair);
	tasks_free(f->tasks);
	free(f);
	return 0;
}

uint32_t task_of(const struct fixture *f, uint32_t tid)
{
	return tasks_find(f->tasks, tid);
}

void push(struct fixture *f, const void *rec)
{
	expect_eq(f->sink.push(f->sink.ctx, rec), 0);
	if (f->also.push)
		expect_eq(f->also.push(f->also.ctx, rec), 0);
}

#define HDR(k, type, at_cpu, ts) \
	.hdr = { .size = sizeof(struct type), .kind = (k), .cpu = (at_cpu), .ts_ns = (ts) }

void sw(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t prev, uint32_t next, uint32_t state)
{
	push(f, &(struct ev_switch){ HDR(EV_SWITCH, ev_switch, cpu, ts), .prev_tid = prev,
	                             .next_tid = next, .prev_state = state, .prev_prio = 120,
	                             .next_prio = 120 });
}

void waking(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t waker)
{
	push(f, &(struct ev_wake){ HDR(EV_WAKING, ev_wake, cpu, ts), .tid = tid, .waker_tid = waker,
	                           .target_cpu = cpu });
}

void wakeup(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t target)
{
	push(f, &(struct ev_wake){ HDR(EV_WAKEUP, ev_wake, cpu, ts), .tid = tid,
	                           .target_cpu = target });
}

void wakeup_new(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t waker)
{
	push(f, &(struct ev_wake){ HDR(EV_WAKEUP_NEW, ev_wake, cpu, ts), .tid = tid,
	                           .waker_tid = waker, .target_cpu = cpu });
}

void migrate(struct fixture *f, uint64_t ts, uint32_t tid, uint32_t from, uint32_t to)
{
	push(f, &(struct ev_migrate){ HDR(EV_MIGRATE, ev_migrate, from, ts), .tid = tid,
	                              .from_cpu = from, .to_cpu = to });
}

void forked(struct fixture *f, uint64_t ts, uint32_t parent, uint32_t tid, const char *comm)
{
	struct ev_fork ev = { HDR(EV_FORK, ev_fork, 0, ts), .parent_tid = parent,
		              .parent_tgid = parent, .tid = tid, .tgid = tid };

	memcpy(ev.comm, comm, strnlen(comm, EV_COMM_LEN));
	push(f, &ev);
}

void exec(struct fixture *f, uint64_t ts, uint32_t tid, uint32_t old_tid, const char *comm)
{
	struct ev_exec ev = { HDR(EV_EXEC, ev_exec, 0, ts), .tid = tid, .old_tid = old_tid };

	memcpy(ev.comm, comm, strnlen(comm, EV_COMM_LEN));
	push(f, &ev);
}

void exiting(struct fixture *f, uint64_t ts, uint32_t tid)
{
	push(f, &(struct ev_exit){ HDR(EV_EXIT, ev_exit, 0, ts), .tid = tid, .tgid = tid });
}

void freed(struct fixture *f, uint64_t ts, uint32_t tid)
{
	push(f, &(struct ev_free){ HDR(EV_FREE, ev_free, 0, ts), .tid = tid });
}

void lost(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t kind, uint64_t count)
{
	push(f, &(struct ev_lost){ HDR(EV_LOST, ev_lost, cpu, ts), .kind = kind, .count = count });
}

void softirq_in(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t vector,
                bool is_exit)
{
	push(f, &(struct ev_softirq){
			HDR(is_exit ? EV_SOFTIRQ_EXIT : EV_SOFTIRQ_ENTRY, ev_softirq, cpu, ts),
			.vector = vector, .tid = tid });
}

void softirq(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t vector, bool is_exit)
{
	softirq_in(f, ts, cpu, 0, vector, is_exit);
}

void irq(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t nr, bool is_exit)
{
	if (is_exit)
		push(f, &(struct ev_irq_exit){ HDR(EV_IRQ_EXIT, ev_irq_exit, cpu, ts), .irq = nr });
	else
		push(f, &(struct ev_irq_entry){ HDR(EV_IRQ_ENTRY, ev_irq_entry, cpu, ts), .irq = nr,
		                                .name = "timer" });
}

void throttle(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint64_t cgroup)
{
	push(f, &(struct ev_throttle){ HDR(EV_THROTTLE, ev_throttle, cpu, ts), .cgroup = cgroup,
	                               .quota_ns = 20000000, .period_ns = 100000000, .tid = tid });
}

void refill(struct fixture *f, uint64_t ts, uint64_t cgroup, uint32_t but_cpu)
{
	push(f, &(struct ev_refill){ HDR(EV_REFILL, ev_refill, 0, ts), .cgroup = cgroup,
	                             .nr_cpus = but_cpu != EVERY_CPU, .cpus = { (__u16)but_cpu } });
}

void thread_of(struct fixture *f, uint64_t ts, uint32_t tid, const char *comm)
{
	struct ev_fork ev = { { sizeof(ev), EV_FORK, 0, 3, ts },
		              .parent_tid = 100,
		              .parent_tgid = 100,
		              .tid = tid,
		              .tgid = 100 };

	strcpy(ev.comm, comm);
	push(f, &ev);
}

void push_sleep(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint16_t call,
                uint64_t arg, uint64_t second)
{
	push(f, &(struct ev_sleep){ { sizeof(struct ev_sleep), EV_SLEEP, 0, (uint16_t)cpu, ts },
	                            .tid = tid,
	                            .call = call,
	                            .args = { arg, second } });
}

void steal(struct fixture *f, uint64_t ts, uint32_t cpu, uint64_t ns)
{
	push(f, &(struct ev_steal){ HDR(EV_STEAL, ev_steal, cpu, ts), .ns = ns });
}

void measures(struct fixture *f, uint32_t flags)
{
	push(f, &(struct ev_measures){ HDR(EV_MEASURES, ev_measures, 0, 0), .flags = flags });
}

void done(struct fixture *f, uint64_t ts)
{
	pair_finish(f->pair, ts);
	pair_breaks(f->pair, &f->breaks);
}
