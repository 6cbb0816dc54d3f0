/*
 * collect/bpf_order — which BPF object to load, and how: all that its user may choose, in bytes of a fixed shape.
 *
 * The one who wants it opens its own copy of the object, chooses, and makes an order (collect/loaded). The one who loads it, in
 * another process where that has the rights, opens the object anew, checks the order and carries it out. So the code that is
 * loaded is always that of this program.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "sys/rights/broker.h"

struct bpf_map;
struct bpf_object;
struct fd_packet;

#define BPF_ORDER_MAPS   32U
#define BPF_ORDER_PROGS  96U
#define BPF_ORDER_AIMS   8U
#define BPF_ORDER_CONFIG 1024U
#define BPF_FUNCTION_LEN 128U

enum bpf_which {
	BPF_EVENTS,
	BPF_HITS,
	BPF_PRESSURE,
	BPF_PROFILE,
	BPF_SCX,
	BPF_STACKS,
	BPF_STAT,
	BPF_TRACEPOINT,
	BPF_ZOOM,
	BPF_NR_OBJECTS,
};

enum bpf_order_map {
	BPF_MAP_NEW,
	BPF_MAP_GIVEN, /* the next of the descriptors that came with the order */
	BPF_MAP_LEFT_OUT,
};

/* A function or tracepoint that is not named in the object. */
struct bpf_aim {
	uint32_t prog;
	char function[BPF_FUNCTION_LEN];
};

/* By the places of maps and programs in the object. */
struct bpf_order {
	uint32_t which;
	uint32_t nr_maps, nr_progs, nr_aims;
	uint32_t config_bytes; /* of the constants of the programs (.rodata); 0 = it has none */
	uint32_t entries[BPF_ORDER_MAPS];
	uint8_t maps[BPF_ORDER_MAPS]; /* enum bpf_order_map */
	uint8_t is_wanted[BPF_ORDER_PROGS];
	struct bpf_aim aims[BPF_ORDER_AIMS];
	uint8_t config[BPF_ORDER_CONFIG];
};

/* An object that is built in. */
struct bpf_kind {
	const char *name;
	const void *(*bytes)(size_t *size);
	int context_at; /* place of struct context_cfg among the constants; -1 = none */
};

#define BPF_NO_CONTEXT (-1)
#define BPF_CONTEXT_AT(skeleton) \
	((int)offsetof(__typeof__(*((struct skeleton *)NULL)->rodata), context_cfg))

extern const struct bpf_kind bpf_kind_events, bpf_kind_hits, bpf_kind_pressure, bpf_kind_profile,
	bpf_kind_scx, bpf_kind_stacks, bpf_kind_stat, bpf_kind_tracepoint, bpf_kind_zoom;

/*
 * A broker_load_fn: *got are the maps that are new, then the programs that are wanted. -EACCES for what is never loaded, or
 * -errno of the kernel, with its words in why.
 */
MUST_USE int bpf_order_load(const void *order, const struct fd_packet *given, struct fd_packet *got,
                            char why[BROKER_WHY_LEN]);
/* The constants of an object; NULL = it has none. */
struct bpf_map *bpf_order_config_map(const struct bpf_object *obj);
/* All of it but the loading: the object, checked and as it was ordered. */
MUST_USE int bpf_order_open(const struct bpf_order *o, const struct fd_packet *given,
                            struct bpf_object **out);
/* What can be said before the object is open. False: it is not carried out. */
bool bpf_order_is_sane(const struct bpf_order *o);
