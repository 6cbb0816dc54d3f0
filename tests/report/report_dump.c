/*
 * report_dump FILE [MAX_BYTES] — the data of a report of a recording: its document and its tables as elements of a page on standard
 * output, and on standard error the CPU time of loading and making, and how large each table is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/recording.h"
#include "report/data.h"

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void list_sizes(const char *text)
{
	for (; (text = strstr(text, "id=\"table-")); text++) {
		const char *name = text + strlen("id=\"table-");
		const char *rows = strstr(name, "\"rows\":"), *end = strstr(name, "</script>");

		fprintf(stderr, "%-14.*s %8ld rows %9td bytes\n", (int)strcspn(name, "\""), name,
		        strtol(rows + strlen("\"rows\":"), NULL, 10), end - name);
	}
}

static void write_data(const struct report_data *r)
{
	struct json_writer w;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return;
	fputs("<script type=\"application/json\" id=\"report-json\">", f);
	jw_init(&w, f, false);
	jw_begin_object(&w, NULL);
	report_data_document(r, &w);
	jw_end_object(&w);
	if (jw_finish(&w))
		fputs("report_dump: the document is not whole\n", stderr);
	fputs("</script>\n", f);
	fprintf(stderr, "document %ld bytes\n", ftell(f));
	if (report_data_write(r, f))
		fputs("report_dump: cannot write\n", stderr);
	fclose(f);
	list_sizes(text);
	fprintf(stderr, "%zu bytes\n", len);
	fwrite(text, 1, len, stdout);
	free(text);
}

int main(int argc, char **argv)
{
	const struct pass_args all = { .cpu = PASS_ANY_CPU };
	struct report_data_cfg cfg = { .args = &all };
	struct recording *rec = NULL;
	struct report_data *r = NULL;
	struct diag d = { 0 };
	double t0 = seconds(), t1;

	if (argc < 2)
		return 2;
	if (recording_open(argv[1], &(struct recording_cfg){ 0 }, &d, &rec)) {
		fprintf(stderr, "%s\n", d.what);
		return 1;
	}
	cfg.s = recording_source(rec);
	cfg.max_bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	t1 = seconds();
	if (report_data_begin(&cfg, &d, &r) || report_data_make(r, &cfg, &d)) {
		fprintf(stderr, "%s\n", d.what);
		return 1;
	}
	fprintf(stderr, "%llu events, CPU time: load %.3f s, data %.3f s\n",
	        (unsigned long long)cfg.s->facts->nr_events, t1 - t0, seconds() - t1);
	write_data(r);
	report_data_free(r);
	recording_close(rec);
	return 0;
}
