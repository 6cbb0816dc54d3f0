#include "collect/loaded.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collect/bpf_open.h"
#include "sys/rights/broker.h"
#include "sys/rights/fd_packet.h"

struct loaded_program {
	struct bpf_program *prog;
	int fd;   /* -1 = not loaded */
	int link; /* -1 = not attached */
};

struct loaded {
	struct bpf_object *obj;
	uint32_t nr;
	struct loaded_program parts[BPF_ORDER_PROGS];
	struct bpf_order order;
};

int loaded_new(enum bpf_which which, struct bpf_object *obj, struct loaded **out)
{
	struct loaded *l = calloc(1, sizeof(*l));
	struct bpf_program *prog;

	if (!l)
		return -ENOMEM;
	l->obj = obj;
	l->order.which = which;
	bpf_object__for_each_program(prog, obj)
	{
		if (l->nr == BPF_ORDER_PROGS) {
			free(l);
			return -E2BIG;
		}
		l->parts[l->nr++] = (struct loaded_program){ prog, -1, -1 };
	}
	*out = l;
	return 0;
}

void loaded_close(struct loaded *l)
{
	if (!l)
		return;
	loaded_detach(l);
	for (uint32_t i = 0; i < l->nr; i++)
		if (l->parts[i].fd >= 0)
			close(l->parts[i].fd);
	free(l);
}

struct bpf_object *loaded_object(const struct loaded *l)
{
	return l->obj;
}

static uint32_t place_of(const struct loaded *l, const struct bpf_program *prog)
{
	uint32_t i = 0;

	while (i < l->nr && l->parts[i].prog != prog)
		i++;
	return i;
}

int loaded_aim(struct loaded *l, struct bpf_program *prog, const char *function)
{
	struct bpf_aim *aim = &l->order.aims[l->order.nr_aims];
	int err;

	if (l->order.nr_aims == BPF_ORDER_AIMS || strlen(function) >= sizeof(aim->function))
		return -E2BIG;
	err = bpf_program__set_attach_target(prog, 0, function);
	if (err)
		return err;
	aim->prog = place_of(l, prog);
	memcpy(aim->function, function, strlen(function) + 1);
	l->order.nr_aims++;
	return 0;
}

static int order_maps(struct loaded *l, struct fd_packet *given)
{
	struct bpf_order *o = &l->order;
	struct bpf_map *map;

	bpf_object__for_each_map(map, l->obj)
	{
		uint32_t i = o->nr_maps;

		if (i == BPF_ORDER_MAPS || given->nr == FD_PACKET_MAX)
			return -E2BIG;
		o->entries[i] = bpf_map__max_entries(map);
		o->maps[i] = bpf_map__fd(map) >= 0      ? BPF_MAP_GIVEN
		             : bpf_map__autocreate(map) ? BPF_MAP_NEW
		                                        : BPF_MAP_LEFT_OUT;
		if (o->maps[i] == BPF_MAP_GIVEN)
			given->fds[given->nr++] = bpf_map__fd(map);
		o->nr_maps++;
	}
	return 0;
}

static int make_order(struct loaded *l, struct fd_packet *given)
{
	struct bpf_order *o = &l->order;
	struct bpf_map *map = bpf_order_config_map(l->obj);
	size_t bytes = 0;
	const void *config = map ? bpf_map__initial_value(map, &bytes) : NULL;

	if (bytes > sizeof(o->config))
		return -E2BIG;
	o->config_bytes = (uint32_t)bytes;
	if (config)
		memcpy(o->config, config, bytes);
	for (o->nr_progs = 0; o->nr_progs < l->nr; o->nr_progs++)
		o->is_wanted[o->nr_progs] = bpf_program__autoload(l->parts[o->nr_progs].prog);
	o->nr_maps = 0;
	return order_maps(l, given);
}

/* The variables of the skeleton become those of the programs, at the same place. */
static int share_variables(const struct bpf_map *map)
{
	size_t bytes = 0, page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = bpf_map__is_internal(map)
	                   ? (void *)bpf_map__initial_value((struct bpf_map *)map, &bytes)
	                   : NULL;
	bool is_constant = bpf_map__map_flags(map) & BPF_F_RDONLY_PROG;

	if (!at || !(bpf_map__map_flags(map) & BPF_F_MMAPABLE))
		return 0;
	bytes = (bytes + page - 1) / page * page;
	at = mmap(at, bytes, is_constant ? PROT_READ : PROT_READ | PROT_WRITE,
	          MAP_SHARED | MAP_FIXED, bpf_map__fd(map), 0);
	return at == MAP_FAILED ? -errno : 0;
}

