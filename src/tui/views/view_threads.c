#include "tui/views/task_table.h"
#include "tui/views/views.h"

const struct view view_threads = {
	.id = "threads",
	.title = "Threads",
	.state = "Threads",
	.what = "all threads",
	.needs = MACHINE_TASKS | MACHINE_LATENCY | MACHINE_VERDICT,
	.draw = task_table_draw_threads,
	.rows = task_table_thread_rows,
};
