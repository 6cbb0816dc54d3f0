/* What a process that holds a trace may ask: whatever it sends, the server looks up within its bounds, or refuses. */
#include "../unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/traces/trace_child_priv.h"
#include "mcp/traces/trace_names.h"
#include "record/frame_names.h"
#include "record/frame_query.h"

static const struct frame_limits no_limits;

/* A question with one file; the parts that are to be wrong are the caller's. */
struct question {
	const char *release;
	uint64_t nr_files; /* as it says */
	const char *path;
	size_t id_len, places_len;
};

static const struct question good = { "1.2.3", 1, "/nowhere/x", FRAME_ID_MAX,
	                              sizeof(struct frame_place) };

static void put(struct sandbox_msg *m, const struct question *q)
{
	static const uint8_t id[64] = { 7 };
	static const struct frame_place places[2];

	sandbox_msg_begin(m, TRACE_PLACES);
	sandbox_put_text(m, q->release);
	sandbox_put_u64(m, 0);
	sandbox_put_u64(m, q->nr_files);
	sandbox_put_text(m, q->path);
	sandbox_put_bytes(m, id, q->id_len);
	sandbox_put_bytes(m, places, q->places_len);
}

static int ask(const struct question *q)
{
	struct sandbox_msg m = { 0 }, answer = { 0 };
	int err;

	put(&m, q);
	err = trace_names_answer(&m, &no_limits, &answer);
	sandbox_msg_done(&m);
	sandbox_msg_done(&answer);
	return err;
}

static void a_question_of_any_shape_is_refused_or_answered(void **state)
{
	char *longest = calloc(1, 8192);
	struct question q = good;

	(void)state;
	assert_non_null(longest);
	memset(longest, 'x', 8191);
	expect_eq(ask(&q), 0);
	q.release = NULL;
	expect_eq(ask(&q), -EBADMSG);
	q.release = longest;
	expect_eq(ask(&q), -EBADMSG);
	q = good;
	q.path = longest;
	expect_eq(ask(&q), -EBADMSG);
	q.path = NULL;
	expect_eq(ask(&q), -EBADMSG);
	q = good;
	q.id_len = FRAME_ID_MAX + 1;
	expect_eq(ask(&q), -EBADMSG);
	q.id_len = 0;
	expect_eq(ask(&q), -EBADMSG);
	q = good;
	q.places_len = sizeof(struct frame_place) + 1;
	expect_eq(ask(&q), -EBADMSG);
	q.places_len = 0;
	expect_eq(ask(&q), -EBADMSG);
	q = good;
	q.nr_files = TRACE_NAMES_FILES + 1U;
	expect_eq(ask(&q), -EBADMSG);
	q.nr_files = UINT64_MAX;
	expect_eq(ask(&q), -EBADMSG);
	q.nr_files = 2; /* there is one */
	expect_eq(ask(&q), -EBADMSG);
	free(longest);
}

static void a_question_that_ends_early_is_refused(void **state)
{
	struct sandbox_msg whole = { 0 };

	(void)state;
	put(&whole, &good);
	for (size_t len = 0; len < whole.len; len++) {
		struct sandbox_msg m = whole, answer = { 0 };

		m.len = len;
		expect_eq(trace_names_answer(&m, &no_limits, &answer), -EBADMSG);
		sandbox_msg_done(&answer);
	}
	sandbox_msg_done(&whole);
}

/* Files that it does not have, and places beyond any file. */
static void places_outside_have_no_names(void **state)
{
	static const struct frame_place places[] = {
		{ .file = 1 },
		{ .file = 0, .at = UINT64_MAX },
		{ .file = FRAME_KERNEL, .at = 5 },
		{ .file = FRAME_UNWANTED },
		{ .file = UINT32_MAX - 2 },
	};
	struct sandbox_msg m = { 0 }, answer = { 0 };
	struct frame_names *names = NULL;

	(void)state;
	sandbox_msg_begin(&m, TRACE_PLACES);
	sandbox_put_text(&m, "");
	sandbox_put_u64(&m, 4096);
	sandbox_put_u64(&m, 1);
	sandbox_put_text(&m, "/nowhere/x");
	sandbox_put_bytes(&m, "\1", 1);
	sandbox_put_bytes(&m, places, sizeof(places));
	expect_eq(trace_names_answer(&m, &no_limits, &answer), 0);
	expect_eq(answer.kind, TRACE_NAMES);
	expect_eq(trace_names_get(&answer, 5, &names), 0);
	for (size_t i = 0; i < 6; i++)
		assert_null(frame_names_of(names, i));
	frame_names_free(names);
	sandbox_msg_done(&m);
	sandbox_msg_done(&answer);
}

static void what_is_asked_is_bounded(void **state)
{
	struct frame_query q = { .nr_files = TRACE_NAMES_FILES + 3U,
		                 .nr_places = TRACE_NAMES_PLACES + 3U };
	struct sandbox_msg m = { 0 }, answer = { 0 };
	const struct frame_limits at_once = { .wall_ns = 1 };

	(void)state;
	q.files = calloc(q.nr_files, sizeof(*q.files));
	q.places = calloc(q.nr_places, sizeof(*q.places));
	assert_true(q.files && q.places);
	for (uint32_t i = 0; i < q.nr_files; i++)
		q.files[i] = (struct frame_file){ .path = "/nowhere/x", .nr_build_id = 20 };
	trace_names_put_query(&m, &q);
	expect_eq(trace_names_answer(&m, &at_once, &answer), 0);
	expect_eq(sandbox_get_u64(&answer), TRACE_NAMES_PLACES);
	sandbox_msg_done(&m);
	sandbox_msg_done(&answer);
	free(q.files);
	free(q.places);
}

static void names_come_back_by_frame(void **state)
{
	struct sandbox_msg m = { 0 };
	struct frame_names *names = NULL;

	(void)state;
	sandbox_msg_begin(&m, TRACE_NAMES);
	sandbox_put_u64(&m, 2);
	sandbox_put_text(&m, NULL);
	sandbox_put_text(&m, "second");
	m.at = 0;
	expect_eq(trace_names_get(&m, 1, &names), -EBADMSG); /* more than were asked for */
	m.at = 0;
	m.error = 0;
	expect_eq(trace_names_get(&m, 3, &names), 0);
	assert_null(frame_names_of(names, 0));
	assert_string_equal(frame_names_of(names, 1), "second");
	assert_null(frame_names_of(names, 2));
	frame_names_free(names);
	sandbox_msg_done(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_of_any_shape_is_refused_or_answered),
		cmocka_unit_test(a_question_that_ends_early_is_refused),
		cmocka_unit_test(places_outside_have_no_names),
		cmocka_unit_test(what_is_asked_is_bounded),
		cmocka_unit_test(names_come_back_by_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
