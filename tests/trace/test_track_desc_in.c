#include "../unit.h"

#include <errno.h>
#include <string.h>

#include "enc.h"
#include "trace/perfetto/tracks/track_desc_in.h"

static struct enc keep[64]; /* names are not copied: descriptors stay where they are */
static size_t nr_kept;

static int setup(void **state)
{
	struct track_descs *t;

	nr_kept = 0;
	if (track_descs_new(&t) < 0)
		return -1;
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	track_descs_free(*state);
	return 0;
}

static struct enc *new_desc(uint64_t uuid, uint64_t parent)
{
	struct enc *e = &keep[nr_kept++];

	e->len = 0;
	if (uuid)
		enc_uint(e, 1, uuid);
	if (parent)
		enc_uint(e, 5, parent);
	return e;
}

static void add(struct track_descs *t, struct enc *e)
{
	expect_eq(track_descs_add(t, pb_in_of(e->buf, e->len), NULL), 0);
}

static void add_plain(struct track_descs *t, uint64_t uuid, uint64_t parent, const char *name)
{
	struct enc *e = new_desc(uuid, parent);

	enc_text(e, 2, name);
	add(t, e);
}

static void add_thread(struct track_descs *t, uint64_t uuid, uint64_t pid, uint64_t tid,
                       const char *name)
{
	struct enc sub = { 0 }, *e = new_desc(uuid, 0);

	enc_uint(&sub, 1, pid);
	enc_uint(&sub, 2, tid);
	enc_text(&sub, 5, name);
	enc_msg(e, 4, &sub);
	add(t, e);
}

static void add_process(struct track_descs *t, uint64_t uuid, uint64_t pid)
{
	struct enc sub = { 0 }, *e = new_desc(uuid, 0);

	enc_uint(&sub, 1, pid);
	enc_text(&sub, 6, "proc");
	enc_msg(e, 3, &sub);
	add(t, e);
}

static const struct track_in *get(struct track_descs *t, uint64_t uuid)
{
	uint32_t index = track_descs_find(t, uuid);

	assert_true(index != TRACK_NONE);
	return track_descs_get(t, index);
}

static void the_thread_is_found_above(void **state)
{
	struct track_descs *t = *state;

	add_plain(t, 3, 2, "comm");
	add_plain(t, 4, 3, "TIMER");
	add_thread(t, 2, 100, 101, "comm");

	expect_eq(get(t, 4)->owner, 101);
	expect_eq(get(t, 4)->owner_tgid, 100);
	expect_eq(get(t, 3)->owner, 101);
	expect_eq(get(t, 2)->owner, 101);
}

static void a_circle_of_parents_ends(void **state)
{
	struct track_descs *t = *state;

	add_plain(t, 1, 2, "a");
	add_plain(t, 2, 1, "b");
	add_plain(t, 3, 3, "c");

	expect_eq(get(t, 1)->owner, TRACK_NONE);
	expect_eq(get(t, 3)->owner, TRACK_NONE);
}

static void a_uuid_of_process_and_thread_is_the_thread(void **state)
{
	struct track_descs *t = *state;

	/* wprof 0.2: the process of pid 1 and the idle thread of CPU 0. */
	add_process(t, 12, 1);
	add_thread(t, 12, WPROF_PID_IDLE, 1, "swapper/0");
	/* and the other way round */
	add_thread(t, 22, WPROF_PID_IDLE, 2, "swapper/1");
	add_process(t, 22, 2);

	expect_eq(get(t, 12)->flags & TRACK_IS_IDLE, TRACK_IS_IDLE);
	expect_eq(get(t, 12)->owner, 0);
	expect_eq(get(t, 22)->owner, 1);
}

static void idle_is_idle_in_every_dialect(void **state)
{
	struct track_descs *t = *state;

	add_thread(t, 1, WPROF_PID_IDLE, 18, "swapper/17"); /* CPU + 1 */
	add_thread(t, 2, WPROF_PID_IDLE, 17, "swapper/17"); /* CPU */
	add_thread(t, 3, 0, (uint64_t)-18, "idle");         /* -(CPU + 1) */
	add_plain(t, 4, 0, "swapper/17");                   /* our own */
	add_thread(t, 5, 0, 0, "swapper/17");

	for (uint64_t uuid = 1; uuid <= 5; uuid++) {
		expect_eq(get(t, uuid)->flags & TRACK_IS_IDLE, TRACK_IS_IDLE);
		expect_eq(get(t, uuid)->owner, 17);
	}
}

