#include "../unit.h"

#include <errno.h>

#include "sys/proc/irq_names.h"
#include "tree.h"

static void handlers_have_names_and_interrupts_are_found_by_them(void **state)
{
	char name[16] = "";
	struct tree t;
	uint32_t irq = 0;

	(void)state;
	tree_init(&t);
	tree_write(&t, "sys/kernel/irq/9/actions", "acpi,i801_smbus\n");
	tree_write(&t, "sys/kernel/irq/11/actions", "arch_timer\n");
	tree_write(&t, "sys/kernel/irq/12/actions", "\n");
	tree_write(&t, "sys/kernel/irq/13/actions", "");
	tree_write(&t, "sys/kernel/irq/no/actions", "arch_timers\n");
	assert_int_equal(irq_name_read(t.root, 9, name, sizeof(name)), 0);
	assert_string_equal(name, "acpi,i801_smbus");
	assert_int_equal(irq_name_read(t.root, 9, name, 5), 0);
	assert_string_equal(name, "acpi"); /* cut */
	assert_int_equal(irq_name_read(t.root, 12, name, sizeof(name)), -ENOENT);
	assert_int_equal(irq_name_read(t.root, 13, name, sizeof(name)), -ENOENT);
	assert_int_equal(irq_name_read(t.root, 14, name, sizeof(name)), -ENOENT);
	assert_int_equal(irq_name_find(t.root, "arch_timer", &irq), 0);
	expect_eq(irq, 11);
	assert_int_equal(irq_name_find(t.root, "arch_timers", &irq), -ENOENT);
	tree_done(&t);
	assert_int_equal(irq_name_find("/nonexistent", "arch_timer", &irq), -ENOENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(handlers_have_names_and_interrupts_are_found_by_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
