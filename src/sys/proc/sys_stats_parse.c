#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sys/proc/sys_stats.h"

#define NET_FIELDS 16

/* From the start of the line at *at, which moves behind it; NULL at the end. */
static const char *next_line(const char **at, char *buf, size_t size)
{
	size_t len = strcspn(*at, "\n"), copied = len < size - 1 ? len : size - 1;

	if (**at == '\0')
		return NULL;
	memcpy(buf, *at, copied);
	buf[copied] = '\0';
	*at += len + ((*at)[len] == '\n');
	return buf;
}

static void add_pair(struct sys_pairs *p, const char *name, size_t len, uint64_t value)
{
	struct sys_pair *pair = &p->items[p->nr];

	if (p->nr == SYS_PAIRS_MAX || len == 0 || len >= sizeof(pair->name))
		return;
	memcpy(pair->name, name, len);
	pair->name[len] = '\0';
	pair->value = value;
	p->nr++;
}

void sys_pairs_parse(const char *text, struct sys_pairs *out)
{
	char buf[128];
	const char *line;
	uint64_t value;

	while ((line = next_line(&text, buf, sizeof(buf)))) {
		size_t len = strcspn(line, ": \t");

		if (line[len] && sscanf(line + len + 1, " %" SCNu64, &value) == 1)
			add_pair(out, line, len, value);
	}
}

void sys_pressure_parse(const char *text, const char *resource, struct sys_pairs *out)
{
	char buf[256], name[SYS_PAIR_NAME];
	const char *line, *total;
	uint64_t us;

	while ((line = next_line(&text, buf, sizeof(buf)))) {
		size_t len = strcspn(line, " ");

		total = strstr(line, " total=");
		if (!total || sscanf(total, " total=%" SCNu64, &us) != 1 || us > UINT64_MAX / 1000)
			continue;
		(void)snprintf(name, sizeof(name), "%s.%.*s", resource, (int)(len < 16 ? len : 16),
		               line);
		add_pair(out, name, strlen(name), us * 1000);
	}
}

static bool parse_cpu(const char *line, uint64_t hz, struct sys_cpu *out)
{
	uint64_t *t = out->ns;

	/* The line of all together has no number, and sscanf() would take the next one for it. */
	if (line[3] < '0' || line[3] > '9')
		return false;
	if (sscanf(line,
	           "cpu%" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
	           " %" SCNu64 " %" SCNu64 " %" SCNu64,
	           &out->cpu, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) != 9 ||
	    out->cpu >= SYS_CPUS_MAX)
		return false;
	for (int i = 0; i < SYS_TIMES; i++)
		t[i] *= 1000000000ULL / hz;
	return true;
}

size_t sys_cpus_parse(const char *text, uint64_t hz, struct sys_cpu *out, size_t cap)
{
	char buf[256];
	const char *line;
	size_t nr = 0;

	/* Lines without end follow the CPUs. */
	while (nr < cap && (line = next_line(&text, buf, sizeof(buf)))) {
		if (strncmp(line, "cpu", 3) != 0)
			break;
		nr += parse_cpu(line, hz, &out[nr]);
	}
	return nr;
}

bool sys_forks_parse(const char *text, uint64_t *out)
{
	const char *line = strstr(text, "\nprocesses ");

	return line && sscanf(line, "\nprocesses %" SCNu64, out) == 1;
}

static bool parse_net(const char *line, struct sys_net *out)
{
	const char *colon = strrchr(line, ':'), *name = line + strspn(line, " ");
	uint64_t v[NET_FIELDS];
	int used = 0;

	if (!colon || colon <= name || (size_t)(colon - name) >= sizeof(out->name))
		return false;
	for (const char *at = colon + 1; used < NET_FIELDS; used++) {
		int n = 0;

		if (sscanf(at, " %" SCNu64 "%n", &v[used], &n) != 1)
			return false;
		at += n;
	}
	*out = (struct sys_net){ .rx_bytes = v[0],
		                 .rx_packets = v[1],
		                 .rx_errors = v[2],
		                 .rx_drops = v[3],
		                 .tx_bytes = v[8],
		                 .tx_packets = v[9],
		                 .tx_errors = v[10],
		                 .tx_drops = v[11] };
	memcpy(out->name, name, (size_t)(colon - name));
	return true;
}

size_t sys_nets_parse(const char *text, struct sys_net *out, size_t cap)
{
	char buf[512];
	const char *line;
	size_t nr = 0;

	while (nr < cap && (line = next_line(&text, buf, sizeof(buf))))
		nr += parse_net(line, &out[nr]);
	return nr;
}
