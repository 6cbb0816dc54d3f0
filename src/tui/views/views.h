/* tui/views/views — the entries of the table in views.c. */
#pragma once

#include "tui/view.h"

extern const struct view view_default, view_llc, view_node, view_process, view_threads, view_task,
	view_scheduler, view_memory, view_network, view_bpf, view_heat, view_log, view_power,
	view_bandwidth, view_game, view_perf_event, view_kprobe_event, view_program, view_perf_top,
	view_blame, view_timeline;
