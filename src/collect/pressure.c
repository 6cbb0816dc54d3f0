#include "collect/pressure.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "collect/bpf_open.h"
#include "collect/loaded.h"

#define SKELETON "pressure.skel.h"
#include "collect/skel.h"

const struct bpf_kind bpf_kind_pressure = { "pressure_bpf", pressure_bpf__elf_bytes,
	                                    BPF_NO_CONTEXT };

struct pressure {
	struct pressure_bpf *skel;
	struct loaded *loaded;
	const uint64_t *values; /* mapped */
	size_t bytes;
	uint32_t nr_cpus;
};

DEFINE_SCOPED(pressure, pressure_close)

DEFINE_SCOPED(bpf_log, bpf_log_stop)

static int load(struct pressure *p, const struct bpf_log *log, struct diag *d)
{
	int err;

	p->skel = pressure_bpf__open();
	if (!p->skel)
		return diag_set(d, -errno, NULL, "cannot open the program for hardware pressure");
	err = loaded_new(BPF_PRESSURE, p->skel->obj, &p->loaded);
	if (!err)
		err = bpf_map__set_max_entries(p->skel->maps.pressures, p->nr_cpus);
	if (!err)
		err = loaded_load(p->loaded);
	return err ? bpf_load_failed(log, err, "the program for hardware pressure", d) : 0;
}

static int attach(struct pressure *p, struct diag *d)
{
	static const char *const names[] = { "hw_pressure_update", "thermal_pressure_update" };

	int err = -ENOENT;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && err; i++)
		err = loaded_attach_raw(p->loaded, p->skel->progs.on_pressure, names[i]);
	return err ? diag_set(d, err, NULL, "this kernel has no tracepoint of hardware pressure")
	           : 0;
}

static int map_values(struct pressure *p, struct diag *d)
{
	void *map;

	p->bytes = (size_t)p->nr_cpus * sizeof(*p->values);
	map = mmap(NULL, p->bytes, PROT_READ, MAP_SHARED, bpf_map__fd(p->skel->maps.pressures), 0);
	if (map == MAP_FAILED)
		return diag_set(d, -errno, NULL, "cannot map hardware pressures");
	p->values = map;
	return 0;
}

int pressure_open(uint32_t nr_cpus, struct diag *d, struct pressure **out)
{
	SCOPED(scoped_pressure) struct pressure *p = calloc(1, sizeof(*p));
	SCOPED(scoped_bpf_log) struct bpf_log *log = bpf_log_capture();
	int err;

	if (!p)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	p->nr_cpus = nr_cpus ? nr_cpus : 1;
	err = load(p, log, d);
	if (!err)
		err = attach(p, d);
	if (!err)
		err = map_values(p, d);
	if (err)
		return err;
	*out = TAKE_PTR(p);
	return 0;
}

void pressure_close(struct pressure *p)
{
	if (!p)
		return;
	if (p->values)
		munmap((void *)p->values, p->bytes);
	loaded_close(p->loaded);
	pressure_bpf__destroy(p->skel);
	free(p);
}

bool pressure_of(const struct pressure *p, uint32_t cpu, uint64_t *out)
{
	uint64_t value = cpu < p->nr_cpus ? __atomic_load_n(&p->values[cpu], __ATOMIC_RELAXED) : 0;

	if (!value)
		return false;
	*out = value - 1;
	return true;
}

int pressure_program(const struct pressure *p)
{
	return loaded_fd(p->loaded, p->skel->progs.on_pressure);
}
