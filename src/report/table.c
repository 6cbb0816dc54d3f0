#include "report/table.h"

#include <string.h>

#include "render/report_value.h"
#include "report/html.h"
#include "report/words.h"

#define TITLE_BYTES 64

void table_begin(FILE *out, const struct table_cfg *cfg)
{
	if (cfg->is_folded) {
		fputs("<details><summary>", out);
		html_text(out, cfg->caption);
		fputs("</summary>", out);
	}
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\"", out);
	html_attr(out, "aria-label", cfg->caption);
	fputs("><table", out);
	html_attr(out, "id", cfg->id);
	if (cfg->analysis)
		html_attr(out, "data-analysis", cfg->analysis);
	if (cfg->by)
		html_attr(out, "data-by", pass_by_name(cfg->by));
	fputs("><caption>", out);
	html_text(out, cfg->caption);
	fputs("</caption>\n", out);
}

void table_end(FILE *out, const struct table_cfg *cfg)
{
	fprintf(out, "</table></div>%s\n", cfg->is_folded ? "</details>" : "");
}

void table_head(FILE *out, const char *key, const char *title, bool is_number)
{
	const char *meaning = words_meaning(key);
	char made[TITLE_BYTES];

	fprintf(out, "<th scope=\"col\"%s", is_number ? " class=\"n\"" : "");
	html_attr(out, "data-key", key);
	fputc('>', out);
	if (meaning) {
		fputs("<a", out);
		html_attr(out, "title", meaning);
		fputs(" href=\"#word-", out);
		html_text(out, key);
		fputs("\">", out);
	}
	html_text(out, title ? title : report_title(key, true, made, sizeof(made)));
	fputs(meaning ? "</a></th>" : "</th>", out);
}

static void put_id(FILE *out, const char *name, const struct report_node *node)
{
	if (!node)
		return;
	if (node->type == REPORT_U64)
		html_attr_u64(out, name, node->u64);
	else if (node->type == REPORT_STRING)
		html_attr_exact(out, name, node->text);
}

void table_row_ids(FILE *out, const struct report_node *row, enum pass_by by)
{
	bool is_thread = by == PASS_BY_THREAD;

	if (is_thread)
		put_id(out, "data-tid", report_at(row, "pid"));
	if (is_thread || by == PASS_BY_PROCESS)
		put_id(out, "data-tgid", report_at(row, "tgid"));
	if (is_thread || by == PASS_BY_COMM)
		put_id(out, "data-comm", report_at(row, "comm"));
	if (by == PASS_BY_CGROUP)
		put_id(out, "data-cgroup", report_at(row, "cgroup"));
	if (by == PASS_BY_DEFAULT)
		put_id(out, "data-cpu",
		       report_at(row, report_at(row, "cpu_id") ? "cpu_id" : "cpu"));
}

static void put_chosen(FILE *out, const struct table_column *columns, const struct report_node *row,
                       bool is_head)
{
	for (; columns->path; columns++) {
		const struct report_node *n = report_at(row, columns->path);
		const char *key = strrchr(columns->path, '.');

		if (is_head)
			table_head(out, key ? key + 1 : columns->path, columns->title,
			           n && report_is_number(n));
		else
			html_cell_of(out, n, columns->analysis);
	}
}

static void put_all(FILE *out, const struct report_node *first, const struct report_node *row,
                    bool is_head)
{
	for (const struct report_node *n = first->first; n; n = n->next) {
		if (!report_is_scalar(n))
			continue;
		if (is_head)
			table_head(out, n->key, NULL, report_is_number(n));
		else
			html_cell(out, report_at(row, n->key));
	}
}

static void put_row(FILE *out, const struct table_cfg *cfg, const struct report_node *first,
                    const struct report_node *row, bool is_head)
{
	if (cfg->columns)
		put_chosen(out, cfg->columns, row, is_head);
	else
		put_all(out, first, row, is_head);
}

void table_write(FILE *out, const struct table_cfg *cfg, const struct report_node *rows)
{
	if (!rows || rows->type != REPORT_ARRAY || !rows->first)
		return;
	table_begin(out, cfg);
	fputs("<thead><tr>", out);
	put_row(out, cfg, rows->first, rows->first, true);
	fputs("</tr></thead>\n<tbody>\n", out);
	for (const struct report_node *row = rows->first; row; row = row->next) {
		fputs("<tr", out);
		table_row_ids(out, row, cfg->by);
		fputc('>', out);
		put_row(out, cfg, rows->first, row, false);
		fputs("</tr>\n", out);
	}
	fputs("</tbody>", out);
	table_end(out, cfg);
}
