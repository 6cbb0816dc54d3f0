/* BPF and events of perf, both sides: what is asked for, and what is made of it. */
#include <errno.h>
#include <string.h>

#include "sys/bpf/bpf_map.h"
#include "sys/rights/broker_priv.h"
#include "sys/rights/perf_policy.h"
#include "sys/rights/probe_event.h"

#define DEVICES "/sys/bus/event_source/devices"

static broker_load_fn *loader;

void broker_set_loader(broker_load_fn *load)
{
	loader = load;
}

int broker_perf_of(const struct perf_event_attr *attr, int tid, uint32_t cpu, int group_fd)
{
	struct broker_request r = { .op = BROKER_PERF_ANY, .mode = cpu, .id = (uint32_t)tid };

	memcpy(r.path, attr, sizeof(*attr));
	return broker_ask_first_here(&r, group_fd);
}

int broker_kprobe(const char *function, bool is_return)
{
	struct broker_request r = { .op = BROKER_KPROBE, .mode = is_return };

	if (strlen(function) >= sizeof(r.path))
		return -ENAMETOOLONG;
	memcpy(r.path, function, strlen(function) + 1);
	return broker_ask_first_here(&r, -1);
}

int broker_uprobe(int file, const char *function, uint64_t offset, bool is_return)
{
	struct broker_request r = { .op = BROKER_UPROBE, .mode = is_return, .id = offset };

	if (strlen(function) >= sizeof(r.path))
		return -ENAMETOOLONG;
	memcpy(r.path, function, strlen(function) + 1);
	return broker_ask_first_here(&r, file);
}

int broker_bpf_map(enum broker_map kind, uint32_t bytes, int inner_fd)
{
	struct broker_request r = { .op = BROKER_MAP, .mode = kind, .id = bytes };

	return broker_ask_first_here(&r, inner_fd);
}

int broker_load(broker_load_fn *load, const void *order, size_t bytes,
                const struct fd_packet *given, struct fd_packet *got, char why[BROKER_WHY_LEN])
{
	struct broker_request r = { .op = BROKER_LOAD };
	struct broker_reply reply = { 0 };
	int err;

	got->nr = 0;
	why[0] = '\0';
	if (!broker_can_trace())
		return load(order, given, got, why);
	if (bytes > BROKER_ORDER_MAX)
		return -E2BIG;
	memcpy(r.path, order, bytes);
	err = broker_exchange(&r, given, got, &reply);
	memcpy(why, reply.why, sizeof(reply.why));
	return err;
}

static int serve_perf(const struct broker_state *s, const struct broker_request *r, int given)
{
	struct perf_event_attr attr;

	memcpy(&attr, r->path, sizeof(attr));
	if (s->is_lent && !perf_policy_allows(&attr, DEVICES))
		return -EACCES;
	return broker_perf_open(&attr, (int)(uint32_t)r->id, r->mode, given);
}

/* A uprobe in the middle of an instruction would break the program: rights are lent only for where a function begins. */
int broker_serve_tracing(const struct broker_state *s, const struct broker_request *r, int given)
{
	switch (r->op) {
	case BROKER_PERF_ANY:
		return serve_perf(s, r, given);
	case BROKER_KPROBE:
		return probe_event_kernel(r->path, r->mode != 0);
	case BROKER_UPROBE:
		if (given < 0 || (r->id && s->is_lent))
			return -EINVAL;
		return probe_event_user(given, r->path, r->id, r->mode != 0);
	case BROKER_MAP:
		return bpf_map_make((enum broker_map)r->mode, (uint32_t)r->id, given);
	default:
		return -EACCES;
	}
}

int broker_serve_load(const struct broker_request *r, const struct fd_packet *given,
                      struct fd_packet *got, struct broker_reply *reply)
{
	return loader ? loader(r->path, given, got, reply->why) : -EACCES;
}
