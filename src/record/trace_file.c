#include "record/trace_file.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/version.h"
#include "record/labels.h"
#include "record/record_facts.h"
#include "record/record_symbols.h"
#include "sys/topology.h"

static bool read_clocks(void *ctx, struct trace_clocks *out)
{
	(void)ctx;
	out->boot_ns = clock_boot_ns();
	out->mono_ns = clock_read_ns(CLOCK_MONOTONIC);
	out->real_ns = clock_read_ns(CLOCK_REALTIME);
	out->raw_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
	return true;
}

/* Onto the descriptor or the path, with all that base says, and the facts. */
static int open_writer(const struct trace_file_cfg *file, const struct trace_writer_cfg *base,
                       struct diag *d, struct trace_writer **out)
{
	struct trace_writer_cfg cfg = *base;
	struct trace_attr attrs[TRACE_FILE_ATTRS + RECORD_FACTS_ATTRS + LABELS_MAX];
	const struct labels *labels = file->source->labels;
	const struct record_filter filter = { .tgid = file->source->tgid,
		                              .one_in = file->source->one_in,
		                              .cgroup = file->source->cgroup,
		                              .nr_cgroup = file->source->nr_cgroup };
	struct record_facts facts;
	int err = record_facts_init(&facts, file->topology, &filter);

	if (!err && file->nr_attrs > TRACE_FILE_ATTRS)
		err = -E2BIG;
	if (!err) {
		memcpy(attrs, facts.attrs, facts.nr_attrs * sizeof(*attrs));
		if (file->nr_attrs)
			memcpy(attrs + facts.nr_attrs, file->attrs,
			       file->nr_attrs * sizeof(*attrs));
		cfg.attrs = attrs;
		cfg.nr_attrs = facts.nr_attrs + file->nr_attrs;
		for (size_t i = 0; labels && i < labels->nr; i++)
			attrs[cfg.nr_attrs++] = labels->attrs[i];
		cfg.cpus = facts.cpus;
		cfg.nr_cpus = facts.nr_cpus;
		err = file->path ? trace_writer_create(file->path, &cfg, d, out)
		                 : trace_writer_open(file->fd, &cfg, d, out);
	} else {
		if (!file->path)
			close(file->fd);
		err = diag_set(d, err, NULL, "cannot describe the machine");
	}
	record_facts_done(&facts);
	return err;
}

int trace_file_open(const struct trace_file_cfg *file, struct diag *d, struct trace_writer **out)
{
	struct utsname uts = { 0 };
	struct trace_system system = {
		.nr_cpus = topology_counts(file->topology)->nr_possible,
		.page_bytes = (uint32_t)sysconf(_SC_PAGESIZE),
		.hz = (uint32_t)sysconf(_SC_CLK_TCK),
		.ram_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
	};
	struct trace_writer_cfg cfg = {
		.is_compressed = file->is_compressed,
		.is_real_path = file->is_real_path,
		.tool = "schedscope",
		.version = schedscope_version,
		.command_line = file->command_line,
		.system = &system,
		.kinds = file->source->kinds,
		.pmu_names = file->source->pmu,
		.nr_pmu_names = file->source->nr_pmu,
		.sampling = { .event = file->stack_event,
		              .frequency = file->source->stack_frequency },
		.calls = { .ctx = file->symbols, .clocks = read_clocks, .cmdline = record_cmdline },
	};

	if (file->symbols) {
		cfg.calls.place = record_symbols_place;
		cfg.calls.symbol = record_symbols_name;
	}
	if (uname(&uts) == 0) {
		system.sysname = uts.sysname;
		system.release = uts.release;
		system.version = uts.version;
		system.machine = uts.machine;
		system.machine_name = uts.nodename;
	}
	if (getrandom(&cfg.uuid, sizeof(cfg.uuid), GRND_NONBLOCK) != (ssize_t)sizeof(cfg.uuid))
		memset(&cfg.uuid, 0, sizeof(cfg.uuid)); /* a trace without a name of its own */
	return open_writer(file, &cfg, d, out);
}
