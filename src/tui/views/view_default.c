#include "tui/measure.h"
#include "tui/views/cpu_panel.h"
#include "tui/views/parts.h"
#include "tui/views/task_table.h"
#include "tui/views/views.h"

#define SUMMARY_ROWS 5
#define TASKS_MIN    6

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	struct area rest = parts_with_cpus(m, s, g, a);

	if (s->has_memory && rest.height >= SUMMARY_ROWS + TASKS_MIN) {
		rest.height -= SUMMARY_ROWS;
		memory_summary_draw(m, g,
		                    (struct area){ rest.x, rest.y + rest.height, rest.width,
		                                   SUMMARY_ROWS });
	}
	if (s->has_network && rest.height > SUMMARY_ROWS + TASKS_MIN) {
		rest.height -= SUMMARY_ROWS + 1;
		network_summary_draw(m, s, g,
		                     (struct area){ rest.x, rest.y + rest.height, rest.width,
		                                    SUMMARY_ROWS + 1 });
	}
	task_table_draw(m, s, g, rest);
}

/* Files are read only for what is shown. */
static void request(const struct screen *s, struct machine_request *r)
{
	r->needs |= s->has_memory ? MACHINE_MEMORY : 0;
	r->needs |= s->has_network ? MACHINE_NET : 0;
	measure_request(s, r);
}

const struct view view_default = {
	.id = "default",
	.title = "CPUs",
	.state = "Default",
	.what = "CPUs by node, and processes",
	.needs = MACHINE_CPUS | MACHINE_TASKS | MACHINE_LATENCY | MACHINE_VERDICT,
	.draw = draw,
	.request = request,
	.act = measure_act,
	.rows = task_table_rows,
};
