/* mcp/trigger_service, with a stream of our own in place of the kernel's. */
#include "../unit.h"

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "live/live_feed.h"
#include "live/live_triggers.h"
#include "mcp/outgoing.h"
#include "mcp/trigger_service.h"
#include "sys/topology.h"

#define MS       1000000ULL
#define VICTIM   101
#define HOG      102
#define PATIENCE 2000 /* looks, of 5 ms each */
#define ME       7
#define OTHER    8

/* In place of libc's: the clock of records can be ahead. */
static _Atomic(time_t) ahead_s;

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int err = (int)syscall(SYS_clock_gettime, clock, out);

	if (!err && clock == CLOCK_BOOTTIME)
		out->tv_sec += ahead_s;
	return err;
}

union record {
	struct ev_hdr hdr;
	struct ev_switch sw;
	struct ev_wake wake;
	struct ev_lost lost;
};

struct fixture {
	pthread_mutex_t lock;
	union record records[64]; /* to be handed on */
	unsigned int nr;
	unsigned int nr_attached;
	uint64_t now_ns; /* of the stream */
	struct topology *topology;
	struct live_feed *feed;
	struct trigger_service *s;
};

static int fake_open(void *ctx, uint64_t kinds, struct diag *d, void **out)
{
	(void)kinds;
	(void)d;
	*out = ctx;
	return 0;
}

static int fake_attach(void *stream, struct diag *d)
{
	struct fixture *x = stream;

	(void)d;
	pthread_mutex_lock(&x->lock);
	x->nr_attached++;
	x->now_ns = clock_boot_ns();
	pthread_mutex_unlock(&x->lock);
	return 0;
}

static int fake_poll(void *stream, const struct ev_sink *sink, struct diag *d)
{
	struct fixture *x = stream;
	uint64_t now_ns;
	int err = 0;

	(void)d;
	pthread_mutex_lock(&x->lock);
	for (unsigned int i = 0; i < x->nr && !err; i++)
		err = sink->push(sink->ctx, &x->records[i].hdr);
	x->nr = 0;
	now_ns = x->now_ns;
	pthread_mutex_unlock(&x->lock);
	return err ? err : sink->advance(sink->ctx, now_ns);
}

static int fake_finish(void *stream, const struct ev_sink *sink, struct diag *d)
{
	struct fixture *x = stream;

	pthread_mutex_lock(&x->lock);
	x->nr_attached--;
	pthread_mutex_unlock(&x->lock);
	return fake_poll(stream, sink, d);
}

static int fake_fd(void *stream)
{
	(void)stream;
	return -1;
}

static uint64_t fake_missing(void *stream)
{
	(void)stream;
	return EV_BIT(EV_DSQ_LEAVE) | EV_BIT(EV_SCX_STATE);
}

static uint64_t fake_start_ns(void *stream)
{
	return ((struct fixture *)stream)->now_ns;
}

static void fake_close(void *stream)
{
	(void)stream;
}

static int fake_tasks(void *ctx, proc_task_fn *fn, void *fn_ctx, struct diag *d)
{
	struct proc_task victim = { .tid = VICTIM, .tgid = VICTIM, .start_ns = 1 };
	struct proc_task hog = { .tid = HOG, .tgid = HOG, .start_ns = 1 };

	(void)ctx;
	(void)d;
	strcpy(victim.comm, "victim");
	strcpy(hog.comm, "hog");
	return fn(fn_ctx, &victim) || fn(fn_ctx, &hog);
}

static int set_up(void **state)
{
	const struct topology_cpu cpu = { .is_possible = true,
		                          .is_present = true,
		                          .is_online = true };
	const struct topology_table table = { .cpus = &cpu, .nr_cpus = 1 };
	struct fixture *x = calloc(1, sizeof(*x));
	struct live_source source = { fake_open,    fake_attach,   fake_poll,  fake_finish, fake_fd,
		                      fake_missing, fake_start_ns, fake_close, fake_tasks,  x };
	struct live_feed_cfg cfg = { .first_batch_ns = 1, .source = &source };

	assert_non_null(x);
	pthread_mutex_init(&x->lock, NULL);
	expect_eq(topology_new(&table, NULL, &x->topology), 0);
	cfg.topology = x->topology;
	expect_eq(live_feed_open(&cfg, NULL, &x->feed), 0);
	expect_eq(trigger_service_new(x->feed, &x->s), 0);
	*state = x;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *x = *state;

	trigger_service_free(x->s);
	live_feed_close(x->feed);
	expect_eq(x->nr_attached, 0);
	topology_free(x->topology);
	free(x);
	ahead_s = 0;
	return 0;
}

