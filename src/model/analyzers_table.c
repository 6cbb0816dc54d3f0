#include "model/analyzers_priv.h"

#include "model/chains.h"
#include "model/dsq_monitor.h"
#include "model/event_buffer.h"
#include "model/event_rates.h"
#include "model/history.h"
#include "model/hotspots.h"
#include "model/latency.h"
#include "model/migrations.h"
#include "model/softirq.h"
#include "model/wakers.h"

/* Who a task is, and that it is no longer there: what no row about tasks is right without. */
#define LIVES \
	(EV_BIT(EV_FORK) | EV_BIT(EV_EXEC) | EV_BIT(EV_EXIT) | EV_BIT(EV_RENAME) | EV_BIT(EV_FREE))
#define WAKES                   (EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP_NEW))
#define WAITS                   (EV_BIT(EV_SWITCH) | WAKES | LIVES)
#define X(name, nr, type, what) | EV_BIT(EV_##name)
#define EVERY                   (0 EV_KINDS(X))
#define SET_UP(one_, prefix)                      \
	do {                                      \
		(one_)->self = self;              \
		(one_)->out = prefix##_out(self); \
	} while (0)

static int open_buffer(const struct analyzers *a, struct analyzer *one)
{
	struct event_buffer_cfg cfg = { a->cfg.tasks, a->cfg.max_events, a->cfg.max_bytes };
	struct event_buffer *self;
	int err = event_buffer_new(&cfg, &self);

	if (err)
		return err;
	one->self = self;
	one->sink = event_buffer_sink(self);
	return 0;
}

static int open_latency(const struct analyzers *a, struct analyzer *one)
{
	struct latency_cfg cfg = { a->cfg.tasks, a->cfg.max_rows };
	struct latency *self;
	int err = latency_new(&cfg, &self);

	if (err)
		return err;
	SET_UP(one, latency);
	one->sink = latency_sink(self);
	return 0;
}

static int open_hotspots(const struct analyzers *a, struct analyzer *one)
{
	struct hotspots *self;
	int err = hotspots_new(&self);

	(void)a;
	if (err)
		return err;
	SET_UP(one, hotspots);
	return 0;
}

static int open_migrations(const struct analyzers *a, struct analyzer *one)
{
	struct migrations_cfg cfg = { a->cfg.tasks, a->cfg.max_rows };
	struct migrations *self;
	int err = migrations_new(&cfg, &self);

	if (err)
		return err;
	SET_UP(one, migrations);
	return 0;
}

static int open_history(const struct analyzers *a, struct analyzer *one)
{
	struct history_cfg cfg = { a->cfg.tasks, a->cfg.max_rows };
	struct history *self;
	int err = history_new(&cfg, &self);

	if (err)
		return err;
	SET_UP(one, history);
	one->sink = history_sink(self);
	return 0;
}

static int open_dsqs(const struct analyzers *a, struct analyzer *one)
{
	struct dsq_monitor *self;
	int err = dsq_monitor_new(a->cfg.max_rows, &self);

	if (err)
		return err;
	one->self = self;
	one->sink = dsq_monitor_sink(self);
	return 0;
}

static int open_rates(const struct analyzers *a, struct analyzer *one)
{
	struct event_rates *self;
	int err = event_rates_new(&self);

	(void)a;
	if (err)
		return err;
	one->self = self;
	one->sink = event_rates_sink(self);
	return 0;
}

static int open_chains(const struct analyzers *a, struct analyzer *one)
{
	struct chains_cfg cfg = { a->cfg.tasks, a->cfg.max_rows };
	struct chains *self;
	int err = chains_new(&cfg, &self);

	if (err)
		return err;
	SET_UP(one, chains);
	return 0;
}

static int open_wakers(const struct analyzers *a, struct analyzer *one)
{
	struct wakers_cfg cfg = { a->cfg.tasks, a->places, a->cfg.nr_places, a->cfg.max_rows };
	struct wakers *self;
	int err = wakers_new(&cfg, &self);

	if (err)
		return err;
	SET_UP(one, wakers);
	return 0;
}

