#include "tui/measure.h"
#include "tui/views/parts.h"
#include "tui/views/task_table.h"
#include "tui/views/views.h"

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	struct screen grouped = *s;

	grouped.group = GROUP_LLC;
	a = parts_with_cpus(m, &grouped, g, a);
	s->has_spare = grouped.has_spare;
	task_table_draw(m, s, g, a);
}

const struct view view_llc = {
	.id = "llc",
	.title = "LLCs",
	.state = "Llc",
	.what = "CPUs that share a last-level cache, and processes",
	.needs = MACHINE_CPUS | MACHINE_TASKS | MACHINE_LATENCY,
	.draw = draw,
	.request = measure_request,
	.act = measure_act,
	.rows = task_table_rows,
};
