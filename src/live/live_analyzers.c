#include "live/live_analyzers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi/event.h"
#include "analyses/passes.h"
#include "base/diag.h"
#include "live/live_source.h"
#include "model/timeline.h"

/* What a task is, and that it is no longer there: no row about tasks is right without. */
#define LIVES \
	(EV_BIT(EV_FORK) | EV_BIT(EV_EXEC) | EV_BIT(EV_EXIT) | EV_BIT(EV_RENAME) | EV_BIT(EV_FREE))
#define WAITS (EV_BIT(EV_SWITCH) | EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP_NEW) | LIVES)
#define INTERRUPTS                                                               \
	(EV_BIT(EV_IRQ_ENTRY) | EV_BIT(EV_IRQ_EXIT) | EV_BIT(EV_SOFTIRQ_ENTRY) | \
	 EV_BIT(EV_SOFTIRQ_EXIT))
#define CGROUPS (EV_BIT(EV_CGROUP) | EV_BIT(EV_CGROUP_INFO))
/* What says why a task waits (ledger/ledger). */
#define WHY_KINDS                                                                                \
	(WAITS | EV_BIT(EV_MIGRATE) | INTERRUPTS | CGROUPS | EV_BIT(EV_POLICY) | LIVE_MEASURES | \
	 EV_BIT(EV_DSQ_LEAVE))
#define WHY_TABLES                                                                                 \
	(TIMELINE_BIT(SLICE) | TIMELINE_BIT(IDLE) | TIMELINE_BIT(WAIT) | TIMELINE_BIT(MIGRATION) | \
	 TIMELINE_BIT(SPAN) | TIMELINE_BIT(GAP) | TIMELINE_BIT(DSQ) | TIMELINE_BIT(THROTTLE) |     \
	 TIMELINE_BIT(STEAL))
#define X(name, nr, type, what) | EV_BIT(EV_##name)
/* But for what is said of tasks beside events: it is made for those who explain waits and sleeps. */
#define EVERY ((0 EV_KINDS(X)) & ~(EV_BIT(EV_POLICY) | EV_BIT(EV_SLEEP)))

const struct live_analyzer live_analyzers[ANALYZERS] = {
	[ANALYZER_EVENT_BUFFER] = { "event_buffer", EVERY, 0, NULL },
	[ANALYZER_LATENCY_TRACKER] = { "latency_tracker",
	                               WAITS | EV_BIT(EV_WAKEUP) | EV_BIT(EV_MIGRATE) |
	                                       EV_BIT(EV_DSQ_LEAVE),
	                               TIMELINE_BIT(WAIT) | TIMELINE_BIT(MIGRATION) |
	                                       TIMELINE_BIT(DSQ),
	                               &pass_latency_tracker },
	[ANALYZER_CPU_HOTSPOT] = { "cpu_hotspot_analyzer",
	                           WAITS | EV_BIT(EV_MIGRATE) | EV_BIT(EV_IPI_SEND),
	                           TIMELINE_BIT(SLICE) | TIMELINE_BIT(IDLE) | TIMELINE_BIT(WAIT) |
	                                   TIMELINE_BIT(MIGRATION) | TIMELINE_BIT(MARK),
	                           &pass_cpu_hotspots },
	[ANALYZER_MIGRATION] = { "migration_analyzer", LIVES | EV_BIT(EV_MIGRATE),
	                         TIMELINE_BIT(MIGRATION), &pass_migration_analyzer },
	[ANALYZER_PROCESS_HISTORY] = { "process_history",
	                               WAITS | EV_BIT(EV_WAKEUP) | EV_BIT(EV_MIGRATE), 0, NULL },
	[ANALYZER_DSQ_MONITOR] = { "dsq_monitor",
	                           EV_BIT(EV_DSQ_LEAVE) | EV_BIT(EV_DSQ_DEPTH) | EV_BIT(EV_SCX_RUN),
	                           TIMELINE_BIT(DSQ) | TIMELINE_BIT(COUNTER) | TIMELINE_BIT(RUN),
	                           &pass_dsq_monitor },
	[ANALYZER_RATE_MONITOR] = { "rate_monitor", WAITS | EV_BIT(EV_WAKEUP) | EV_BIT(EV_MIGRATE),
	                            0, NULL },
	[ANALYZER_WAKEUP_TRACKER] = { "wakeup_tracker", WAITS,
	                              TIMELINE_BIT(SLICE) | TIMELINE_BIT(WAIT) |
	                                      TIMELINE_BIT(WAKEUP),
	                              &pass_wakeup_tracker },
	[ANALYZER_WAKER_WAKEE] = { "waker_wakee_analyzer", WAITS, TIMELINE_BIT(WAIT),
	                           &pass_waker_wakee },
	[ANALYZER_SOFTIRQ] = { "softirq_analyzer",
	                       LIVES | EV_BIT(EV_SOFTIRQ_ENTRY) | EV_BIT(EV_SOFTIRQ_EXIT),
	                       TIMELINE_BIT(SPAN), &pass_softirq_analyzer },
	[ANALYZER_BLAME] = { "blame", WHY_KINDS, WHY_TABLES, &pass_blame },
	[ANALYZER_EXPLAIN] = { "explain_wait", WHY_KINDS | EV_BIT(EV_SLEEP),
	                       WHY_TABLES | TIMELINE_BIT(SLEEP), &pass_explain },
};

int analyzers_set(const char *name, struct diag *d, uint32_t *out)
{
	char names[256] = "";
	size_t len = 0;

	if (strcmp(name, "all") == 0) {
		*out = ANALYZERS_ALL;
		return 0;
	}
	for (uint32_t i = 0; i < ANALYZERS; i++) {
		if (strcmp(name, live_analyzers[i].name) == 0) {
			*out = 1U << i;
			return 0;
		}
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s, ",
		                        live_analyzers[i].name);
	}
	return diag_set(d, -EINVAL, names, "there is no analyzer '%.64s'; there are all,", name);
}

uint64_t analyzers_kinds(uint32_t set)
{
	uint64_t kinds = 0;

	for (uint32_t i = 0; i < ANALYZERS; i++)
		if (set & 1U << i)
			kinds |= live_analyzers[i].kinds;
	return kinds;
}

uint32_t analyzers_tables(uint32_t set)
{
	uint32_t tables = 0;

	for (uint32_t i = 0; i < ANALYZERS; i++)
		if (set & 1U << i)
			tables |= live_analyzers[i].tables;
	return tables;
}
