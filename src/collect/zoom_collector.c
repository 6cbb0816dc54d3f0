#include "collect/zoom_collector.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/bpf_open.h"
#include "collect/context.h"
#include "collect/events_part.h"
#include "collect/loaded.h"

#define SKELETON "zoom.skel.h"
#include "collect/skel.h"

const struct bpf_kind bpf_kind_zoom = { "zoom_bpf", zoom_bpf__elf_bytes, BPF_CONTEXT_AT(zoom_bpf) };

struct zoom_collector {
	struct zoom_bpf *skel;
	struct loaded *loaded;
	struct bpf_log *log;
	struct zoom_state state; /* as of the last reading */
	struct zoom_wait waits[ZOOM_WAITS];
	struct zoom_waker_key waker_keys[ZOOM_WAKERS];
	struct zoom_waker wakers[ZOOM_WAKERS];
	uint32_t rival_tids[ZOOM_RIVALS];
	struct zoom_rival rivals[ZOOM_RIVALS];
};

DEFINE_SCOPED(zoom_collector, zoom_collector_close)

DEFINE_SCOPED(btf, btf__free)

static int prepare_context(struct zoom_collector *c, bool is_counted, struct diag *d)
{
	SCOPED(scoped_btf) struct btf *vmlinux = btf__load_vmlinux_btf();
	struct context_cfg context;

	if (!vmlinux)
		return diag_set(d, -errno, "see 'schedscope doctor'",
		                "this kernel has no type information (BTF)");
	context_find(vmlinux, is_counted, &context);
	c->skel->rodata->context_cfg = context;
	context_choose(c->skel->obj, vmlinux, &context);
	return 0;
}

int zoom_collector_open(const struct zoom_cfg *cfg, bool is_counted, struct diag *d,
                        struct zoom_collector **out)
{
	SCOPED(scoped_zoom_collector) struct zoom_collector *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	c->log = bpf_log_capture();
	c->skel = zoom_bpf__open();
	if (!c->skel)
		return bpf_load_failed(c->log, -errno, "one thread", d);
	err = loaded_new(BPF_ZOOM, c->skel->obj, &c->loaded);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	c->skel->rodata->cfg = *cfg;
	err = prepare_context(c, is_counted, d);
	if (err)
		return err;
	err = loaded_load(c->loaded);
	if (err)
		return bpf_load_failed(c->log, err, "one thread", d);
	/* libbpf's callback is per process: the next user must find it free. */
	bpf_log_stop(c->log);
	c->log = NULL;
	*out = TAKE_PTR(c);
	return 0;
}

void zoom_collector_close(struct zoom_collector *c)
{
	if (!c)
		return;
	loaded_close(c->loaded);
	zoom_bpf__destroy(c->skel);
	bpf_log_stop(c->log);
	free(c);
}

/* Of a hash; how many there are. Entries added or removed meanwhile may or may not be among them. */
static int read_all(const struct bpf_map *map, void *keys, void *values, uint32_t cap, size_t *out)
{
	uint32_t position, nr = cap;

	if (bpf_map_lookup_batch(bpf_map__fd(map), NULL, &position, keys, values, &nr, NULL) &&
	    errno != ENOENT)
		return -errno;
	*out = nr;
	return 0;
}

static int forget(struct zoom_collector *c)
{
	size_t nr_wakers = 0, nr_rivals = 0;
	int err = read_all(c->skel->maps.wakers, c->waker_keys, c->wakers, ZOOM_WAKERS, &nr_wakers);

	if (!err)
		err = read_all(c->skel->maps.rivals, c->rival_tids, c->rivals, ZOOM_RIVALS,
		               &nr_rivals);
	if (err)
		return err;
	for (size_t i = 0; i < nr_wakers; i++)
		(void)bpf_map_delete_elem(bpf_map__fd(c->skel->maps.wakers), &c->waker_keys[i]);
	for (size_t i = 0; i < nr_rivals; i++)
		(void)bpf_map_delete_elem(bpf_map__fd(c->skel->maps.rivals), &c->rival_tids[i]);
	memset(&c->skel->bss->zoom, 0, sizeof(c->skel->bss->zoom));
	return 0;
}

int zoom_collector_start(struct zoom_collector *c, uint32_t tid, struct diag *d)
{
	int err;

	zoom_collector_stop(c);
	err = forget(c);
	if (!err)
		err = context_attach_exits(c->loaded);
	if (!err)
		err = loaded_attach_all(c->loaded);
	if (err) {
		zoom_collector_stop(c);
		return bpf_load_failed(NULL, err, "one thread", d);
	}
	/* All at once: no wait is seen by halves. */
	__atomic_store_n(&c->skel->bss->zoom.tid, tid, __ATOMIC_RELEASE);
	return 0;
}

void zoom_collector_stop(struct zoom_collector *c)
{
	__atomic_store_n(&c->skel->bss->zoom.tid, 0, __ATOMIC_RELEASE);
	loaded_detach(c->loaded);
}

/*
 * The kernel keeps writing: the slot of the wait in progress is no longer that of the oldest one.
 * Those that may have been overwritten while we copied are left out.
 */
static size_t read_waits(struct zoom_collector *c, uint64_t nr)
{
	struct zoom_state *shared = &c->skel->bss->zoom;
	uint64_t nr_kept = nr < ZOOM_WAITS ? nr : ZOOM_WAITS, nr_after;

	for (uint64_t i = 0; i < nr_kept; i++)
		c->waits[i] = shared->waits[(nr - 1 - i) % ZOOM_WAITS];
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	nr_after = __atomic_load_n(&shared->nr_waits, __ATOMIC_ACQUIRE);
	if (nr_after - nr >= ZOOM_WAITS - 1)
		return 0;
	return nr_kept < ZOOM_WAITS - 1 - (nr_after - nr) ? nr_kept
	                                                  : ZOOM_WAITS - 1 - (nr_after - nr);
}

int zoom_collector_read(struct zoom_collector *c, struct zoom_reading *out)
{
	const struct zoom_state *shared = &c->skel->bss->zoom;
	uint64_t nr = __atomic_load_n(&shared->nr_waits, __ATOMIC_ACQUIRE);
	struct zoom_reading r = { .state = &c->state,
		                  .waits = c->waits,
		                  .waker_keys = c->waker_keys,
		                  .wakers = c->wakers,
		                  .rival_tids = c->rival_tids,
		                  .rivals = c->rivals };
	int err;

	memcpy(&c->state, shared, offsetof(struct zoom_state, waits));
	err = read_all(c->skel->maps.wakers, c->waker_keys, c->wakers, ZOOM_WAKERS, &r.nr_wakers);
	if (!err)
		err = read_all(c->skel->maps.rivals, c->rival_tids, c->rivals, ZOOM_RIVALS,
		               &r.nr_rivals);
	if (err)
		return err;
	r.nr_waits = read_waits(c, nr);
	r.missed = events_part_missed(c->loaded);
	*out = r;
	return 0;
}
