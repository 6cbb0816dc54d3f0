#include "render/blame_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/text.h"
#include "render/report_json.h"
#include "render/stat/stat_json.h"
#include "render/table.h"

#define ARENA_CAP    ((size_t)16 << 20)
#define NAME_COLS    32U
#define CULPRIT_COLS 24U
#define BLAMES_COLS  40U /* in a terminal */
#define MIN_PERCENT  0.5 /* less would be shown as 0 */

/* What a victim waited for, but for other tasks: shown where there was any. */
struct part {
	const char *key;
	const char *title; /* of its column */
	const char *name; /* in a sentence, where a kernel may not let it be measured; NULL = else */
};

static const struct part parts[] = {
	{ "throttled_ns", "THROTTLED", "quotas" },
	{ "stolen_ns", "STOLEN", "stolen time" },
	{ "irq_ns", "IRQ", "interrupts" },
	{ "softirq_ns", "SOFTIRQ", "softirqs" },
	{ "idle_ns", "IDLE", NULL },
	{ "queue_ns", "QUEUE", NULL },
	{ "waking_ns", "WAKING", NULL },
	{ "unknown_ns", "UNKNOWN", NULL },
};

#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

/* What a row is about: a thread has its number, tasks of one name have none. */
char *blame_text_name(const struct report_node *root, const struct report_node *row, size_t columns,
                      char *buf, size_t size)
{
	const char *mode = report_text_at(root, "aggregation_mode");
	const char *name = report_text_at(row, "cgroup");
	bool has_pid = mode && (!strcmp(mode, "per_thread") || !strcmp(mode, "per_process"));
	char raw[512];

	if (!name)
		name = report_text_at(row, "class");
	if (!name)
		name = report_text_at(row, "comm");
	if (!name)
		name = "?";
	if (has_pid)
		(void)snprintf(raw, sizeof(raw), "%s/%" PRIu64, name, report_u64_at(row, "pid"));
	else
		(void)snprintf(raw, sizeof(raw), "%s", name);
	text_printable(buf, size, raw, sizeof(raw));
	return text_cut(buf, columns);
}

/* "make 71%, cc1 20%": as many as fit, one at least. */
char *blame_text_culprits(const struct report_node *root, const struct report_node *victim,
                          size_t columns, char buf[BLAME_TEXT_BYTES])
{
	const struct report_node *list = report_at(victim, "blames");
	size_t len = 0;

	buf[0] = '\0';
	for (const struct report_node *at = list ? list->first : NULL; at; at = at->next) {
		char name[4 * CULPRIT_COLS + 1], one[BLAME_TEXT_BYTES];
		double percent = 0;

		if (!report_number(report_at(at, "percent"), &percent) || percent < MIN_PERCENT)
			break;
		(void)blame_text_name(root, at, CULPRIT_COLS, name, sizeof(name));
		(void)snprintf(one, sizeof(one), "%s%s %.0f%%", len ? ", " : "", name, percent);
		if (len + strlen(one) >= BLAME_TEXT_BYTES ||
		    (len && text_width(buf) + text_width(one) > columns))
			break;
		memcpy(buf + len, one, strlen(one) + 1);
		len += strlen(one);
	}
	return buf;
}

static void put_time(struct table *t, uint64_t ns)
{
	char buf[24];

	table_cell(t, "%s", ns ? text_duration(buf, sizeof(buf), ns) : "-");
}

static void put_row(struct table *t, const struct report_node *root, const bool *is_shown,
                    size_t width, const struct report_node *v)
{
	size_t columns = width ? BLAMES_COLS : BLAME_TEXT_BYTES;
	char name[4 * NAME_COLS + 1], blames[BLAME_TEXT_BYTES];

	table_cell(t, "%s", blame_text_name(root, v, NAME_COLS, name, sizeof(name)));
	table_u64(t, report_u64_at(v, "waits"));
	put_time(t, report_u64_at(v, "wait_ns"));
	table_cell(t, "%s", blame_text_culprits(root, v, columns, blames));
	put_time(t, report_u64_at(v, "max_wait_ns"));
	for (size_t i = 0; i < NR_PARTS; i++)
		if (is_shown[i])
			put_time(t, report_u64_at(v, parts[i].key));
}

