#include "../unit.h"

#include <string.h>

#include "record/flight_name.h"

static const struct tm when = {
	.tm_year = 126, .tm_mon = 10, .tm_mday = 15, .tm_hour = 5, .tm_min = 30, .tm_sec = 12
};

static struct trigger_hit hit_of(enum trigger_kind kind, uint64_t value, const char *comm)
{
	struct trigger_hit hit = { .kind = kind, .value = value, .tid = 1234 };

	memcpy(hit.comm, comm, strlen(comm));
	return hit;
}

static void expect_name(enum trigger_kind kind, uint64_t value, const char *comm, const char *want)
{
	struct trigger_hit hit = hit_of(kind, value, comm);
	char buf[128];

	assert_string_equal(flight_name(buf, sizeof(buf), "schedscope", &when, &hit), want);
}

static void a_name_has_time_trigger_value_and_task(void **state)
{
	(void)state;
	expect_name(TRIGGER_WAKEUP_LATENCY, 6254636, "nginx",
	            "schedscope-20261115T053012-wakeup-latency-6.2ms-nginx-1234");
	expect_name(TRIGGER_SLICE, 12999999, "a", "schedscope-20261115T053012-slice-12ms-a-1234");
	expect_name(TRIGGER_SLEEP, 1500000000, "a", "schedscope-20261115T053012-sleep-1.5s-a-1234");
	expect_name(TRIGGER_UPROBE, 87654, "a", "schedscope-20261115T053012-uprobe-87us-a-1234");
	expect_name(TRIGGER_DSQ_LATENCY, 999, "a",
	            "schedscope-20261115T053012-dsq-latency-999ns-a-1234");
	expect_name(TRIGGER_QUEUE_DEPTH, 17, "a",
	            "schedscope-20261115T053012-queue-depth-17-a-1234");
}

static void names_of_tasks_do_no_harm(void **state)
{
	(void)state;
	expect_name(TRIGGER_SLICE, 5, "../../etc/x y",
	            "schedscope-20261115T053012-slice-5ns-.._.._etc_x_y-1234");
	expect_name(TRIGGER_SLICE, 5, "\n\033[1m\xff",
	            "schedscope-20261115T053012-slice-5ns-___1m_-1234");
	expect_name(TRIGGER_SLICE, 5, "", "schedscope-20261115T053012-slice-5ns-1234");
}

static void a_manual_trigger_has_no_value_and_no_task(void **state)
{
	struct trigger_hit hit = { .kind = TRIGGER_USER };
	char buf[128];

	(void)state;
	assert_string_equal(flight_name(buf, sizeof(buf), "web", &when, &hit),
	                    "web-20261115T053012-requested");
	assert_string_equal(flight_reason(buf, sizeof(buf), &hit), "on request");
}

static void what_does_not_fit_is_cut(void **state)
{
	struct trigger_hit hit = hit_of(TRIGGER_SLICE, 5000000, "nginx");
	char buf[16];

	(void)state;
	assert_string_equal(flight_name(buf, sizeof(buf), "schedscope", &when, &hit),
	                    "schedscope-2026");
}

static void a_reason_for_people(void **state)
{
	struct trigger_hit hit = hit_of(TRIGGER_WAKEUP_LATENCY, 6200000, "ng\033inx");
	char buf[128];

	(void)state;
	assert_string_equal(flight_reason(buf, sizeof(buf), &hit),
	                    "wakeup-latency 6.2ms of ng?inx (1234)");
	hit = hit_of(TRIGGER_QUEUE_DEPTH, 9, "");
	assert_string_equal(flight_reason(buf, sizeof(buf), &hit),
	                    "queue-depth 9 of a task (1234)");
	hit = (struct trigger_hit){ .kind = TRIGGER_SCX_EJECT, .comm = "scx\033y" };
	assert_string_equal(flight_reason(buf, sizeof(buf), &hit),
	                    "the scheduler scx?y was ejected");
	assert_string_equal(flight_name(buf, sizeof(buf), "schedscope", &when, &hit),
	                    "schedscope-20261115T053012-scx-eject-scx_y");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_has_time_trigger_value_and_task),
		cmocka_unit_test(names_of_tasks_do_no_harm),
		cmocka_unit_test(a_manual_trigger_has_no_value_and_no_task),
		cmocka_unit_test(what_does_not_fit_is_cut),
		cmocka_unit_test(a_reason_for_people),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
