#include "cli/record_events.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/event_check.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "collect/scx_plan.h"

/* Kinds by one name, for --events. */
struct event_set {
	const char *name;
	uint64_t kinds;
};

#define SCHED_KINDS \
	(EV_BIT(EV_SWITCH) | EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP_NEW) | EV_BIT(EV_MIGRATE))
#define TASK_KINDS \
	(EV_BIT(EV_FORK) | EV_BIT(EV_EXEC) | EV_BIT(EV_EXIT) | EV_BIT(EV_RENAME) | EV_BIT(EV_FREE))
#define IRQ_KINDS                                                                \
	(EV_BIT(EV_IRQ_ENTRY) | EV_BIT(EV_IRQ_EXIT) | EV_BIT(EV_SOFTIRQ_ENTRY) | \
	 EV_BIT(EV_SOFTIRQ_EXIT))
#define POWER_KINDS (EV_BIT(EV_CPU_IDLE) | EV_BIT(EV_CPU_FREQ) | EV_BIT(EV_CPU_HOTPLUG))
#define IPI_KINDS   (EV_BIT(EV_IPI_SEND) | EV_BIT(EV_IPI_ENTRY) | EV_BIT(EV_IPI_EXIT))
#define WORK_KINDS  (EV_BIT(EV_WORK_START) | EV_BIT(EV_WORK_END))
#define OTHER_KINDS \
	(EV_BIT(EV_HANG) | EV_BIT(EV_WAIT) | EV_BIT(EV_HW_PRESSURE) | EV_BIT(EV_GPU_MEM))

#define DEFAULT_KINDS (SCHED_KINDS | TASK_KINDS | IRQ_KINDS | POWER_KINDS)

static const struct event_set event_sets[] = {
	{ "default", DEFAULT_KINDS },
	{ "sched", SCHED_KINDS },
	{ "wakeup", EV_BIT(EV_WAKEUP) },
	{ "task", TASK_KINDS },
	{ "irq", IRQ_KINDS },
	{ "power", POWER_KINDS },
	{ "ipi", IPI_KINDS },
	{ "workqueue", WORK_KINDS },
	{ "other", OTHER_KINDS },
	{ "scx", SCX_KINDS },
	{ "all",
	  DEFAULT_KINDS | EV_BIT(EV_WAKEUP) | IPI_KINDS | WORK_KINDS | OTHER_KINDS | SCX_KINDS },
};

const char *const record_event_sets[] = { "default", "sched",     "wakeup", "task", "irq", "power",
	                                  "ipi",     "workqueue", "other",  "scx",  "all", NULL };

static int add_events(const char *word, uint64_t *kinds, struct diag *d)
{
	unsigned int kind = ev_kind_by_name(word);
	const char *near;
	char hint[96];

	for (size_t i = 0; i < sizeof(event_sets) / sizeof(event_sets[0]); i++) {
		if (strcmp(event_sets[i].name, word) == 0) {
			*kinds |= event_sets[i].kinds;
			return 0;
		}
	}
	if (kind && (kind < EV_PROBE || EV_BIT(kind) & SCX_KINDS)) {
		*kinds |= EV_BIT(kind);
		return 0;
	}
	near = opt_nearest(word, record_event_sets);
	snprintf(hint, sizeof(hint), near ? "did you mean '%s'?" : "see 'schedscope record --help'",
	         near);
	return diag_set(d, -EINVAL, hint, "'%.60s' is no event that can be recorded", word);
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

	*kinds = list->nr ? EV_BIT(EV_SWITCH) | EV_BIT(EV_WAKING) : DEFAULT_KINDS;
	for (size_t i = 0; !err && i < list->nr; i++)
		err = add_list(list->items[i], kinds, d);
	/* Records carry ids; names come from the lifecycle. */
	*kinds |= TASK_KINDS;
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
