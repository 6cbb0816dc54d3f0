#include "session/trace_file.h"

#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"

static bool read_clocks(void *ctx, struct trace_clocks *out)
{
	(void)ctx;
	out->boot_ns = clock_boot_ns();
	out->mono_ns = clock_read_ns(CLOCK_MONOTONIC);
	out->real_ns = clock_read_ns(CLOCK_REALTIME);
	out->raw_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
	return true;
}

int trace_file_open(const struct trace_file_cfg *file, struct diag *d, struct trace_writer **out)
{
	struct utsname uts = { 0 };
	struct trace_system system = {
		.nr_cpus = file->nr_cpus,
		.page_bytes = (uint32_t)sysconf(_SC_PAGESIZE),
		.hz = (uint32_t)sysconf(_SC_CLK_TCK),
		.ram_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
	};
	struct trace_writer_cfg cfg = {
		.is_compressed = file->is_compressed,
		.tool = "schedscope",
		.version = SCHEDSCOPE_VERSION,
		.command_line = file->command_line,
		.system = &system,
		.attrs = file->attrs,
		.nr_attrs = file->nr_attrs,
		.kinds = file->kinds,
		.calls = { .clocks = read_clocks },
	};

	if (uname(&uts) == 0) {
		system.sysname = uts.sysname;
		system.release = uts.release;
		system.version = uts.version;
		system.machine = uts.machine;
		system.machine_name = uts.nodename;
	}
	if (getrandom(&cfg.uuid, sizeof(cfg.uuid), GRND_NONBLOCK) != (ssize_t)sizeof(cfg.uuid))
		memset(&cfg.uuid, 0, sizeof(cfg.uuid)); /* a trace without a name of its own */
	return file->path ? trace_writer_create(file->path, &cfg, d, out)
	                  : trace_writer_open(file->fd, &cfg, d, out);
}
