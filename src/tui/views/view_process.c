#include "tui/views/task_table.h"
#include "tui/views/views.h"

const struct view view_process = {
	.id = "process",
	.title = "Processes",
	.state = "Process",
	.what = "processes; Enter shows the threads of one",
	.needs = MACHINE_TASKS | MACHINE_LATENCY | MACHINE_VERDICT,
	.draw = task_table_draw,
	.rows = task_table_rows,
};