static const char *add(struct fixture *x, uint64_t owner, const char *when, uint64_t cooldown_ns)
{
	static char id[TRIGGER_ID_LEN];
	struct diag d = { 0 };

	expect_eq(trigger_service_add(x->s, owner, when, cooldown_ns, &d, id), 0);
	return id;
}

static void expect_refused(struct fixture *x, const char *when, int err, const char *why)
{
	char id[TRIGGER_ID_LEN];
	struct diag d = { 0 };

	expect_eq(trigger_service_add(x->s, ME, when, 0, &d, id), err);
	if (!strstr(d.what, why))
		fail_msg("'%s' was refused with: %s", when, d.what);
}

static json_t *read_back(struct fixture *x, const char *id)
{
	struct outgoing o = { 0 };
	json_t *json;

	expect_eq(outgoing_begin(&o), 0);
	jw_begin_object(&o.w, NULL);
	expect_eq(trigger_service_put(x->s, id, &o.w), 0);
	jw_end_object(&o.w);
	expect_eq(outgoing_end(&o), 0);
	json = json_loadb(o.text, o.len, 0, NULL);
	assert_non_null(json);
	outgoing_done(&o);
	return json;
}

static uint64_t number(struct fixture *x, const char *id, const char *key)
{
	json_t *json = read_back(x, id);
	uint64_t value = (uint64_t)json_integer_value(json_object_get(json, key));

	json_decref(json);
	return value;
}

static bool comes_to(struct fixture *x, const char *id, uint64_t revision)
{
	struct timespec t = { .tv_nsec = 5 * (long)MS };

	for (int i = 0; i < PATIENCE && trigger_service_revision(x->s, id) != revision; i++)
		nanosleep(&t, NULL);
	return trigger_service_revision(x->s, id) == revision;
}

static void put(struct fixture *x, union record rec, uint64_t after_ns)
{
	x->now_ns += after_ns;
	rec.hdr.ts_ns = x->now_ns;
	x->records[x->nr++] = rec;
}

static void switched(struct fixture *x, uint32_t prev, uint32_t next, uint32_t state, uint64_t ns)
{
	put(x,
	    (union record){ .sw = { .hdr = { sizeof(struct ev_switch), EV_SWITCH, 0, 0, 0 },
	                            .prev_tid = prev,
	                            .next_tid = next,
	                            .prev_state = state } },
	    ns);
}

static void woken(struct fixture *x, uint32_t tid, uint64_t ns)
{
	put(x,
	    (union record){
		    .wake = { .hdr = { sizeof(struct ev_wake), EV_WAKING, 0, 0, 0 }, .tid = tid } },
	    ns);
}

/* The victim sleeps, is woken, and waits for so long behind the hog; then it runs, if the wait is over. */
static void one_wait(struct fixture *x, uint64_t ns, bool is_over)
{
	pthread_mutex_lock(&x->lock);
	switched(x, VICTIM, HOG, EV_STATE_S, MS);
	woken(x, VICTIM, MS);
	if (is_over)
		switched(x, HOG, VICTIM, 0, ns);
	else
		x->now_ns += ns;
	pthread_mutex_unlock(&x->lock);
}

/* What was given so far has come in. */
static void settle(struct fixture *x)
{
	(void)live_feed_lock(x->feed);
	live_feed_unlock(x->feed);
}

static void what_cannot_be_is_refused(void **state)
{
	struct fixture *x = *state;

	expect_refused(x, "wait a moment", -EINVAL, "has no '>'");
	expect_refused(x, "stal>5ms", -EINVAL, "is not a trigger");
	expect_refused(x, "stall>5ms,cpu=1", -EINVAL, "is not a condition");
	expect_refused(x, "uprobe:/bin/x:f>1ms", -ENOTSUP, "functions are not watched");
	expect_eq(x->nr_attached, 0);
	expect_refused(x, "dsq-latency>1ms", -ENOTSUP, "cannot be followed");
	expect_refused(x, "scx-eject", -ENOTSUP, "cannot be followed");
	expect_refused(x, "throttled>1ms", -ENOTSUP, "cannot be followed");
	settle(x);
	expect_eq(x->nr_attached, 0);
}

