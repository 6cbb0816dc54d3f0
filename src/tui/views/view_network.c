#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/parts.h"
#include "tui/views/views.h"

#define NETS_MAX    64
#define CHART_LINES 6 /* at least */
#define TABLE_LEAST 7

static const struct table_view_column columns[] = {
	{ "INTERFACE", 9, 15, 0, true, false, false, 0, 0,
	  CELL_OF(struct machine_net, name, TEXT, NONE) },
	{ "RX/s", 6, 0, 1, false, false, false, 0, 0,
	  CELL_OF(struct machine_net, rx_bytes_per_s, BYTES, DIM_0) },
	{ "TX/s", 6, 0, 2, false, false, false, 0, 0,
	  CELL_OF(struct machine_net, tx_bytes_per_s, BYTES, DIM_0) },
	{ "RX PKT/s", 8, 0, 5, false, true, false, 0, 0,
	  CELL_OF(struct machine_net, rx_packets_per_s, COUNT, DIM_0) },
	{ "TX PKT/s", 8, 0, 6, false, true, false, 0, 0,
	  CELL_OF(struct machine_net, tx_packets_per_s, COUNT, DIM_0) },
	{ "ERR/s", 5, 0, 3, false, true, false, 0, 0,
	  CELL_OF(struct machine_net, errors_per_s, COUNT, BAD) },
	{ "DROP/s", 6, 0, 4, false, true, false, 0, 0,
	  CELL_OF(struct machine_net, drops_per_s, COUNT, BAD) },
	{ "RX ALL", 6, 0, 7, false, false, false, 0, 0,
	  CELL_OF(struct machine_net, rx_bytes, BYTES, DIM_0) },
	{ "TX ALL", 6, 0, 8, false, false, false, 0, 0,
	  CELL_OF(struct machine_net, tx_bytes, BYTES, DIM_0) },
};

/* By traffic since boot, so that the order stays while rates change. */
static int by_traffic(const void *a, const void *b)
{
	const struct machine_net *first = *(const struct machine_net *const *)a;
	const struct machine_net *second = *(const struct machine_net *const *)b;
	double x = (double)first->rx_bytes + (double)first->tx_bytes;
	double y = (double)second->rx_bytes + (double)second->tx_bytes;

	if (x != y)
		return x > y ? -1 : 1;
	return strcmp(first->name ? first->name : "", second->name ? second->name : "");
}

static void add(double *sum, double value)
{
	if (!isnan(value))
		*sum += value;
}

static struct machine_net total_of(const struct machine *m)
{
	struct machine_net t = { .name = "total" };

	for (size_t i = 0; i < m->nr_nets; i++) {
		const struct machine_net *n = &m->nets[i];

		add(&t.rx_bytes_per_s, n->rx_bytes_per_s);
		add(&t.tx_bytes_per_s, n->tx_bytes_per_s);
		add(&t.rx_packets_per_s, n->rx_packets_per_s);
		add(&t.tx_packets_per_s, n->tx_packets_per_s);
		add(&t.errors_per_s, n->errors_per_s);
		add(&t.drops_per_s, n->drops_per_s);
		t.rx_bytes += n->rx_bytes;
		t.tx_bytes += n->tx_bytes;
	}
	return t;
}

static bool is_shown(const struct machine_net *n, const struct screen *s)
{
	return !s->filter[0] || (n->name && strcasestr(n->name, s->filter));
}

static int rows(const struct machine *m, const struct screen *s)
{
	int nr = 0;

	for (size_t i = 0; i < m->nr_nets; i++)
		nr += is_shown(&m->nets[i], s);
	return nr;
}

/* The total is the last line, whatever is scrolled above it. */
static void draw_table(const struct machine *m, struct screen *s, struct grid *g, struct area a,
                       bool has_total)
{
	const void **all = calloc(m->nr_nets + 2, sizeof(*all));
	struct machine_net total = total_of(m);
	struct screen shown;
	int height = table_view_height(a), nr = 0, seen;

	if (!all)
		return;
	has_total = has_total && height > 1 && m->nr_nets > 1;
	height -= has_total;
	for (size_t i = 0; i < m->nr_nets; i++)
		if (is_shown(&m->nets[i], s))
			all[nr++] = &m->nets[i];
	qsort(all, (size_t)nr, sizeof(*all), by_traffic);
	table_view_scroll(s, nr, height);
	shown = *s;
	seen = nr - s->scroll < height ? nr - s->scroll : height;
	/* That row has scrolled out of sight. */
	if (has_total)
		all[s->scroll + seen] = &total;
	table_view_draw(&(struct table_view){ .columns = columns,
	                                      .nr_columns = sizeof(columns) / sizeof(columns[0]),
	                                      .rows = all + s->scroll,
	                                      .nr_rows = seen + has_total,
	                                      .first = s->scroll,
	                                      .total = nr + has_total,
	                                      .selected = nr ? s->selected : -1 },
	                &shown, g, a);
	free(all);
}

