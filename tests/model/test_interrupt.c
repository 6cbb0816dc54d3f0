#include "../unit.h"

#include "abi/event.h"
#include "model/interrupt.h"

static void flags_and_number_give_the_context(void **state)
{
	(void)state;
	expect_eq(interrupt_context(0, ABI_BY_UNKNOWN), ABI_IN_TASK);
	expect_eq(interrupt_context(EV_FLAG_SOFTIRQ, ABI_BY_SOFTIRQ + 3), ABI_IN_SOFTIRQ);
	/* A hard interrupt that came upon a softirq. */
	expect_eq(interrupt_context(EV_FLAG_HARDIRQ | EV_FLAG_SOFTIRQ, ABI_BY_TIMER),
	          ABI_IN_HARDIRQ);
	expect_eq(interrupt_context(EV_FLAG_NMI | EV_FLAG_HARDIRQ, 0), ABI_IN_NMI);
	expect_eq(interrupt_context(0, ABI_BY_NOT_RECORDED), ABI_IN_UNKNOWN);
	expect_eq(interrupt_context(EV_FLAG_HARDIRQ, ABI_BY_NOT_RECORDED), ABI_IN_HARDIRQ);
	expect_eq(interrupt_context(EV_FLAG_UNKNOWN, 0), ABI_IN_UNKNOWN);
	assert_false(interrupt_is(ABI_IN_TASK));
	assert_false(interrupt_is(ABI_IN_UNKNOWN));
	assert_true(interrupt_is(ABI_IN_NMI) && interrupt_is(ABI_IN_HARDIRQ) &&
	            interrupt_is(ABI_IN_SOFTIRQ));
}

struct example {
	struct interrupt interrupt;
	const char *title, *words;
};

static void each_has_a_title_and_words(void **state)
{
	static const struct example examples[] = {
		{ { ABI_IN_HARDIRQ, ABI_BY_TIMER, NULL }, "timer interrupt", "the timer interrupt" },
		{ { ABI_IN_HARDIRQ, ABI_BY_CALL_FUNCTION, NULL },
		  "function call IPI",
		  "a function call from another CPU (IPI)" },
		{ { ABI_IN_HARDIRQ, ABI_BY_IRQ + 27, "eth0-rx" },
		  "eth0-rx interrupt",
		  "the interrupt of eth0-rx" },
		{ { ABI_IN_HARDIRQ, ABI_BY_IRQ + 27, NULL }, "interrupt 27", "interrupt 27" },
		{ { ABI_IN_HARDIRQ, ABI_BY_UNKNOWN, NULL },
		  "unknown interrupt",
		  "an interrupt (which one is not known)" },
		{ { ABI_IN_HARDIRQ, ABI_BY_NOT_RECORDED, "no" },
		  "unknown interrupt",
		  "an interrupt (which one is not known)" },
		{ { ABI_IN_HARDIRQ, 31, NULL },
		  "unknown interrupt",
		  "an interrupt (which one is not known)" },
		{ { ABI_IN_SOFTIRQ, ABI_BY_SOFTIRQ + 3, NULL },
		  "net-rx softirq",
		  "the network receive softirq" },
		{ { ABI_IN_SOFTIRQ, ABI_BY_SOFTIRQ + 9, NULL }, "rcu softirq", "the RCU softirq" },
		{ { ABI_IN_SOFTIRQ, ABI_BY_SOFTIRQ + 10, NULL },
		  "unknown softirq",
		  "a softirq (which one is not known)" },
		{ { ABI_IN_SOFTIRQ, ABI_BY_TIMER, NULL },
		  "unknown softirq",
		  "a softirq (which one is not known)" },
		{ { ABI_IN_NMI, ABI_BY_UNKNOWN, NULL }, "NMI", "an NMI" },
	};
	char buf[INTERRUPT_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		assert_string_equal(interrupt_title(&examples[i].interrupt, buf),
		                    examples[i].title);
		assert_string_equal(interrupt_words(&examples[i].interrupt, buf),
		                    examples[i].words);
	}
}

static void a_device_of_any_length_fits(void **state)
{
	const struct interrupt long_one = {
		ABI_IN_HARDIRQ, ABI_BY_IRQ,
		"a-name-that-is-much-longer-than-any-driver-of-the-kernel-would-ever-choose-for-itself"
	};
	char buf[INTERRUPT_TEXT];

	(void)state;
	assert_string_equal(interrupt_words(&long_one, buf),
	                    "the interrupt of a-name-that-is-much-longer-than-any-driver");
	assert_string_equal(interrupt_title(&long_one, buf),
	                    "a-name-that-is-much-longer-than-any-driver-of-th interrupt");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_and_number_give_the_context),
		cmocka_unit_test(each_has_a_title_and_words),
		cmocka_unit_test(a_device_of_any_length_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
