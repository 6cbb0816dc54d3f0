/* Packets and bytes sent and received, by device. */
#include <errno.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/buckets.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/walk.h"
#include "base/cleanup.h"
#include "base/grow.h"

#define NS_PER_SEC 1e9

struct traffic {
	uint64_t tx_packets, rx_packets;
	uint64_t tx_bytes, rx_bytes;
};

struct network {
	struct scope sc;
	struct buckets devices; /* by name */
	struct traffic *at;     /* by number of the device's bucket */
	uint32_t room;
	struct traffic all;
};

static void done(void *work)
{
	struct network *x = work;

	buckets_done(&x->devices);
	free(x->at);
}

static void add(struct traffic *t, const struct pair_mark *packet)
{
	bool is_sent = packet->flags & PAIR_MARK_SENT;

	t->tx_packets += is_sent;
	t->rx_packets += !is_sent;
	t->tx_bytes += is_sent ? packet->value : 0;
	t->rx_bytes += is_sent ? 0 : packet->value;
}

static int collect(void *work)
{
	struct network *x = work;
	struct walk w = { .sc = &x->sc, .table = TIMELINE_MARK, .kinds = EV_BIT(EV_NET) };
	const union timeline_row *row;

	while ((row = walk_next(&w))) {
		uint32_t i = buckets_count(&x->devices, row->mark.name_id);

		if (i == BUCKETS_NONE)
			return -ENOMEM;
		if (GROW_ZEROED(x->at, x->room, i))
			return -ENOMEM;
		add(&x->at[i], &row->mark);
		add(&x->all, &row->mark);
	}
	return 0;
}

static void show_traffic(const struct network *x, const struct traffic *t, struct report *r)
{
	report_u64(r, "tx_packets", t->tx_packets);
	report_u64(r, "rx_packets", t->rx_packets);
	report_u64(r, "tx_bytes", t->tx_bytes);
	report_u64(r, "rx_bytes", t->rx_bytes);
	figure_mbps(r, "tx_bandwidth_mbps", t->tx_bytes, x->sc.covered_ns);
	figure_mbps(r, "rx_bandwidth_mbps", t->rx_bytes, x->sc.covered_ns);
}

static int show(void *work, struct report *r)
{
	const struct network *x = work;
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_network_io, x->sc.args) };

	report_string(r, "description", "packets and bytes sent and received, by device");
	show_traffic(x, &x->all, r);
	report_double(r, "duration_secs", (double)x->sc.span_ns / NS_PER_SEC, 6);
	buckets_top(&x->devices, true, &top);
	for (uint32_t i = 0; top_row(&top, i, r, "by_device"); i++) {
		figure_text(r, "device", x->sc.s, (uint32_t)x->devices.at[top.entries[i].id].key);
		show_traffic(x, &x->at[top.entries[i].id], r);
	}
	report_string(r, "note",
	              "megabits per second of the requested time; a packet sent through several "
	              "devices counts at each");
	return top.has_failed ? -ENOMEM : 0;
}

const struct pass pass_network_io = {
	.id = "network_io",
	.name = "Network I/O Analysis",
	.category = "io",
	.what = "packets and bytes sent and received, by device",
	.needs = EV_BIT(EV_NET),
	.cost = 1,
	.work = { .size = sizeof(struct network), .collect = collect, .show = show, .done = done },
};
