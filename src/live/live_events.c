#include "live/live_events.h"

#include "model/event_log.h"
#include "model/tasks.h"

void live_events_done(struct live_events *e)
{
	event_log_free(e->log);
	tasks_free(e->tasks);
	*e = (struct live_events){ 0 };
}

int live_events_copy(const struct live_events *from, struct live_events *out)
{
	struct live_events copy = *from;
	int err;

	copy.log = NULL;
	copy.tasks = NULL;
	err = from->log ? event_log_snapshot(from->log, &copy.log) : 0;
	if (!err && from->tasks)
		err = tasks_copy(from->tasks, &copy.tasks);
	if (err) {
		live_events_done(&copy);
		return err;
	}
	*out = copy;
	return 0;
}

uint64_t live_events_first(const struct live_events *e)
{
	uint64_t first = e->log ? event_log_first(e->log) : 0;

	return first > e->base ? first : e->base + 1;
}

uint64_t live_events_end(const struct live_events *e)
{
	return e->log ? event_log_end(e->log) : e->base + 1;
}
