#include "sql_fixture.h"

#include "abi/call.h"
#include "abi/event_make.h"

static void named(struct pass_fixture *p, uint64_t cgroup, const char *path)
{
	struct ev_cgroup_named rec;

	ev_make_cgroup_info(&rec, cgroup, path, 900 * US);
	push(&p->f, &rec);
}

static void moved(struct pass_fixture *p, uint32_t tid, uint64_t cgroup)
{
	push(&p->f, &(struct ev_cgroup){ .hdr = { .size = sizeof(struct ev_cgroup),
	                                          .kind = EV_CGROUP,
	                                          .ts_ns = 950 * US },
	                                 .tid = tid,
	                                 .cgroup = cgroup });
}

void sql_story(struct pass_fixture *p)
{
	struct fixture *f = &p->f;

	measures(f, EV_MEASURES_QUOTA);
	named(p, 7, "/limited");
	named(p, 8, "/free");
	thread_of(f, 900 * US, 10, "hog");
	thread_of(f, 900 * US, 11, "web");
	thread_of(f, 900 * US, 12, "web");
	thread_of(f, 900 * US, 13, "db");
	moved(p, 12, 7);
	moved(p, 11, 8);
	sw(f, 1000 * US, 0, 0, 11, EV_STATE_RUNNABLE);
	sw(f, 1000 * US, 1, 0, 13, EV_STATE_RUNNABLE);
	push_sleep(f, 1010 * US, 1, 13, ABI_CALL_futex, 0xabc0, 0);
	sw(f, 1010 * US, 1, 13, 0, EV_STATE_S);
	sw(f, 1020 * US, 0, 11, 10, EV_STATE_RUNNABLE); /* 11 waits behind 10 for 40 us */
	sw(f, 1060 * US, 0, 10, 11, EV_STATE_S);
	waking(f, 1100 * US, 0, 13, 11);
	wakeup(f, 1110 * US, 1, 13, 1);
	sw(f, 1120 * US, 1, 0, 13, EV_STATE_RUNNABLE);
	sw(f, 1200 * US, 0, 11, 12, EV_STATE_S);
	sw(f, 1300 * US, 0, 12, 0, EV_STATE_RUNNABLE);
	throttle(f, 1300 * US, 0, 12, 7);
	refill(f, 1360 * US, 7, EVERY_CPU);
	sw(f, 1365 * US, 0, 0, 12, EV_STATE_RUNNABLE);
	migrate(f, 1370 * US, 13, 1, 2);
	sw(f, 1400 * US, 0, 12, 0, EV_STATE_D);
	sw(f, 1400 * US, 1, 13, 0, EV_STATE_S);
	finish(p, 1500 * US);
}

void ask(struct asked *a, const struct pass_fixture *p, struct sql_query *q, const char *text)
{
	ask_done(a);
	a->r = report_new(0);
	a->d = (struct diag){ 0 };
	q->text = text;
	q->shape = SQL_ARRAYS;
	report_begin_object(a->r, NULL);
	a->err = sql_run(&p->source, q, a->r, &a->result, &a->d);
	report_end_object(a->r);
	a->root = a->err ? NULL : report_root(a->r);
}

void ask_done(struct asked *a)
{
	report_free(a->r);
	a->r = NULL;
}
