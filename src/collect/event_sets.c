#include "collect/event_sets.h"

#include <string.h>

#include "abi/event_check.h"
#include "collect/scx_plan.h"

/* Kinds by one name. */
struct event_set {
	const char *name;
	uint64_t kinds;
};

#define SCHED_KINDS \
	(EV_BIT(EV_SWITCH) | EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP_NEW) | EV_BIT(EV_MIGRATE))
#define TASK_KINDS                                                                 \
	(EV_BIT(EV_FORK) | EV_BIT(EV_EXEC) | EV_BIT(EV_EXIT) | EV_BIT(EV_RENAME) | \
	 EV_BIT(EV_FREE) | EV_BIT(EV_CGROUP) | EV_BIT(EV_CGROUP_INFO) | EV_BIT(EV_POLICY))
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
	{ "sleep", EV_BIT(EV_SLEEP) },
	{ "block", EV_BIT(EV_BLOCK) },
	{ "net", EV_BIT(EV_NET) },
	{ "mm", EV_BIT(EV_MEMORY) },
	{ "fs", EV_BIT(EV_FSYNC) },
	{ "lock", EV_BIT(EV_LOCK) },
	{ "task", TASK_KINDS },
	{ "irq", IRQ_KINDS },
	{ "power", POWER_KINDS },
	{ "ipi", IPI_KINDS },
	{ "workqueue", WORK_KINDS },
	{ "other", OTHER_KINDS },
	{ "scx", SCX_KINDS },
	{ "all", DEFAULT_KINDS | EV_BIT(EV_WAKEUP) | EV_BIT(EV_SLEEP) | EV_BIT(EV_BLOCK) |
	                 EV_BIT(EV_LOCK) | IPI_KINDS | WORK_KINDS | OTHER_KINDS | SCX_KINDS },
};

const char *const event_set_names[] = { "default", "sched",     "wakeup", "sleep", "block", "net",
	                                "mm",      "fs",        "lock",   "task",  "irq",   "power",
	                                "ipi",     "workqueue", "other",  "scx",   "all",   NULL };

bool event_set_kinds(const char *word, uint64_t *kinds)
{
	unsigned int kind = ev_kind_by_name(word);

	for (size_t i = 0; i < sizeof(event_sets) / sizeof(event_sets[0]); i++) {
		if (strcmp(event_sets[i].name, word) == 0) {
			*kinds |= event_sets[i].kinds;
			return true;
		}
	}
	if (!kind || (kind >= EV_PROBE && !(EV_BIT(kind) & SCX_KINDS)))
		return false;
	*kinds |= EV_BIT(kind);
	return true;
}

/* Records carry ids; names come from the lifecycle. */
uint64_t event_set_always(bool has_words)
{
	return has_words ? EV_BIT(EV_SWITCH) | EV_BIT(EV_WAKING) | TASK_KINDS : DEFAULT_KINDS;
}
