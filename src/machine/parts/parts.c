#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "machine/parts/bandwidth.h"
#include "machine/parts/events.h"
#include "machine/parts/game.h"
#include "machine/parts/part.h"
#include "machine/parts/power.h"
#include "machine/parts/pressure.h"
#include "machine/parts/profile.h"
#include "machine/parts/programs.h"
#include "machine/parts/scx.h"
#include "machine/parts/verdict.h"
#include "machine/parts/zoom.h"

/* clang-format off */
static const struct machine_part *const parts[] = {
	&machine_part_programs,    &machine_part_profile, &machine_part_power,
	&machine_part_bandwidth,   &machine_part_game,    &machine_part_pressure,
	&machine_part_zoom,        &machine_part_scx,     &machine_part_events,
	&machine_part_event_lists, &machine_part_verdict,
};
/* clang-format on */
#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

struct machine_parts {
	struct machine_source_cfg cfg;
	struct {
		void *part; /* NULL = never requested, or not available */
		bool is_refused;
		bool is_active;
	} states[NR_PARTS];
};

int machine_parts_new(const struct machine_source_cfg *cfg, struct machine_parts **out)
{
	struct machine_parts *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->cfg = *cfg;
	*out = p;
	return 0;
}

void machine_parts_free(struct machine_parts *p)
{
	for (size_t i = 0; p && i < NR_PARTS; i++)
		if (p->states[i].part)
			parts[i]->close(p->states[i].part);
	free(p);
}

static void open_part(struct machine_parts *p, size_t i, struct machine_log *log)
{
	struct diag why = { 0 };

	if (!parts[i]->open(&p->cfg, &why, &p->states[i].part))
		return;
	p->states[i].is_refused = true;
	machine_log_add(log, "%s: %s%s%s", parts[i]->name, why.what, why.hint[0] ? "; " : "",
	                why.hint);
}

void machine_parts_refresh(struct machine_parts *p, const struct machine_part_refresh *r)
{
	for (size_t i = 0; i < NR_PARTS; i++) {
		bool is_requested = r->request->needs & parts[i]->needs;

		if (is_requested && !p->states[i].part && !p->states[i].is_refused)
			open_part(p, i, r->log);
		if (!p->states[i].part)
			continue;
		if (is_requested)
			parts[i]->refresh(p->states[i].part, r);
		else if (p->states[i].is_active && parts[i]->suspend)
			parts[i]->suspend(p->states[i].part);
		p->states[i].is_active = is_requested;
	}
}
