#include "../base/bytes.h"

#include "trace/perfetto/schema.h"
#include "trace/perfetto/write/packets.h"

static void a_slice_begins_with_annotations_and_a_flow(void **state)
{
	static const uint64_t flow = 0x1234;
	const struct track_arg args[] = { { .name_iid = 9, .type = ARG_INT, .i = 2 },
		                          { .name_iid = 10, .type = ARG_DOUBLE, .d = 12.5 } };
	const struct track_event event = {
		.head = { .has_ts = true, .ts_ns = 1350, .seq = 7 },
		.type = TRACK_SLICE_BEGIN,
		.track_uuid = 1001,
		.name_iid = 5,
		.category_iid = 1,
		.args = args,
		.nr_args = 2,
		.flows = &flow,
		.nr_flows = 1,
	};
	struct pb w = { .cap = 1024 };

	(void)state;
	packet_track_event(&w, &event);
	expect_bytes(&w, "0a 2d  40 c6 0a  50 07  5a 26"
	                 "48 01  58 e9 07  50 05  18 01"
	                 "22 04 08 09 20 02"
	                 "22 0b 08 0a 29 00 00 00 00 00 00 29 40"
	                 "f9 02 34 12 00 00 00 00 00 00");
	pb_done(&w);
}

static void a_counter_has_a_value_and_an_end_its_last_flow(void **state)
{
	static const uint64_t flow = 1;
	struct track_event event = {
		.head = { .seq = 3 }, .type = TRACK_COUNTER_VALUE, .track_uuid = 1, .value = -2
	};
	struct pb w = { .cap = 1024 };

	(void)state;
	packet_track_event(&w, &event);
	event.type = TRACK_SLICE_END;
	event.last_flows = &flow;
	event.nr_last_flows = 1;
	packet_track_event(&w, &event);
	expect_bytes(&w, "0a 14  50 03  5a 10  48 04  58 01  f0 01 fe ff ff ff ff ff ff ff ff 01"
	                 "0a 12  50 03  5a 0e  48 02  58 01  81 03 01 00 00 00 00 00 00 00");
	pb_done(&w);
}

static void interned_data_comes_before_the_payload(void **state)
{
	struct pb w = { .cap = 1024 }, interned = { .cap = 64 };
	struct packet_head head = { .seq = 3,
		                    .seq_flags = SEQ_STATE_CLEARED | SEQ_NEEDS_STATE,
		                    .interned = &interned };

	(void)state;
	packet_end(&w, packet_begin(&w, &head));
	pb_uint(&interned, 1, 5);
	packet_end(&w, packet_begin(&w, &head));
	expect_bytes(&w, "0a 04  50 03  68 03   0a 08  50 03  68 03  62 02  08 05");
	pb_done(&w);
	pb_done(&interned);
}

static void a_clock_snapshot_has_four_clocks_and_says_which_is_ours(void **state)
{
	struct pb w = { .cap = 1024 };

	(void)state;
	packet_clock_snapshot(&w, &(struct trace_clocks){ 4, 3, 2, 1 });
	expect_bytes(&w, "0a 1e  50 01  32 1a  0a 04 08 06 10 04  0a 04 08 03 10 03"
	                 "0a 04 08 01 10 02  0a 04 08 05 10 01  10 06");
	pb_done(&w);
}

static void unknown_facts_are_absent(void **state)
{
	const struct trace_system little = { .sysname = "Linux", .release = "6" };
	const struct trace_system much = { .sysname = "L",
		                           .release = "R",
		                           .version = "V",
		                           .machine = "M",
		                           .machine_name = "N",
		                           .nr_cpus = 2,
		                           .page_bytes = 4096,
		                           .hz = 250,
		                           .ram_bytes = 1 };
	struct pb w = { .cap = 1024 };

	(void)state;
	packet_system_info(&w, &little, NULL);
	expect_bytes(&w, "0a 11  50 01  ea 02 0c  0a 0a  0a 05 4c 69 6e 75 78  1a 01 36");
	pb_clear(&w);
	packet_system_info(&w, &much, "t");
	expect_bytes(&w, "0a 25  50 01  ea 02 20  0a 0c  0a 01 4c  12 01 56  1a 01 52  22 01 4d"
	                 "18 fa 01  22 01 74  30 80 20  40 02  80 01 01  8a 01 01 4e");
	pb_done(&w);
}

