#include "serve/throttle.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/cgroup_mount.h"

#define FILE_BYTES_MAX 8192U

struct throttle_reader {
	struct cgroup_hierarchy cpu;
};

int throttle_open(struct throttle_reader **out)
{
	struct throttle_reader *r = calloc(1, sizeof(*r));
	int err = r ? cgroup_find_cpu("/proc/self", &r->cpu) : -ENOMEM;

	if (!err && !r->cpu.mount)
		err = -ENOENT;
	if (err) {
		throttle_close(r);
		return err;
	}
	*out = r;
	return 0;
}

void throttle_close(struct throttle_reader *r)
{
	if (!r)
		return;
	cgroup_hierarchy_done(&r->cpu);
	free(r);
}

/* The number behind a name at the beginning of a line. */
static bool find_number(const char *text, const char *name, uint64_t *out)
{
	size_t len = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) == 0 && line[len] == ' ') {
			*out = strtoull(line + len + 1, NULL, 10);
			return true;
		}
	}
	return false;
}

bool throttle_parse(const char *text, struct seat_throttle *out)
{
	uint64_t ns;

	if (!find_number(text, "nr_throttled", &out->periods))
		return false;
	if (find_number(text, "throttled_usec", &out->usec))
		return true;
	if (!find_number(text, "throttled_time", &ns))
		return false;
	out->usec = ns / 1000;
	return true;
}

static void read_one(const struct throttle_reader *r, struct seat *seat)
{
	struct seat_throttle now = { .cgroup_id = seat->cgroup_id };
	SCOPED(scoped_free) char *text = NULL;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s%s/cpu.stat", r->cpu.mount, seat->name) >=
	    (int)sizeof(path))
		return;
	if (text_read_file(path, FILE_BYTES_MAX, &text) == 0 && throttle_parse(text, &now))
		seat_take_throttle(seat, &now);
}

void throttle_read(struct throttle_reader *r, struct seats *seats)
{
	struct seat *seat;

	for (uint32_t i = SEAT_OTHER + 1; (seat = seats_at(seats, i)); i++)
		if (seat->is_seated)
			read_one(r, seat);
}
