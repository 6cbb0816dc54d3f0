#include "record/record_facts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/proc/pid_namespace.h"
#include "sys/rights/broker.h"
#include "sys/topology.h"
#include "sys/topology_json.h"

#define TOPOLOGY_BYTES_MAX 100000 /* some 2000 CPUs: packets end at 128 kB */

static int write_topology(struct record_facts *f, const struct topology *topology)
{
	size_t size = 0;
	FILE *out = open_memstream(&f->topology, &size);
	int err;

	if (!out)
		return -ENOMEM;
	err = topology_json_write(topology, out);
	if (fclose(out) || err)
		return -ENOMEM;
	if (size > TOPOLOGY_BYTES_MAX) {
		free(f->topology);
		f->topology = NULL;
		return 0;
	}
	while (size && f->topology[size - 1] == '\n')
		f->topology[--size] = '\0';
	return 0;
}

/* Readers take the CPUs for 0, 1, ...: with gaps between them nothing is written. */
static int list_cpus(struct record_facts *f, const struct topology *topology)
{
	const struct topology_counts *counts = topology_counts(topology);

	if (counts->nr_possible != counts->nr_cpu_ids)
		return 0;
	f->cpus = calloc(counts->nr_cpu_ids, sizeof(*f->cpus));
	if (!f->cpus)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < counts->nr_cpu_ids; cpu++) {
		int32_t capacity = topology_cpu(topology, cpu)->capacity;

		if (capacity <= 0)
			return 0;
		f->cpus[cpu].capacity = (uint32_t)capacity;
	}
	f->nr_cpus = counts->nr_cpu_ids;
	return 0;
}

static void describe_filter(struct record_facts *f, const struct record_filter *filter)
{
	size_t len = 0;

	if (filter->one_in > 1)
		len = (size_t)snprintf(f->filter, sizeof(f->filter), "one wakeup in %u",
		                       filter->one_in);
	if (filter->tgid)
		len += (size_t)snprintf(f->filter + len, sizeof(f->filter) - len, "%spid %u",
		                        len ? ", " : "", filter->tgid);
	for (size_t i = 0; i < filter->nr_cgroup && len < sizeof(f->filter); i++)
		len += (size_t)snprintf(f->filter + len, sizeof(f->filter) - len, "%scgroup %s",
		                        len ? ", " : "", filter->cgroup[i]);
}

static void read_boot_id(struct record_facts *f)
{
	SCOPED(scoped_free) char *text = NULL;

	if (text_read_file("/proc/sys/kernel/random/boot_id", sizeof(f->boot_id), &text))
		return;
	text_chomp(text);
	(void)snprintf(f->boot_id, sizeof(f->boot_id), "%s", text);
}

int record_facts_init(struct record_facts *f, const struct topology *topology,
                      const struct record_filter *filter)
{
	int err;

	memset(f, 0, sizeof(*f));
	err = write_topology(f, topology);
	if (!err)
		err = list_cpus(f, topology);
	if (err)
		return err;
	describe_filter(f, filter);
	read_boot_id(f);
	if (f->topology)
		f->attrs[f->nr_attrs++] = (struct trace_attr){ .key = "topology",
			                                       .text = f->topology };
	if (f->filter[0])
		f->attrs[f->nr_attrs++] = (struct trace_attr){ .key = "filter", .text = f->filter };
	if (f->boot_id[0])
		f->attrs[f->nr_attrs++] = (struct trace_attr){ .key = "boot_id",
			                                       .text = f->boot_id };
	return 0;
}

void record_facts_done(struct record_facts *f)
{
	free(f->topology);
	free(f->cpus);
	memset(f, 0, sizeof(*f));
}

size_t record_cmdline(void *ctx, uint32_t tgid, char *buf, size_t size)
{
	SCOPED(scoped_close) int fd = -1;
	char path[32];
	ssize_t n;

	(void)ctx;
	if (!pid_namespace_is_initial())
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/%u/cmdline", tgid);
	fd = broker_open(path);
	n = fd >= 0 ? read(fd, buf, size) : 0;
	return n > 0 ? (size_t)n : 0;
}