static int open_softirq(const struct analyzers *a, struct analyzer *one)
{
	struct softirq_cfg cfg = { a->cfg.tasks, a->cfg.max_rows };
	struct softirq *self;
	int err = softirq_new(&cfg, &self);

	if (err)
		return err;
	SET_UP(one, softirq);
	return 0;
}

/* Functions of each module, behind one type. */
#define CLOSES(prefix)                            \
	static void prefix##_close_it(void *self) \
	{                                         \
		prefix##_free(self);              \
	}
#define CLOSES_AND_RESETS(prefix)                                 \
	CLOSES(prefix)                                            \
	static void prefix##_reset_it(void *self, uint64_t ts_ns) \
	{                                                         \
		(void)ts_ns;                                      \
		prefix##_reset(self);                             \
	}

CLOSES_AND_RESETS(event_buffer)
CLOSES_AND_RESETS(latency)
CLOSES_AND_RESETS(hotspots)
CLOSES_AND_RESETS(migrations)
CLOSES_AND_RESETS(history)
CLOSES_AND_RESETS(dsq_monitor)
CLOSES_AND_RESETS(event_rates)
CLOSES_AND_RESETS(chains)
CLOSES_AND_RESETS(wakers)
CLOSES(softirq)

static void softirq_reset_it(void *self, uint64_t ts_ns)
{
	softirq_reset(self, ts_ns);
}

static void event_buffer_resume_it(void *self, uint64_t ts_ns)
{
	(void)ts_ns;
	event_buffer_resume(self);
}

static void event_rates_resume_it(void *self, uint64_t ts_ns)
{
	event_rates_resume(self, ts_ns);
}

#define OPS(prefix) .close = prefix##_close_it, .reset = prefix##_reset_it

const struct analyzer_ops analyzers_table[ANALYZERS] = {
	[ANALYZER_EVENT_BUFFER] = { "event_buffer", EVERY, open_buffer, OPS(event_buffer),
	                            event_buffer_resume_it },
	[ANALYZER_LATENCY_TRACKER] = { "latency_tracker",
	                               WAITS | EV_BIT(EV_WAKEUP) | EV_BIT(EV_MIGRATE) |
	                                       EV_BIT(EV_DSQ_LEAVE),
	                               open_latency, OPS(latency) },
	[ANALYZER_CPU_HOTSPOT] = { "cpu_hotspot_analyzer",
	                           WAITS | EV_BIT(EV_MIGRATE) | EV_BIT(EV_IPI_SEND), open_hotspots,
	                           OPS(hotspots) },
	[ANALYZER_MIGRATION] = { "migration_analyzer", LIVES | EV_BIT(EV_MIGRATE), open_migrations,
	                         OPS(migrations) },
	[ANALYZER_PROCESS_HISTORY] = { "process_history",
	                               WAITS | EV_BIT(EV_WAKEUP) | EV_BIT(EV_MIGRATE), open_history,
	                               OPS(history) },
	[ANALYZER_DSQ_MONITOR] = { "dsq_monitor",
	                           EV_BIT(EV_DSQ_LEAVE) | EV_BIT(EV_DSQ_DEPTH) | EV_BIT(EV_SCX_RUN),
	                           open_dsqs, OPS(dsq_monitor) },
	[ANALYZER_RATE_MONITOR] = { "rate_monitor", WAITS | EV_BIT(EV_WAKEUP) | EV_BIT(EV_MIGRATE),
	                            open_rates, OPS(event_rates), event_rates_resume_it },
	[ANALYZER_WAKEUP_TRACKER] = { "wakeup_tracker", WAITS, open_chains, OPS(chains) },
	[ANALYZER_WAKER_WAKEE] = { "waker_wakee_analyzer", WAITS, open_wakers, OPS(wakers) },
	[ANALYZER_SOFTIRQ] = { "softirq_analyzer",
	                       LIVES | EV_BIT(EV_SOFTIRQ_ENTRY) | EV_BIT(EV_SOFTIRQ_EXIT),
	                       open_softirq, OPS(softirq) },
};