static int put_table(const struct report_node *root, size_t width, FILE *out)
{
	SCOPED(scoped_arena) struct arena *mem = arena_new(ARENA_CAP);
	const struct report_node *victims = report_at(root, "victims");
	bool is_shown[NR_PARTS];
	struct table t;

	if (!mem)
		return -ENOMEM;
	table_init(&t, mem);
	table_col(&t, "VICTIM", 16);
	table_col_right(&t, "WAITS", 5);
	table_col_right(&t, "WAITED", 6);
	table_col(&t, "BEHIND", 12);
	table_col_right(&t, "LONGEST", 7);
	for (size_t i = 0; i < NR_PARTS; i++) {
		is_shown[i] = report_u64_at(root, parts[i].key) > 0;
		if (is_shown[i])
			table_col_right(&t, parts[i].title, 6);
	}
	for (const struct report_node *v = victims ? victims->first : NULL; v; v = v->next)
		put_row(&t, root, is_shown, width, v);
	if (width)
		table_fit(&t, width);
	return table_print(&t, 0, table_nr_rows(&t), "", out);
}

/* What is not recorded is not 0: said once, below the table. */
static void put_unmeasured(const struct report_node *root, FILE *out)
{
	const char *before = "not measured here: ";

	for (size_t i = 0; i < NR_PARTS; i++) {
		const struct report_node *at = report_at(root, parts[i].key);

		if (!parts[i].name || !at || at->type != REPORT_NULL)
			continue;
		fprintf(out, "%s%s", before, parts[i].name);
		before = ", ";
	}
	if (before[0] == ',')
		fputc('\n', out);
}

static void put_left_out(const struct report_node *root, FILE *out)
{
	const struct report_node *victims = report_at(root, "victims");
	uint64_t nr = report_u64_at(root, "total_victims");

	if (victims && nr > victims->nr)
		fprintf(out, "and %" PRIu64 " more; --top N shows N\n", nr - victims->nr);
}

int blame_text(const struct blame_interval *b, size_t width, FILE *out)
{
	char waited[24], behind[24];
	int err = 0;

	fprintf(out, "last %.1f s", b->interval_s);
	if (b->root)
		fprintf(out, ": tasks waited %s in all, %s of that behind other tasks\n\n",
		        text_duration(waited, sizeof(waited), report_u64_at(b->root, "wait_ns")),
		        text_duration(behind, sizeof(behind), report_u64_at(b->root, "task_ns")));
	else
		fputc('\n', out);
	if (b->root && report_u64_at(b->root, "total_victims"))
		err = put_table(b->root, width, out);
	else
		fputs("no task waited\n", out);
	if (err)
		return err;
	if (b->root)
		put_left_out(b->root, out);
	fputc('\n', out);
	if (b->root)
		put_unmeasured(b->root, out);
	if (b->note)
		fprintf(out, "%s\n", b->note);
	fprintf(out, "events %" PRIu64 ", lost %" PRIu64 ", user space %.1f%% of a CPU\n",
	        b->events, b->lost, b->cpu_pct);
	return fflush(out) || ferror(out) ? -EIO : 0;
}

int blame_json(const struct blame_interval *b, FILE *out)
{
	struct json_writer w;

	jw_init(&w, out, false);
	jw_begin_object(&w, NULL);
	jw_string(&w, "schema", BLAME_JSON_SCHEMA);
	jw_u64(&w, "time_ns", b->time_ns);
	stat_json_wall_time(&w, b->wall_ns);
	jw_double(&w, "interval_s", b->interval_s, 6);
	jw_double(&w, "elapsed_s", b->elapsed_s, 6);
	jw_u64(&w, "events", b->events);
	jw_u64(&w, "lost", b->lost);
	jw_double(&w, "user_cpu_pct", b->cpu_pct, 3);
	jw_string(&w, "note", b->note);
	if (b->root)
		report_json(&w, "blame", b->root);
	else
		jw_null(&w, "blame");
	jw_end_object(&w);
	return jw_finish(&w);
}
