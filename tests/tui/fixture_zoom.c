#include "fixture_zoom.h"

uint64_t fixture_wait_ns(uint32_t i)
{
	return 1500ULL + (uint64_t)i * 7919 % 1000 * 1000;
}

const char *fixture_rival_name(uint32_t i, bool is_hostile)
{
	static const char *const names[] = { "stress",      "migration/0", "rcu_preempt",
		                             "kworker/0:1", "postgres",    "java",
		                             "chrome",      "idle" };

	return is_hostile ? fixture_hostile_names[i % fixture_nr_hostile_names]
	                  : names[i % FIXTURE_RIVALS];
}

static void make_wait(struct machine_zoom_wait *w, uint32_t i, bool is_hostile)
{
	uint64_t ns = fixture_wait_ns(i);
	bool is_preempted = i % 3 == 1;

	*w = (struct machine_zoom_wait){
		.start_ns = FIXTURE_NOW_NS - (i + 1) * 10000000ULL,
		.wait_ns = ns,
		.run_ns = i == FIXTURE_LAST - 1 ? 0 : 200000ULL * (i + 1),
		.sleep_ns = is_preempted ? 0 : 3000000ULL + i,
		.sleep = i % 2 ? MACHINE_SLEEP_D : MACHINE_SLEEP_S,
		.cause = is_preempted ? MACHINE_PREEMPTED : MACHINE_WOKEN,
		.from = i % 3 == 2 ? MACHINE_FROM_HARDIRQ : MACHINE_FROM_THREAD,
		.from_cpu = i == FIXTURE_LAST - 1 ? -1 : (int32_t)(i % 2),
		.queue_cpu = 1,
		.cpu = 1,
		.waker_tid = i % 3 == 2 ? 0 : 2000 + i,
		.waker_comm = i % 3 == 2 ? NULL : fixture_rival_name(i, is_hostile),
		.nr_holders = 1 + i % MACHINE_ZOOM_HOLDERS,
		.others_ns = i % 5 == 4 ? ns / 10 : 0,
	};
	if (w->from == MACHINE_FROM_HARDIRQ)
		(void)snprintf(w->interrupt, sizeof(w->interrupt), "timer interrupt");
	for (uint32_t h = 0; h < w->nr_holders; h++)
		w->holders[h] = (struct machine_holder){ .tid = 3000 + h,
			                                 .comm = fixture_rival_name(h, is_hostile),
			                                 .ns = (ns - w->others_ns) / w->nr_holders,
			                                 .times = 1 };
}

static void make_tables(struct fixture_zoom *z, bool is_hostile)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < FIXTURE_WAKERS; i++)
		z->wakers[i] = (struct machine_waker){
			.tid = i ? 2000 + i : 0,
			.comm = i ? fixture_rival_name(i, is_hostile) : NULL,
			.from = i ? MACHINE_FROM_THREAD : MACHINE_FROM_HARDIRQ,
			.interrupt = "timer interrupt",
			.is_from_known = true,
			.wait = { .count = FIXTURE_WAITS >> i,
			          .p50_ns = 2000,
			          .p99_ns = 9000ULL << i,
			          .max_ns = 40000ULL << i,
			          .mean_ns = 2500.0 * (i + 1) },
		};
	for (uint32_t i = 0; i < FIXTURE_RIVALS; i++)
		sum += FIXTURE_RIVAL_NS >> i;
	for (uint32_t i = 0; i < FIXTURE_RIVALS; i++)
		z->rivals[i] = (struct machine_rival){
			.tid = i == FIXTURE_RIVALS - 1 ? 0 : 3000 + i,
			.comm = fixture_rival_name(i, is_hostile),
			.ns = FIXTURE_RIVAL_NS >> i,
			.max_ns = FIXTURE_RIVAL_NS >> (i + 2),
			.share = (double)(FIXTURE_RIVAL_NS >> i) / (double)sum,
			.times = 10 - i,
			.taken = i % 4,
		};
}

void fixture_zoom_init(struct fixture_zoom *z, struct fixture *f, uint32_t thread, bool is_hostile)
{
	*z = (struct fixture_zoom){ 0 };
	make_tables(z, is_hostile);
	for (uint32_t i = 0; i < FIXTURE_LAST; i++)
		make_wait(&z->last[i], i, is_hostile);
	z->zoom = (struct machine_zoom){
		.tid = FIXTURE_TID + thread,
		.row = &f->threads[thread],
		.seconds = 12.5,
		.now_ns = FIXTURE_NOW_NS,
		.waits = { { .count = 900,
		             .p50_ns = 2000,
		             .p99_ns = 9000,
		             .max_ns = 40000,
		             .mean_ns = 2500 } },
		.sleeps = { { 800, 800 * 3100000ULL, 9000000 }, { 0 }, { 3, 3000000, 2000000 } },
		.migrations = 17,
		.wakers = z->wakers,
		.nr_wakers = FIXTURE_WAKERS,
		.rivals = z->rivals,
		.nr_rivals = FIXTURE_RIVALS,
		.last = z->last,
		.nr_last = FIXTURE_LAST,
	};
	f->m.zoom = &z->zoom;
}
