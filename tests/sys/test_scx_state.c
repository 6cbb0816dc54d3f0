#include "../unit.h"

#include <string.h>

#include "sys/scx/scx_state.h"
#include "tree.h"

static void the_state_of_sched_ext_decides_not_the_name(void **state)
{
	struct scx_state s;
	struct tree t;

	(void)state;
	tree_init(&t);
	scx_state_read(t.root, &s);
	assert_false(s.is_supported);
	assert_false(s.is_enabled);
	assert_string_equal(s.ops, "");
	assert_int_equal(s.switch_all, -1);
	assert_int_equal(s.enable_seq, -1);
	tree_write(&t, "sys/kernel/sched_ext/state", "disabled\n");
	scx_state_read(t.root, &s);
	assert_true(s.is_supported);
	assert_false(s.is_enabled);
	tree_write(&t, "sys/kernel/sched_ext/state", "enabled\n");
	tree_write(&t, "sys/kernel/sched_ext/root/ops", "lavd\n"); /* none begins with scx_ */
	scx_state_read(t.root, &s);
	assert_true(s.is_enabled);
	assert_string_equal(s.ops, "lavd");
	assert_string_equal(s.state, "enabled");
	tree_write(&t, "sys/kernel/sched_ext/switch_all", "1\n");
	tree_write(&t, "sys/kernel/sched_ext/nr_rejected", "0\n");
	tree_write(&t, "sys/kernel/sched_ext/hotplug_seq", "x\n");
	tree_write(&t, "sys/kernel/sched_ext/enable_seq", "17\n");
	scx_state_read(t.root, &s);
	assert_int_equal(s.switch_all, 1);
	assert_int_equal(s.nr_rejected, 0);
	assert_int_equal(s.hotplug_seq, -1);
	assert_int_equal(s.enable_seq, 17);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_state_of_sched_ext_decides_not_the_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
