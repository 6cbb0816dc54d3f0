/* Waits that last when a report is made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "stat/stat_priv.h"

#define COMM_FILE_MAX 64

/* In its place among those that are kept, if it is long enough. */
static void insert(struct stat_session *s, struct stat_open_waits *out,
                   const struct tally_open_wait *wait)
{
	size_t at = out->nr;

	while (at && s->open_waits[at - 1].wait.ns < wait->ns)
		at--;
	if (out->nr == STAT_OPEN_WAITS_MAX)
		out->nr_more++;
	else
		out->nr++;
	if (at == STAT_OPEN_WAITS_MAX)
		return;
	memmove(&s->open_waits[at + 1], &s->open_waits[at],
	        (out->nr - at - 1) * sizeof(s->open_waits[0]));
	s->open_waits[at] = (struct stat_open_wait){ .wait = *wait };
}

/* The task may have left the CPU since, and even ended: then it has no name. */
static void name_running(struct stat_open_wait *w)
{
	SCOPED(scoped_free) char *comm = NULL;
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%u/comm", w->running_tid);
	if (text_read_file(path, COMM_FILE_MAX, &comm))
		return;
	text_chomp(comm);
	(void)snprintf(w->running_comm, sizeof(w->running_comm), "%s", comm);
}

static void look_at_cpu(const struct stat_session *s, struct stat_open_wait *w)
{
	const struct stat_cpu *cpu = stat_session_cpu(s, w->wait.cpu);

	if (!cpu || !cpu->since_ns)
		return;
	w->is_cpu_idle = cpu->is_idle;
	w->running_tid = cpu->is_idle ? 0 : cpu->running_tid;
	if (w->running_tid)
		name_running(w);
}

void stat_open_waits(struct stat_session *s, struct stat_open_waits *out)
{
	*out = (struct stat_open_waits){ .items = s->open_waits };
	for (size_t i = 0; i < s->nr_rows; i++)
		if (s->rows[i]->open_wait.ns > STAT_OPEN_WAIT_NS)
			insert(s, out, &s->rows[i]->open_wait);
	for (size_t i = 0; i < out->nr; i++)
		look_at_cpu(s, &out->items[i]);
}