static int take_maps(struct loaded *l, const struct fd_packet *got, uint32_t *nr_taken)
{
	struct bpf_map *map;
	uint32_t i = 0;

	bpf_object__for_each_map(map, l->obj)
	{
		int err;

		if (l->order.maps[i++] != BPF_MAP_NEW)
			continue;
		if (*nr_taken == got->nr)
			return -EPROTO;
		err = bpf_map__reuse_fd(map, got->fds[*nr_taken]); /* a copy */
		if (!err)
			err = share_variables(map);
		if (err)
			return err;
		++*nr_taken;
	}
	return 0;
}

static int take_programs(struct loaded *l, struct fd_packet *got, uint32_t nr_maps)
{
	uint32_t at = nr_maps, nr_wanted = 0;

	for (uint32_t i = 0; i < l->nr; i++)
		nr_wanted += l->order.is_wanted[i];
	if (got->nr != nr_maps + nr_wanted)
		return -EPROTO;
	for (uint32_t i = 0; i < l->nr; i++)
		if (l->order.is_wanted[i])
			l->parts[i].fd = got->fds[at++];
	got->nr = nr_maps; /* the others are taken */
	return 0;
}

int loaded_load(struct loaded *l)
{
	struct fd_packet given = { .nr = 0 }, got;
	uint32_t nr_maps = 0;
	char why[BROKER_WHY_LEN];
	int err = make_order(l, &given);

	if (err)
		return err;
	err = broker_load(bpf_order_load, &l->order, sizeof(l->order), &given, &got, why);
	bpf_log_note(why);
	if (err)
		return err;
	err = take_maps(l, &got, &nr_maps);
	if (!err)
		err = take_programs(l, &got, nr_maps);
	fd_packet_close(&got);
	return err;
}

int loaded_fd(const struct loaded *l, const struct bpf_program *prog)
{
	uint32_t i = place_of(l, prog);

	return i < l->nr ? l->parts[i].fd : -1;
}

bool loaded_each(const struct loaded *l, uint32_t i, struct bpf_program **prog, int *fd)
{
	if (i >= l->nr)
		return false;
	*prog = l->parts[i].prog;
	*fd = l->parts[i].fd;
	return true;
}

static int attach(struct loaded *l, const struct bpf_program *prog, const char *tracepoint)
{
	uint32_t i = place_of(l, prog);
	struct loaded_program *p = &l->parts[i];

	if (i == l->nr || p->fd < 0 || p->link >= 0)
		return 0;
	p->link = bpf_raw_tracepoint_open(tracepoint, p->fd);
	return p->link < 0 ? -errno : 0;
}

int loaded_attach(struct loaded *l, const struct bpf_program *prog)
{
	return attach(l, prog, NULL);
}

int loaded_attach_raw(struct loaded *l, const struct bpf_program *prog, const char *tracepoint)
{
	return attach(l, prog, tracepoint);
}

int loaded_attach_all(struct loaded *l)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < l->nr; i++)
		err = loaded_attach(l, l->parts[i].prog);
	return err;
}

void loaded_detach(struct loaded *l)
{
	for (uint32_t i = 0; i < l->nr; i++) {
		if (l->parts[i].link >= 0)
			close(l->parts[i].link);
		l->parts[i].link = -1;
	}
}

int loaded_iterator(const struct loaded *l, const struct bpf_program *prog)
{
	int fd = bpf_link_create(loaded_fd(l, prog), 0, BPF_TRACE_ITER, NULL);

	return fd < 0 ? -errno : fd;
}

int bpf_tie_event(int prog_fd, int event, uint64_t cookie, struct bpf_tie *out)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);
	int link = bpf_link_create(prog_fd, event, BPF_PERF_EVENT, &opts);
	int err = link < 0 ? -errno : 0;

	if (err == -EINVAL && ioctl(event, PERF_EVENT_IOC_SET_BPF, prog_fd) == 0)
		err = 0;
	if (!err && ioctl(event, PERF_EVENT_IOC_ENABLE, 0) < 0)
		err = -errno;
	if (err && link >= 0)
		close(link);
	if (!err)
		*out = (struct bpf_tie){ event, link };
	return err;
}

int bpf_tie_kprobe(int prog_fd, const char *function, bool is_return, uint64_t cookie,
                   struct bpf_tie *out)
{
	int event = broker_kprobe(function, is_return), err;

	if (event < 0)
		return event;
	err = bpf_tie_event(prog_fd, event, cookie, out);
	if (err)
		close(event);
	return err;
}

void bpf_tie_close(struct bpf_tie *t)
{
	if (t->event >= 0)
		(void)ioctl(t->event, PERF_EVENT_IOC_DISABLE, 0);
	if (t->link >= 0)
		close(t->link);
	if (t->event >= 0)
		close(t->event);
	*t = (struct bpf_tie){ -1, -1 };
}