static void it_is_attached_for_as_long_as_it_is_there(void **state)
{
	struct fixture *x = *state;
	struct diag d = { 0 };
	const char *id = add(x, ME, "stall>5ms", MS);

	expect_eq(x->nr_attached, 1);
	assert_true(trigger_service_has(x->s, ME));
	expect_eq(trigger_service_revision(x->s, id), 1);
	expect_eq(trigger_service_remove(x->s, ME, id, &d), 0);
	settle(x);
	expect_eq(x->nr_attached, 0);
	assert_false(trigger_service_has(x->s, ME));
	expect_eq(trigger_service_revision(x->s, id), 0);
	expect_eq(trigger_service_put(x->s, id, NULL), -ENOENT);
}

static void reading_says_who_and_why(void **state)
{
	struct fixture *x = *state;
	char id[TRIGGER_ID_LEN], quiet[TRIGGER_ID_LEN], text[2048];
	json_t *json, *firing;

	strcpy(id, add(x, ME, "wakeup-latency>5ms,comm=vic*", MS));
	strcpy(quiet, add(x, ME, "wakeup-latency>5ms,comm=quiet*", MS));
	one_wait(x, 4 * MS, true); /* too short */
	one_wait(x, 8 * MS, true);
	assert_true(comes_to(x, id, 2));
	json = read_back(x, id);
	firing = json_array_get(json_object_get(json, "firings"), 0);
	expect_eq(json_integer_value(json_object_get(json, "fired")), 1);
	expect_eq(json_integer_value(json_object_get(firing, "tid")), VICTIM);
	assert_string_equal(json_string_value(json_object_get(firing, "comm")), "victim");
	assert_true(json_is_true(json_object_get(firing, "is_over")));
	(void)snprintf(text, sizeof(text), "%s %s",
	               json_string_value(json_object_get(firing, "what")),
	               json_string_value(json_array_get(json_object_get(firing, "sentences"), 1)));
	assert_non_null(strstr(text, "wakeup-latency 8.0ms of victim (101)"));
	assert_non_null(strstr(text, "behind hog (102) on CPU 0"));
	json_decref(json);
	expect_eq(number(x, quiet, "fired"), 0);
	expect_eq(trigger_service_revision(x->s, quiet), 1);
}

static bool is_over(struct fixture *x, const char *id)
{
	json_t *json = read_back(x, id);
	const json_t *firing = json_array_get(json_object_get(json, "firings"), 0);
	bool value = json_is_true(json_object_get(firing, "is_over"));

	assert_true(json_is_boolean(json_object_get(firing, "is_over")));
	json_decref(json);
	return value;
}

static void a_wait_that_lasts_is_told_at_once_and_again_when_it_is_over(void **state)
{
	struct fixture *x = *state;
	const char *id = add(x, ME, "stall>5ms", MS);

	one_wait(x, 20 * MS, false);
	assert_true(comes_to(x, id, 2));
	assert_false(is_over(x, id));
	pthread_mutex_lock(&x->lock);
	switched(x, HOG, VICTIM, 0, 5 * MS);
	pthread_mutex_unlock(&x->lock);
	settle(x);
	assert_true(is_over(x, id));
	expect_eq(trigger_service_revision(x->s, id), 2);
}

static void within_the_cooldown_it_is_only_counted(void **state)
{
	struct fixture *x = *state;
	char slow[TRIGGER_ID_LEN], each[TRIGGER_ID_LEN];
	json_t *json;

	strcpy(slow, add(x, ME, "wakeup-latency>5ms", 1000 * MS));
	strcpy(each, add(x, ME, "wakeup-latency>5ms", 0));
	for (uint64_t i = 1; i <= 6; i++) {
		one_wait(x, 8 * MS, true);
		assert_true(comes_to(x, each, 1 + i));
	}
	expect_eq(trigger_service_revision(x->s, slow), 2);
	expect_eq(number(x, slow, "fired"), 6);
	expect_eq(number(x, slow, "only_counted"), 5);
	json = read_back(x, each);
	expect_eq(json_integer_value(json_object_get(json, "fired")), 6);
	assert_true(json_array_size(json_object_get(json, "firings")) <= 4);
	assert_true(json_array_size(json_object_get(json, "firings")) > 1);
	json_decref(json);
	pthread_mutex_lock(&x->lock);
	x->now_ns += 1000 * MS;
	pthread_mutex_unlock(&x->lock);
	one_wait(x, 8 * MS, true);
	assert_true(comes_to(x, slow, 3));
}