static void attributes_are_texts_or_numbers(void **state)
{
	const struct trace_attr attrs[] = { { .key = "a", .text = "b" },
		                            { .key = "n", .number = 0 } };
	struct pb w = { .cap = 1024 };

	(void)state;
	packet_attributes(&w, attrs, 2);
	packet_uuid(&w, &(struct trace_uuid){ 1, 2 });
	expect_bytes(&w, "0a 14  50 01  f2 07 0f  0a 06 0a 01 61 1a 01 62  0a 05 0a 01 6e 10 00"
	                 "0a 09  50 01  ca 05 04  08 01  10 02");
	pb_done(&w);
}

static void cpus_have_frequencies_and_capacity_where_known(void **state)
{
	static const uint32_t khz[] = { 1, 2 };
	const struct trace_cpu cpus[] = { { .khz = khz, .nr_khz = 2, .capacity = 1024 },
		                          { .processor = "p" } };
	struct pb w = { .cap = 1024 };

	(void)state;
	packet_cpu_info(&w, cpus, 2);
	expect_bytes(&w, "0a 13  50 01  9a 04 0e  0a 07  10 01 10 02 18 80 08  0a 03 0a 01 70");
	pb_done(&w);
}

static void a_config_names_the_events(void **state)
{
	static const char *const events[] = { "a", "b" };
	struct pb w = { .cap = 1024 };

	(void)state;
	packet_config(&w, events, 2);
	expect_bytes(
		&w,
		"0a 20  50 01  8a 02 1b  12 19  0a 17  0a 0c 6c 69 6e 75 78 2e 66 74 72 61 63 65"
		"a2 06 06  0a 01 61  0a 01 62");
	pb_done(&w);
}

static void tracks_are_of_threads_counters_or_plain(void **state)
{
	struct track_desc desc = {
		.kind = TRACK_OF_THREAD, .ts_ns = 1, .uuid = 5, .name = "n", .tgid = 2, .tid = 3
	};
	struct pb w = { .cap = 1024 };

	(void)state;
	packet_track(&w, &desc);
	expect_bytes(&w, "0a 12  40 01  50 03  e2 03 0b  08 05  22 07  08 02  10 03  2a 01 6e");
	pb_clear(&w);
	desc.kind = TRACK_OF_COUNTER;
	desc.parent_uuid = 4;
	packet_track(&w, &desc);
	expect_bytes(&w, "0a 12  40 01  50 03  e2 03 0b  08 05  12 01 6e  28 04  42 02 18 02");
	pb_clear(&w);
	desc.kind = TRACK_PLAIN;
	packet_track(&w, &desc);
	expect_bytes(&w, "0a 13  40 01  50 03  e2 03 0c  08 05  12 01 6e  c8 3e 03  28 04  78 02");
	pb_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slice_begins_with_annotations_and_a_flow),
		cmocka_unit_test(a_counter_has_a_value_and_an_end_its_last_flow),
		cmocka_unit_test(interned_data_comes_before_the_payload),
		cmocka_unit_test(a_clock_snapshot_has_four_clocks_and_says_which_is_ours),
		cmocka_unit_test(unknown_facts_are_absent),
		cmocka_unit_test(attributes_are_texts_or_numbers),
		cmocka_unit_test(cpus_have_frequencies_and_capacity_where_known),
		cmocka_unit_test(a_config_names_the_events),
		cmocka_unit_test(tracks_are_of_threads_counters_or_plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
