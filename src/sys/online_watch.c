#include "sys/online_watch.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define POLL_NS    1000000000ULL
#define LIST_BYTES 4096 /* of sysfs, at most */

static int copy(const struct cpulist *from, struct cpulist *to)
{
	cpulist_for_each(cpu, from)
	{
		int err = cpulist_add(to, (uint32_t)cpu);

		if (err)
			return err;
	}
	return 0;
}

int online_watch_open(struct online_watch *w, const char *path, const struct cpulist *from)
{
	int err;

	*w = (struct online_watch){ .fd = -1 };
	err = copy(from, &w->now);
	if (err)
		cpulist_done(&w->now);
	else
		w->fd = open(path, O_RDONLY | O_CLOEXEC);
	return err;
}

static bool is_same(const struct cpulist *a, const struct cpulist *b)
{
	if (a->nr != b->nr)
		return false;
	cpulist_for_each(cpu, a)
	{
		if (!cpulist_has(b, (uint32_t)cpu))
			return false;
	}
	return true;
}

bool online_watch_poll(struct online_watch *w, uint64_t now_ns)
{
	struct cpulist now = { 0 };
	char text[LIST_BYTES];
	ssize_t n;

	if (w->fd < 0 || now_ns < w->next_ns)
		return false;
	w->next_ns = now_ns + POLL_NS;
	n = pread(w->fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return false;
	text[n] = '\0';
	if (cpulist_parse(text, &now) || !now.nr || is_same(&now, &w->now)) {
		cpulist_done(&now);
		return false;
	}
	cpulist_done(&w->now);
	w->now = now;
	return true;
}

void online_watch_close(struct online_watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	cpulist_done(&w->now);
}