static void lost_events_are_told(void **state)
{
	struct fixture *x = *state;
	const char *id = add(x, ME, "lost>9", MS);

	pthread_mutex_lock(&x->lock);
	put(x,
	    (union record){ .lost = { .hdr = { sizeof(struct ev_lost), EV_LOST, 0, 0, 0 },
	                              .kind = EV_SWITCH,
	                              .count = 10 } },
	    MS);
	pthread_mutex_unlock(&x->lock);
	assert_true(comes_to(x, id, 2));
}

static void a_client_has_its_own_and_not_too_many(void **state)
{
	struct fixture *x = *state;
	struct trigger_line lines[TRIGGERS_PER_OWNER];
	struct diag d = { 0 };
	char id[TRIGGER_ID_LEN], mine[TRIGGER_ID_LEN];

	for (uint32_t i = 0; i < TRIGGERS_PER_OWNER; i++)
		strcpy(mine, add(x, ME, "stall>5ms", MS));
	expect_refused(x, "stall>5ms", -EUSERS, "you have as many");
	for (uint64_t owner = OTHER; owner < OTHER + 3; owner++)
		for (uint32_t i = 0; i < TRIGGERS_PER_OWNER; i++)
			(void)add(x, owner, "stall>6ms", MS);
	expect_eq(trigger_service_add(x->s, 99, "stall>5ms", 0, &d, id), -EUSERS);
	expect_eq(trigger_service_list(x->s, ME, lines), TRIGGERS_PER_OWNER);
	assert_string_equal(lines[0].when, "stall>5ms");
	expect_eq(trigger_service_list(x->s, 99, lines), 0);
	expect_eq(trigger_service_remove(x->s, OTHER, mine, &d), -ENOENT);
	expect_eq(trigger_service_list(x->s, ME, lines), TRIGGERS_PER_OWNER);
	trigger_service_forget(x->s, ME);
	expect_eq(trigger_service_list(x->s, ME, lines), 0);
	assert_false(trigger_service_has(x->s, ME));
	expect_eq(trigger_service_list(x->s, OTHER, lines), TRIGGERS_PER_OWNER);
	expect_eq(x->nr_attached, 1);
}

/* There are clients without a session: they have only what they were handed. */
static void without_an_owner_only_the_id_leads_to_it(void **state)
{
	struct fixture *x = *state;
	struct trigger_line lines[TRIGGERS_PER_OWNER];
	struct diag d = { 0 };
	const char *id = add(x, 0, "stall>5ms", MS);

	expect_eq(trigger_service_list(x->s, 0, lines), 0);
	expect_eq(number(x, id, "fired"), 0);
	expect_eq(trigger_service_remove(x->s, 0, id, &d), 0);
}

static void one_that_nobody_reads_ends(void **state)
{
	struct fixture *x = *state;
	char read_one[TRIGGER_ID_LEN], held[TRIGGER_ID_LEN], left[TRIGGER_ID_LEN];

	strcpy(read_one, add(x, ME, "stall>5ms", MS));
	strcpy(held, add(x, ME, "stall>5ms", MS));
	strcpy(left, add(x, ME, "stall>5ms", MS));
	trigger_service_hold(x->s, held);
	ahead_s = 400;
	(void)number(x, read_one, "fired");
	ahead_s = 800;
	(void)add(x, OTHER, "stall>5ms", MS); /* the thread looks */
	assert_true(comes_to(x, left, 0));
	expect_eq(trigger_service_revision(x->s, read_one), 1);
	expect_eq(trigger_service_revision(x->s, held), 1);
	trigger_service_drop(x->s, held);
	ahead_s = 1500;
	(void)add(x, OTHER, "stall>5ms", MS);
	assert_true(comes_to(x, held, 0));
	assert_true(comes_to(x, read_one, 0));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_cannot_be_is_refused),
		CASE(it_is_attached_for_as_long_as_it_is_there),
		CASE(reading_says_who_and_why),
		CASE(a_wait_that_lasts_is_told_at_once_and_again_when_it_is_over),
		CASE(within_the_cooldown_it_is_only_counted),
		CASE(lost_events_are_told),
		CASE(a_client_has_its_own_and_not_too_many),
		CASE(without_an_owner_only_the_id_leads_to_it),
		CASE(one_that_nobody_reads_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
