#include "cli/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/output.h"
#include "report/page.h"

#define LINE_BYTES 1024

static bool is_stdout(const struct report_file *f)
{
	return strcmp(f->path, "-") == 0;
}

/* Whether it begins as all reports do. */
static bool is_report(const char *path)
{
	char head[sizeof(PAGE_MARK)];
	SCOPED(scoped_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd >= 0 && read(fd, head, sizeof(head) - 1) == (ssize_t)(sizeof(PAGE_MARK) - 1) &&
	       memcmp(head, PAGE_MARK, sizeof(PAGE_MARK) - 1) == 0;
}

int report_file_check(const struct report_file *f, struct diag *d)
{
	struct stat st;

	if (is_stdout(f) || lstat(f->path, &st) < 0)
		return 0;
	if (S_ISLNK(st.st_mode))
		return diag_set(d, -EEXIST, "name another file with -o",
		                "'%.120s' is a link, and is not written through", f->path);
	if (!f->is_forced && S_ISREG(st.st_mode) && st.st_size && !is_report(f->path))
		return diag_set(d, -EEXIST, "name another file with -o, or add --force",
		                "'%.120s' is not a report, and is left as it is", f->path);
	return 0;
}

/* As a shell takes it. */
static size_t add_word(char *buf, size_t size, size_t len, const char *option, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+,:@-";
	bool is_plain = *word && strspn(word, plain) == strlen(word);

	if (len >= size)
		return len;
	len += (size_t)snprintf(buf + len, size - len, " %s%s%s", option, *option ? " " : "",
	                        is_plain ? word : "'");
	for (const char *c = is_plain ? "" : word; *c && len < size; c++)
		len += (size_t)snprintf(buf + len, size - len, *c == '\'' ? "'\\''" : "%c", *c);
	if (!is_plain && len < size)
		len += (size_t)snprintf(buf + len, size - len, "'");
	return len;
}

static size_t add_number(char *buf, size_t size, size_t len, const char *option, uint64_t value)
{
	return len < size ? len + (size_t)snprintf(buf + len, size - len, " %s %" PRIu64, option,
	                                           value)
	                  : len;
}

void report_file_command(struct report_file *f, const char *recording,
                         const struct trace_args *rows)
{
	const char *slash = strrchr(recording, '/');
	size_t size = sizeof(f->command),
	       len = (size_t)snprintf(f->command, size, "schedscope report");

	/* Its folder means nothing elsewhere, and is private. */
	len = add_word(f->command, size, len, "", slash && slash[1] ? slash + 1 : recording);
	if (rows->from)
		len = add_word(f->command, size, len, "--from", rows->from);
	if (rows->to)
		len = add_word(f->command, size, len, "--to", rows->to);
	if (rows->comm)
		len = add_word(f->command, size, len, "-c", rows->comm);
	if (rows->cgroup)
		len = add_word(f->command, size, len, "--cgroup", rows->cgroup);
	if (rows->pid)
		len = add_number(f->command, size, len, "-p", rows->pid);
	if (rows->tid)
		len = add_number(f->command, size, len, "--tid", rows->tid);
	if (rows->has_cpu)
		len = add_number(f->command, size, len, "--cpu", rows->cpu);
	if (rows->has_limit)
		(void)add_number(f->command, size, len, "-n", rows->limit);
}

void report_file_command_add(struct report_file *f, const char *option, const char *recording)
{
	const char *slash = strrchr(recording, '/');

	size_t len = strlen(f->command);

	if (add_word(f->command, sizeof(f->command), len, option,
	             slash && slash[1] ? slash + 1 : recording) >= sizeof(f->command))
		f->command[len] = '\0'; /* whole words only; there is no room for the rest */
}

int report_file_open(struct report_file *f, struct diag *d)
{
	return is_stdout(f) ? 0 : output_open(f->path, d, &f->place);
}

void report_file_close(struct report_file *f)
{
	output_close(f->place);
	f->place = NULL;
}

struct writing {
	const struct page *page;
	int err;
	long bytes; /* -1 = into a pipe, which counts none */
};

static void write_page(const void *ctx, FILE *out)
{
	struct writing *w = *(struct writing *const *)ctx;

	w->err = page_write(w->page, out);
	if (!w->err && fflush(out) == 0)
		w->bytes = ftell(out);
	if (w->err && !ferror(out))
		errno = -w->err;
}

static int write_file(const struct report_file *f, struct writing *w, struct diag *d)
{
	if (is_stdout(f)) {
		write_page(&w, stdout);
		return cli_written(w->err ? w->err : fflush(stdout) ? -errno : 0, d);
	}
	return f->place ? output_fill(f->place, write_page, &w, d)
	                : output_write(f->path, write_page, &w, d);
}

static void show_progress(void *ctx, uint64_t done, uint64_t total)
{
	if (ctx)
		trace_progress_show(ctx, done, total);
}

int report_file_write(const struct report_file *f, const struct source *s,
                      const struct pass_args *args, struct diag *d)
{
	SCOPED(scoped_page) struct page *page = NULL;
	struct trace_progress progress;
	bool is_shown = trace_progress_begin(&progress, "making the report");
	struct page_cfg cfg = { .s = s,
		                .args = args,
		                .compare = f->compare,
		                .title = f->title,
		                .command = f->command,
		                .generator = schedscope_generator,
		                .progress = show_progress,
		                .progress_ctx = is_shown ? &progress : NULL };
	struct writing w = { 0 };
	char clean[LINE_BYTES];
	int err = page_make(&cfg, d, &page);

	if (!err) {
		w.page = page;
		err = write_file(f, &w, d);
	}
	if (is_shown)
		trace_progress_end(&progress);
	if (err)
		return err;
	fprintf(stderr, "%s: ", is_stdout(f) ? "standard output" : f->path);
	if (w.bytes > 0)
		fprintf(stderr, "%.1f kB; ", (double)w.bytes / 1e3);
	fprintf(stderr, "%s\n",
	        text_printable(clean, sizeof(clean), page_verdict(page), sizeof(clean)));
	return 0;
}