static void kernel_threads_are_their_own_process(void **state)
{
	struct track_descs *t = *state;

	add_thread(t, 1, WPROF_PID_KERNEL, 40, "kworker/1:0");
	add_thread(t, 2, WPROF_PID_KTHREAD, 41, "rcu");

	expect_eq(get(t, 1)->owner_tgid, 40);
	expect_eq(get(t, 2)->owner_tgid, 41);
	expect_eq(get(t, 2)->flags & TRACK_IS_KERNEL, TRACK_IS_KERNEL);
}

static void an_unknown_thread_has_its_number(void **state)
{
	struct track_descs *t = *state;

	add_plain(t, 1, 0, "UNRESOLVED");
	add_plain(t, 2, 1, "TID 4711");
	add_plain(t, 3, 1, "TID 0");
	add_plain(t, 4, 1, "TID 47x");

	expect_eq(get(t, 1)->owner, TRACK_NONE);
	expect_eq(get(t, 2)->owner, 4711);
	expect_eq(get(t, 3)->owner, TRACK_NONE);
	expect_eq(get(t, 4)->owner, TRACK_NONE);
}

static void tids_may_be_large(void **state)
{
	struct track_descs *t = *state;

	add_thread(t, 1, 5000000, 5000001, "big");

	expect_eq(get(t, 1)->owner, 5000001);
}

static void counters_keep_unit_and_kind(void **state)
{
	struct track_descs *t = *state;
	struct enc sub = { 0 }, *e = new_desc(9, 0);

	enc_uint(&sub, 4, 1000);
	enc_uint(&sub, 5, 1);
	enc_text(&sub, 6, "of no use here");
	enc_text(e, 10, "static");
	enc_msg(e, 8, &sub);
	add(t, e);

	expect_eq(get(t, 9)->multiplier, 1000);
	assert_true(get(t, 9)->flags & TRACK_IS_INCREMENTAL);
	expect_eq(get(t, 9)->name.len, 6);
}

static void the_result_is_what_the_descriptor_says(void **state)
{
	struct track_descs *t = *state;
	struct enc sub = { 0 }, *e = new_desc(0, 0);
	struct track_described desc;

	enc_uint(&sub, 1, 7);
	enc_uint(&sub, 2, 8);
	enc_text(&sub, 5, "x");
	enc_msg(e, 4, &sub);

	expect_eq(track_descs_add(t, pb_in_of(e->buf, e->len), &desc), -EINVAL);
	assert_true(desc.is_thread && !desc.is_process);
	expect_eq(desc.tid, 8);
}

static void many_tracks_are_all_kept(void **state)
{
	struct track_descs *t = *state;
	uint32_t first = track_descs_index(t, 1);

	for (uint64_t uuid = 2; uuid <= 3000; uuid++)
		expect_eq(track_descs_index(t, uuid), uuid - 1);
	expect_eq(track_descs_index(t, 1), first);
	expect_eq(track_descs_find(t, 3001), TRACK_NONE);
}

static void only_swapper_is_swapper(void **state)
{
	static const char *const others[] = { "swapper/", "swapper", "swapper/1x",
		                              "swapper/12345678", "Swapper/1" };
	uint32_t cpu = 99;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(track_swapper_cpu((struct track_text){ others[i], strlen(others[i]) },
		                               &cpu));
	assert_false(track_swapper_cpu((struct track_text){ 0 }, &cpu));
	expect_eq(cpu, 99);
	assert_true(track_swapper_cpu((struct track_text){ "swapper/120", 11 }, &cpu));
	expect_eq(cpu, 120);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_thread_is_found_above),
		T(a_circle_of_parents_ends),
		T(a_uuid_of_process_and_thread_is_the_thread),
		T(idle_is_idle_in_every_dialect),
		T(kernel_threads_are_their_own_process),
		T(an_unknown_thread_has_its_number),
		T(tids_may_be_large),
		T(counters_keep_unit_and_kind),
		T(the_result_is_what_the_descriptor_says),
		T(many_tracks_are_all_kept),
		T(only_swapper_is_swapper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
