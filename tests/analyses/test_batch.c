#include "../analyze/pass_fixture.h"

#include <string.h>

#include "analyses/batch.h"
#include "analyses/passes.h"

static void fill(struct pass_fixture *p)
{
	for (uint64_t i = 0; i < 200; i++) {
		waking(&p->f, 1000 + 100 * i, 0, 10 + (uint32_t)(i % 2), 5);
		sw(&p->f, 1050 + 100 * i, 0, i ? 11 - (uint32_t)(i % 2) : 0, 10 + (uint32_t)(i % 2),
		   i ? EV_STATE_S : 0);
	}
	finish(p, 30000);
}

/* Each report of a batch is the one that the analysis gives alone. */
static bool is_same(const struct report_node *a, const struct report_node *b)
{
	if (!a || !b || a->type != b->type || (a->key && strcmp(a->key, b->key)))
		return a == b;
	switch (a->type) {
	case REPORT_U64:
		return a->u64 == b->u64;
	case REPORT_I64:
		return a->i64 == b->i64;
	case REPORT_DOUBLE:
		return a->f == b->f;
	case REPORT_STRING:
		return !strcmp(a->text, b->text);
	case REPORT_ARRAY:
	case REPORT_OBJECT:
		if (a->nr != b->nr)
			return false;
		for (a = a->first, b = b->first; a; a = a->next, b = b->next)
			if (!is_same(a, b))
				return false;
		return true;
	default:
		return true;
	}
}

static void a_batch_gives_what_each_gives_alone(void **state)
{
	struct pass_fixture *p = *state;
	struct diag d = { 0 };
	struct batch b;

	fill(p);
	assert_int_equal(batch_run(&p->source, &p->args, NULL, &d, &b), 0);
	assert_true(b.nr >= 10);
	for (size_t i = 0; i < b.nr; i++) {
		assert_non_null(b.results[i].report);
		assert_true(
			is_same(report_root(b.results[i].report), run_pass(p, b.results[i].pass)));
	}
	batch_done(&b);
}

static void a_category_is_a_part_and_what_does_not_apply_is_left_out(void **state)
{
	struct pass_fixture *p = *state;
	struct diag d = { 0 };
	struct batch b;

	fill(p);
	assert_int_equal(batch_run(&p->source, &p->args, "scheduling", &d, &b), 0);
	assert_true(b.nr > 0 && b.nr < nr_passes);
	for (size_t i = 0; i < b.nr; i++) {
		assert_string_equal(b.results[i].pass->category, "scheduling");
		assert_true(pass_applies(b.results[i].pass, &p->source));
	}
	batch_done(&b);
	assert_int_equal(batch_run(&p->source, &p->args, "nothing", &d, &b), 0);
	expect_eq(b.nr, 0);
	batch_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_batch_gives_what_each_gives_alone, pass_setup,
		                                pass_teardown),
		cmocka_unit_test_setup_teardown(
			a_category_is_a_part_and_what_does_not_apply_is_left_out, pass_setup,
			pass_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
