#include "../unit.h"

#include <errno.h>
#include <string.h>

#include "record/flight.h"
#include "record/flight_probes.h"

static const struct trigger uprobe = { .kind = TRIGGER_UPROBE, .path = "/bin/x", .symbol = "f" };
static const struct trigger slice = { .kind = TRIGGER_SLICE };

static void each_uprobe_trigger_gets_a_beginning_and_a_return(void **state)
{
	const struct events_probe asked[] = { { EV_PROBE_KPROBE, 7, "do_exit" },
		                              { EV_PROBE_UPROBE, 3, "/bin/x:f" } };
	const struct trigger triggers[] = { slice, uprobe, uprobe };
	const struct flight_cfg cfg = { .source = { .probes = asked, .nr_probes = 2 },
		                        .triggers = triggers,
		                        .nr_triggers = 3 };
	struct flight_probes p = { 0 };
	struct diag d = { 0 };

	(void)state;
	expect_eq(flight_probes_make(&p, &cfg, &d), 0);
	expect_eq(p.nr, 6);
	expect_eq(p.items[0].id, 7);
	assert_string_equal(p.items[0].spec, "do_exit");
	expect_eq(p.items[1].id, 3);
	for (uint32_t i = 2; i < 6; i++) {
		expect_eq(p.items[i].type, EV_PROBE_UPROBE);
		expect_eq(p.items[i].id, 6 + i); /* after the highest that was given */
		assert_string_equal(p.items[i].spec, i % 2 ? "ret:/bin/x:f" : "/bin/x:f");
	}
	expect_eq(p.entry_ids[0] + p.return_ids[0], 0);
	expect_eq(p.entry_ids[1], 8);
	expect_eq(p.return_ids[1], 9);
	expect_eq(p.entry_ids[2], 10);
	expect_eq(p.return_ids[2], 11);
	flight_probes_done(&p);
}

static void without_triggers_it_is_what_was_asked_for(void **state)
{
	const struct flight_cfg cfg = { 0 };
	struct flight_probes p = { 0 };
	struct diag d = { 0 };

	(void)state;
	expect_eq(flight_probes_make(&p, &cfg, &d), 0);
	expect_eq(p.nr, 0);
	flight_probes_done(&p);
}

static void too_many_and_wrong_ones_are_refused(void **state)
{
	struct events_probe asked[PROBES_MAX + 1];
	struct trigger odd = uprobe;
	struct flight_cfg cfg = { .source = { .probes = asked, .nr_probes = PROBES_MAX - 1 },
		                  .triggers = &uprobe,
		                  .nr_triggers = 1 };
	struct flight_probes p = { 0 };
	struct diag d = { 0 };

	(void)state;
	for (uint32_t i = 0; i < PROBES_MAX + 1; i++)
		asked[i] = (struct events_probe){ EV_PROBE_KPROBE, i + 1, "f" };
	assert_int_equal(flight_probes_make(&p, &cfg, &d), -EINVAL);
	assert_non_null(strstr(d.what, "more than 64 probes"));
	flight_probes_done(&p);
	memset(&p, 0, sizeof(p));
	cfg.source.nr_probes = PROBES_MAX - 2;
	expect_eq(flight_probes_make(&p, &cfg, &d), 0);
	expect_eq(p.nr, PROBES_MAX);
	flight_probes_done(&p);
	memset(&p, 0, sizeof(p));
	cfg.source.nr_probes = PROBES_MAX + 1;
	assert_int_equal(flight_probes_make(&p, &cfg, &d), -EINVAL);
	cfg.source.nr_probes = 0;
	memcpy(odd.symbol, "f g", 4);
	cfg.triggers = &odd;
	d = (struct diag){ 0 };
	assert_int_equal(flight_probes_make(&p, &cfg, &d), -EINVAL);
	assert_non_null(strstr(d.what, "is not a uprobe"));
	flight_probes_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_uprobe_trigger_gets_a_beginning_and_a_return),
		cmocka_unit_test(without_triggers_it_is_what_was_asked_for),
		cmocka_unit_test(too_many_and_wrong_ones_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
