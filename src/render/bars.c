#include "render/bars.h"

#include <string.h>

#include "stat/report/stat_report.h"

#define MAX_LINES  24
#define MAX_BINS   256 /* slots of the finest histogram there is, and some more */
#define CELLS      40
#define LABEL_SIZE 48

struct bar_line {
	char label[LABEL_SIZE];
	char count[24];
	uint64_t nr;
};

static void label_line(const struct stat_bin *first, const struct stat_bin *last, uint64_t unit,
                       char *label)
{
	unsigned long long from = first->first / unit, to = last->last / unit;

	if (last->last == UINT64_MAX)
		snprintf(label, LABEL_SIZE, "%llu+", from);
	else if (from == to)
		snprintf(label, LABEL_SIZE, "%llu", from);
	else
		snprintf(label, LABEL_SIZE, "%llu-%llu", from, to);
}

/* Lines hold 2^shift bins each; the layouts of histograms are multiples of 8, so lines stay regular. */
static uint32_t pick_shift(uint32_t first, uint32_t last)
{
	uint32_t shift = 0;

	while ((last >> shift) - (first >> shift) + 1 > MAX_LINES)
		shift++;
	return shift;
}

static uint32_t make_lines(const struct stat_bins *bins, uint64_t unit, struct bar_line *lines)
{
	uint32_t last = bins->nr < MAX_BINS ? bins->nr : MAX_BINS;
	uint32_t first = 0, shift, nr = 0;

	while (last && !bins->items[last - 1].count)
		last--;
	if (!last)
		return 0;
	while (!bins->items[first].count)
		first++;
	last--;
	shift = pick_shift(first, last);
	for (uint32_t i = first >> shift; i <= last >> shift; i++) {
		uint32_t from = i << shift, to = ((i + 1) << shift) - 1;
		struct bar_line *line = &lines[nr++];

		if (to >= bins->nr)
			to = bins->nr - 1;
		line->nr = 0;
		for (uint32_t k = from; k <= to; k++)
			line->nr += bins->items[k].count;
		label_line(&bins->items[from], &bins->items[to], unit, line->label);
		snprintf(line->count, sizeof(line->count), "%llu", (unsigned long long)line->nr);
	}
	return nr;
}

static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };

/* Eighths of a cell where the terminal has them, else '#' for a cell and '*' for less than one. */
static void print_bar(uint64_t nr, uint64_t most, bool is_utf8, FILE *out)
{
	uint64_t part = (uint64_t)((unsigned __int128)nr * CELLS * 8 / most);

	if (nr && !part)
		part = 1;
	for (uint64_t i = 0; i < part / 8; i++)
		fputs(is_utf8 ? "█" : "#", out);
	if (is_utf8)
		fputs(eighths[part % 8], out);
	else if (part && part < 8)
		fputc('*', out);
}

char *bars_text(double part, size_t cells, bool is_utf8, char *buf)
{
	size_t step = is_utf8 ? 8 : 1, most = cells * step, len;
	char *end = buf;

	len = part < 1 ? (size_t)(part * (double)most + 0.5) : most;
	if (part > 0 && !len)
		len = 1;
	*end = '\0';
	for (size_t i = 0; i < len / step; i++)
		end = stpcpy(end, is_utf8 ? "\u2588" : "#");
	(void)stpcpy(end, eighths[len % step]);
	return buf;
}

void bars_print(const struct stat_bins *bins, const struct bars_cfg *cfg, FILE *out)
{
	struct bar_line lines[MAX_LINES];
	size_t label_width = strlen(cfg->title), count_width = strlen("COUNT");
	uint32_t nr = make_lines(bins, cfg->unit, lines);
	uint64_t most = 0;

	for (uint32_t i = 0; i < nr; i++) {
		size_t label = strlen(lines[i].label), count = strlen(lines[i].count);

		label_width = label > label_width ? label : label_width;
		count_width = count > count_width ? count : count_width;
		most = lines[i].nr > most ? lines[i].nr : most;
	}
	if (!most)
		return;
	fprintf(out, "  %*s %*s\n", (int)label_width, cfg->title, (int)count_width, "COUNT");
	for (uint32_t i = 0; i < nr; i++) {
		fprintf(out, "  %*s %*s |", (int)label_width, lines[i].label, (int)count_width,
		        lines[i].count);
		print_bar(lines[i].nr, most, cfg->is_utf8, out);
		fputc('\n', out);
	}
}
