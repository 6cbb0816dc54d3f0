#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "session/machine_bandwidth.h"
#include "session/machine_events.h"
#include "session/machine_game.h"
#include "session/machine_part.h"
#include "session/machine_power.h"
#include "session/machine_pressure.h"
#include "session/machine_profile.h"
#include "session/machine_programs.h"
#include "session/machine_scx.h"
#include "session/machine_zoom.h"

/* clang-format off */
static const struct machine_part *const parts[] = {
	&machine_part_programs,    &machine_part_profile, &machine_part_power,
	&machine_part_bandwidth,   &machine_part_game,    &machine_part_pressure,
	&machine_part_zoom,        &machine_part_scx,     &machine_part_events,
	&machine_part_event_lists,
};
/* clang-format on */
#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

struct machine_parts {
	struct machine_source_cfg cfg;
	struct {
		void *part; /* NULL = never wished, or it cannot be had */
		bool is_refused;
		bool is_awake;
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
	machine_log_tell(log, "%s: %s%s%s", parts[i]->name, why.what, why.hint[0] ? "; " : "",
	                 why.hint);
}

void machine_parts_look(struct machine_parts *p, const struct machine_part_look *l)
{
	for (size_t i = 0; i < NR_PARTS; i++) {
		bool is_wished = l->wish->needs & parts[i]->needs;

		if (is_wished && !p->states[i].part && !p->states[i].is_refused)
			open_part(p, i, l->log);
		if (!p->states[i].part)
			continue;
		if (is_wished)
			parts[i]->look(p->states[i].part, l);
		else if (p->states[i].is_awake && parts[i]->rest)
			parts[i]->rest(p->states[i].part);
		p->states[i].is_awake = is_wished;
	}
}
