#include "report/page_document.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio_ext.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "render/report_json.h"
#include "report/html.h"

#define SCHEMA_VERSION 1
#define COMMAND_BYTES  160

static void put_moment(struct json_writer *w, const char *key, const struct content *c,
                       uint64_t ts_ns)
{
	jw_u64_if(w, key, ts_ns, content_after(c, ts_ns));
}

static void put_filters(struct json_writer *w, const struct content *c)
{
	const struct pass_args *a = c->args;

	jw_begin_object(w, "filters");
	put_moment(w, "from_ns", c, a->from_ns);
	put_moment(w, "to_ns", c, a->to_ns);
	jw_string(w, "comm", a->comm);
	jw_string(w, "cgroup", a->cgroup);
	jw_u64_if(w, "pid", a->pid, a->pid);
	jw_u64_if(w, "tid", a->tid, a->tid);
	jw_u64_if(w, "cpu", a->cpu != PASS_ANY_CPU, a->cpu);
	jw_end_object(w);
}

/* What explain says of it, with its id and its times as the page has them. */
static void put_explained(struct json_writer *w, const struct content *c, const char *kind,
                          uint32_t nr, const struct report_node *n)
{
	char id[24];

	snprintf(id, sizeof(id), "%s-%" PRIu32, kind, nr);
	jw_begin_object(w, NULL);
	jw_string(w, "id", id);
	jw_u64(w, "from_ns", content_after(c, report_u64_at(n, "start_timestamp")));
	jw_u64(w, "to_ns", content_after(c, report_u64_at(n, "end_timestamp")));
	for (const struct report_node *at = n->first; at; at = at->next)
		report_json(w, at->key, at);
	jw_end_object(w);
}

static void put_cards(struct json_writer *w, const struct content *c)
{
	jw_begin_array(w, "waits");
	for (uint32_t i = 0; i < c->nr_waits; i++)
		put_explained(w, c, "wait", i + 1, content_wait(c, i));
	jw_end_array(w);
	jw_begin_array(w, "sleeps");
	for (uint32_t i = 0; i < c->nr_sleeps; i++)
		put_explained(w, c, "sleep", i + 1, content_sleep(c, i));
	jw_end_array(w);
}

/* Each as it was made, and what makes it again. */
static void put_analyses(struct json_writer *w, const struct content *c)
{
	char command[COMMAND_BYTES];

	jw_begin_object(w, "analyses");
	for (int i = 0; i < CONTENT_PARTS; i++)
		if (c->parts[i])
			report_json(w, content_key((enum content_part)i), c->parts[i]);
	jw_end_object(w);
	jw_begin_object(w, "commands");
	for (int i = 0; i < CONTENT_PARTS; i++) {
		if (!c->parts[i])
			continue;
		content_command(c, (enum content_part)i, command, sizeof(command));
		jw_string(w, content_key((enum content_part)i), command);
	}
	jw_end_object(w);
}

static void put_all(struct json_writer *w, const struct page_document *doc)
{
	jw_begin_object(w, NULL);
	jw_string(w, "schema", "schedscope-report");
	jw_u64(w, "version", SCHEMA_VERSION);
	jw_string(w, "title", doc->title);
	jw_string(w, "command", doc->command);
	jw_string(w, "generator", doc->generator);
	jw_string(w, "file", doc->file);
	put_filters(w, doc->c);
	report_data_document(doc->data, w);
	report_json(w, "verdict", report_at(report_root(doc->verdict), "verdict"));
	report_json(w, "truth", report_root(doc->truth));
	put_cards(w, doc->c);
	report_json(w, "tasks", report_at(report_root(doc->tasks), "tasks"));
	put_analyses(w, doc->c);
	if (doc->compare)
		report_compare_document(doc->compare, w);
	jw_end_object(w);
}

int page_document_write(const struct page_document *doc, FILE *out)
{
	SCOPED(scoped_free) char *text = NULL;
	struct json_writer w;
	size_t len = 0;
	FILE *mem = open_memstream(&text, &len);
	int err;

	if (!mem)
		return -ENOMEM;
	(void)__fsetlocking(mem, FSETLOCKING_BYCALLER); /* no other thread has it */
	jw_init(&w, mem, false);
	put_all(&w, doc);
	err = jw_finish(&w);
	if (fclose(mem) != 0 && !err)
		err = -ENOMEM;
	if (err)
		return err;
	fputs("<script type=\"application/json\" id=\"report-json\">", out);
	html_json(out, text, len);
	fputs("</script>\n", out);
	return 0;
}
