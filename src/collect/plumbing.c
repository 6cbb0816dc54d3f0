#include "collect/plumbing.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "sys/rights/broker.h"

#define MAX_RANGES     16384 /* two per tracepoint */
#define FRAMES_CHECKED 8     /* frames; there are three to five */

struct kernel_range {
	uint64_t start, end;
};

struct plumbing {
	struct kernel_range *ranges; /* as kallsyms has them */
	size_t nr, cap;
};

DEFINE_SCOPED(plumbing, plumbing_free)

static bool is_plumbing(const char *symbol)
{
	static const char *const prefixes[] = { "__traceiter_", "__bpf_trace_", "bpf_trace_run" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(symbol, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static int add(struct plumbing *p, uint64_t start)
{
	if (p->nr == MAX_RANGES)
		return -E2BIG;
	if (GROW(p->ranges, p->cap, p->nr))
		return -ENOMEM;
	p->ranges[p->nr++] = (struct kernel_range){ start, start };
	return 0;
}

/* A function ends where the next one begins. */
static int read_line(struct plumbing *p, const char *line, bool *is_open)
{
	unsigned long long address;
	char symbol[64];

	if (sscanf(line, "%llx %*c %63s", &address, symbol) != 2 || !address)
		return 0;
	if (*is_open && address > p->ranges[p->nr - 1].start) {
		p->ranges[p->nr - 1].end = address;
		*is_open = false;
	}
	if (*is_open || !is_plumbing(symbol))
		return 0;
	*is_open = true;
	return add(p, address);
}

int plumbing_read(const char *kallsyms, struct plumbing **out)
{
	SCOPED(scoped_plumbing) struct plumbing *p = calloc(1, sizeof(*p));
	SCOPED(scoped_fclose) FILE *file = NULL;
	char line[512];
	bool is_open = false;
	int err = 0, fd;

	if (!p)
		return -ENOMEM;
	fd = broker_open(kallsyms);
	if (fd < 0)
		return fd;
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	while (!err && fgets(line, sizeof(line), file))
		err = read_line(p, line, &is_open);
	if (err)
		return err;
	*out = TAKE_PTR(p);
	return 0;
}

void plumbing_free(struct plumbing *p)
{
	if (!p)
		return;
	free(p->ranges);
	free(p);
}

static bool has(const struct plumbing *p, uint64_t ip)
{
	for (size_t i = 0; i < p->nr; i++)
		if (ip > p->ranges[i].start && ip <= p->ranges[i].end) /* it is a return address */
			return true;
	return false;
}

uint32_t plumbing_frames(const struct plumbing *p, const uint64_t *ips, uint32_t nr)
{
	for (uint32_t i = nr < FRAMES_CHECKED ? nr : FRAMES_CHECKED; p && i > 0; i--)
		if (has(p, ips[i - 1]))
			return i;
	return 0;
}
