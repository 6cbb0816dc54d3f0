#include "cli/record/record_events.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/event.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "collect/event_sets.h"
#include "collect/scx_plan.h"

static void list_sets(char *buf, size_t size)
{
	size_t len = (size_t)snprintf(buf, size, "there are ");

	for (size_t i = 0; event_set_names[i] && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", i ? ", " : "",
		                        event_set_names[i]);
}

static int add_events(const char *word, uint64_t *kinds, struct diag *d)
{
	const char *near;
	char hint[160];

	if (event_set_kinds(word, kinds))
		return 0;
	near = opt_nearest(word, event_set_names);
	if (near)
		snprintf(hint, sizeof(hint), "did you mean '%s'?", near);
	else
		list_sets(hint, sizeof(hint));
	return diag_set(d, -EINVAL, hint, "'%.60s' is not an event that can be recorded", word);
}

static int add_list(const char *list, uint64_t *kinds, struct diag *d)
{
	SCOPED(scoped_free) char *words = strdup(list);
	char *rest = words, *word;
	int err = words ? 0 : diag_set(d, -ENOMEM, NULL, "out of memory");

	while (!err && (word = strsep(&rest, ",")))
		err = add_events(word, kinds, d);
	return err;
}

int record_events_parse(const struct opt_list *list, uint64_t *kinds, struct diag *d)
{
	int err = 0;

	*kinds = event_set_always(list->nr > 0);
	for (size_t i = 0; !err && i < list->nr; i++)
		err = add_list(list->items[i], kinds, d);
	return err;
}

/* Whether sched_ext was asked for in so many words, and not as a part of all. */
static bool names_scx(const struct opt_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		if (strcasestr(list->items[i], "scx") || strcasestr(list->items[i], "dsq"))
			return true;
	return false;
}

void record_events_missing(const struct opt_list *list, uint64_t missing)
{
	bool is_there = access("/sys/kernel/sched_ext", F_OK) == 0;

	if (missing & SCX_KINDS && names_scx(list))
		log_warn("scx events are not available: this kernel %s",
		         is_there ? "does not let sched_ext be traced" : "has no sched_ext");
}
