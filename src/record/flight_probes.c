#include "record/flight_probes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "record/flight.h"

static int refuse_more(struct diag *d)
{
	return diag_set(d, -EINVAL, "leave some out",
	                "more than %d probes, those of triggers included", PROBES_MAX);
}

static uint32_t next_id(const struct flight_probes *p)
{
	uint32_t id = 0;

	for (size_t i = 0; i < p->nr; i++)
		if (p->items[i].id > id)
			id = p->items[i].id;
	return id + 1;
}

static int add(struct flight_probes *p, const char *prefix, const struct trigger *t, uint32_t *id,
               struct diag *d)
{
	char *text = NULL;

	if (p->nr == PROBES_MAX)
		return refuse_more(d);
	if (asprintf(&text, "%s%s:%s", prefix, t->path, t->symbol) < 0)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	p->texts[p->nr_texts++] = text;
	*id = next_id(p);
	p->items[p->nr++] = (struct events_probe){ EV_PROBE_UPROBE, *id, text };
	return 0;
}

int flight_probes_make(struct flight_probes *p, const struct flight_cfg *cfg, struct diag *d)
{
	int err = 0;

	if (cfg->source.nr_probes > PROBES_MAX)
		return refuse_more(d);
	if (cfg->nr_triggers > TRIGGER_MAX)
		return diag_set(d, -EINVAL, NULL, "at most %d triggers can be watched",
		                TRIGGER_MAX);
	if (cfg->source.nr_probes)
		memcpy(p->items, cfg->source.probes, cfg->source.nr_probes * sizeof(p->items[0]));
	p->nr = cfg->source.nr_probes;
	p->nr_triggers = cfg->nr_triggers;
	for (size_t i = 0; !err && i < cfg->nr_triggers; i++) {
		if (cfg->triggers[i].kind != TRIGGER_UPROBE)
			continue;
		err = add(p, "", &cfg->triggers[i], &p->entry_ids[i], d);
		if (!err)
			err = add(p, "ret:", &cfg->triggers[i], &p->return_ids[i], d);
	}
	return err ? err : probe_spec_check(p->items, p->nr, d);
}

void flight_probes_emit(const struct flight_probes *p, struct trigger_eval *eval)
{
	for (size_t i = 0; i < p->nr_triggers; i++)
		if (p->entry_ids[i])
			trigger_eval_probes(eval, i, p->entry_ids[i], p->return_ids[i]);
}

void flight_probes_done(struct flight_probes *p)
{
	for (size_t i = 0; i < p->nr_texts; i++)
		free(p->texts[i]);
	p->nr_texts = 0;
}
