#include "cli/record/record_probes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "base/grow.h"

static int add(struct record_probes *p, uint32_t type, const char *spec)
{
	if (GROW(p->items, p->room, p->nr))
		return -ENOMEM;
	p->items[p->nr] =
		(struct events_probe){ .type = type, .spec = spec, .id = (uint32_t)p->nr + 1 };
	p->nr++;
	return 0;
}

/* Words with commas between them. */
static int add_words(struct record_probes *p, uint32_t type, const char *list)
{
	char *rest, *word;
	int err = 0;

	if (GROW(p->texts, p->texts_room, p->nr_texts))
		return -ENOMEM;
	p->texts[p->nr_texts] = rest = strdup(list);
	if (!rest)
		return -ENOMEM;
	p->nr_texts++;
	while (!err && (word = strsep(&rest, ",")))
		err = add(p, type, word);
	return err;
}

int record_probes_make(const struct opt_list *kprobes, const struct opt_list *uprobes,
                       const struct opt_list *tracepoints, struct record_probes *out,
                       struct diag *d)
{
	int err = 0;

	for (size_t i = 0; !err && i < kprobes->nr; i++)
		err = add_words(out, EV_PROBE_KPROBE, kprobes->items[i]);
	for (size_t i = 0; !err && i < uprobes->nr; i++) /* a path may have commas */
		err = add(out, EV_PROBE_UPROBE, uprobes->items[i]);
	for (size_t i = 0; !err && i < tracepoints->nr; i++)
		err = add_words(out, EV_PROBE_TRACEPOINT, tracepoints->items[i]);
	return err ? diag_set(d, err, NULL, "out of memory")
	           : probe_spec_check(out->items, out->nr, d);
}

void record_probes_done(struct record_probes *p)
{
	for (size_t i = 0; i < p->nr_texts; i++)
		free(p->texts[i]);
	free(p->texts);
	free(p->items);
}