static void title_of(const struct machine *m, char title[static 96])
{
	struct machine_net t = total_of(m);
	char rx[FORMAT_BYTES], tx[FORMAT_BYTES];

	snprintf(title, 96, " Network in %s/s out %s/s ", format_bytes(rx, t.rx_bytes_per_s),
	         format_bytes(tx, t.tx_bytes_per_s));
}

/* One direction of an interface: in bytes, or in packets. */
static void draw_chart(const struct machine *m, const char *what, const struct machine_history *h,
                       bool is_packets, struct grid *g, struct area a)
{
	double max = parts_largest(h, a.width - 4), now = h->nr ? h->values[h->nr - 1] : NAN;
	char title[96], rate[FORMAT_BYTES], most[FORMAT_BYTES];

	if (is_packets) {
		format_count(rate, now, false);
		format_count(most, max, false);
	} else {
		format_bytes(rate, now);
		format_bytes(most, max);
	}
	snprintf(title, sizeof(title), max > 0 ? " %s: %s/s, up to %s/s " : " %s: %s/s ", what,
	         rate, most);
	parts_chart(m,
	            &(struct parts_chart){ title, *h, 0, is_packets ? STYLE_MIDDLE : STYLE_USER },
	            g, a);
}

/* In and out beside each other, of the interfaces with most traffic, as many as there is room for; packets where lines
   are left. */
static void draw_charts(const struct machine *m, const struct screen *s, struct grid *g,
                        struct area a)
{
	const struct machine_net *all[NETS_MAX];
	int nr = 0, lines = a.height / CHART_LINES, half = a.width / 2;
	bool has_packets;

	for (size_t i = 0; i < m->nr_nets && nr < NETS_MAX; i++)
		if (is_shown(&m->nets[i], s))
			all[nr++] = &m->nets[i];
	qsort(all, (size_t)nr, sizeof(all[0]), by_traffic);
	nr = nr < lines ? nr : lines;
	has_packets = 2 * nr <= lines;
	lines = has_packets ? 2 * nr : nr;
	for (int i = 0; i < lines; i++) {
		const struct machine_net *n = all[has_packets ? i / 2 : i];
		bool is_packets = has_packets && i % 2;
		int y = a.y + i * a.height / lines, end = a.y + (i + 1) * a.height / lines;
		char what[48];

		snprintf(what, sizeof(what), "%.15s %s", n->name ? n->name : "?",
		         is_packets ? "packets in" : "in");
		draw_chart(m, what, is_packets ? &n->rx_packets_history : &n->rx_history,
		           is_packets, g, (struct area){ a.x, y, half, end - y });
		snprintf(what, sizeof(what), "%.15s %s", n->name ? n->name : "?",
		         is_packets ? "packets out" : "out");
		draw_chart(m, what, is_packets ? &n->tx_packets_history : &n->tx_history,
		           is_packets, g, (struct area){ a.x + half, y, a.width - half, end - y });
	}
}

/* Lines of the table and its frame, as many as it has use for. */
static int table_height(const struct machine *m, const struct screen *s, int height)
{
	int all = rows(m, s) + 4;

	if (s->shape == SHAPE_TABLE || height < all + CHART_LINES)
		return s->shape == SHAPE_TABLE || height < TABLE_LEAST + CHART_LINES ? height
		                                                                     : height / 2;
	return all;
}

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	int height = s->shape == SHAPE_SPARKS && a.height >= CHART_LINES
	                     ? 0
	                     : table_height(m, s, a.height);
	char title[96], right[96];

	title_of(m, title);
	parts_right(s, right, sizeof(right));
	if (height)
		draw_table(m, s, g,
		           panel_begin(g, (struct area){ a.x, a.y, a.width, height }, title, right),
		           true);
	draw_charts(m, s, g, (struct area){ a.x, a.y + height, a.width, a.height - height });
}

void network_summary_draw(const struct machine *m, const struct screen *s, struct grid *g,
                          struct area a)
{
	struct screen still = *s;
	char title[96];

	still.filter[0] = '\0';
	still.selected = 0;
	still.scroll = 0;
	title_of(m, title);
	draw_table(m, &still, g, panel_begin(g, a, title, NULL), false);
}

const struct view view_network = {
	.id = "network",
	.title = "Network",
	.state = "Network",
	.what = "interfaces: bytes and packets per second, errors, drops, and over time",
	.needs = MACHINE_NET,
	.draw = draw,
	.rows = rows,
};
