#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/parts.h"
#include "tui/views/views.h"

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

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	char title[96], right[96];

	title_of(m, title);
	parts_right(s, right, sizeof(right));
	draw_table(m, s, g, panel_begin(g, a, title, right), true);
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
	.what = "interfaces: bytes and packets per second, errors, drops",
	.needs = MACHINE_NET,
	.draw = draw,
	.rows = rows,
};
