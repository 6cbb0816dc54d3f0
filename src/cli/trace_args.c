#include "cli/trace_args.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define SHOW_AFTER_NS 1000000000ULL
#define SHOW_EVERY_NS 100000000ULL

static bool show_progress(void *ctx, uint64_t done, uint64_t total)
{
	trace_progress_show(ctx, done, total);
	return true;
}

bool trace_progress_begin(struct trace_progress *p, const char *what)
{
	*p = (struct trace_progress){ .what = what, .start_ns = clock_boot_ns() };
	return isatty(STDERR_FILENO);
}

void trace_progress_show(void *ctx, uint64_t done, uint64_t total)
{
	struct trace_progress *p = ctx;
	uint64_t now = clock_boot_ns();

	if (now - p->start_ns < SHOW_AFTER_NS || now - p->shown_ns < SHOW_EVERY_NS || !total)
		return;
	p->shown_ns = now;
	fprintf(stderr, "\r%s: %3u %%", p->what,
	        (unsigned int)(100.0 * (double)done / (double)total));
}

void trace_progress_end(const struct trace_progress *p)
{
	if (p->shown_ns)
		fprintf(stderr, "\r\033[K");
}

int trace_args_open(const char *path, struct diag *d, struct recording **out)
{
	struct recording_cfg cfg = { .names_frames = true };
	struct trace_progress p;
	int err;

	if (trace_progress_begin(&p, "loading")) {
		cfg.progress = show_progress;
		cfg.progress_ctx = &p;
	}
	err = recording_open(path, &cfg, d, out);
	trace_progress_end(&p);
	return err;
}

int trace_args_time(const char *text, const char *option, const struct source *s, struct diag *d,
                    uint64_t *out)
{
	uint64_t ns;

	*out = 0;
	if (!text)
		return 0;
	if (text[0] == '@' && text_to_u64(text + 1, &ns)) {
		*out = ns;
		return 0;
	}
	if (opt_read_duration(text, 1000000000ULL, &ns)) {
		*out = ns > UINT64_MAX - s->start_ns ? UINT64_MAX : s->start_ns + ns;
		return 0;
	}
	return diag_set(d, -EINVAL,
	                "write 1.5s, 200ms, ... after the start, or @NS on the trace's clock",
	                "--%s: '%.64s' is not a time", option, text);
}

int trace_args_by(const char *word, struct diag *d, enum pass_by *out)
{
	for (enum pass_by by = PASS_BY_THREAD; by < PASS_BYS; by++)
		if (strcmp(word, pass_by_name(by)) == 0) {
			*out = by;
			return 0;
		}
	return diag_set(d, -EINVAL, "thread, process, comm, cgroup or class",
	                "rows cannot be by '%.32s'", word);
}

int trace_args_fill(const struct trace_args *args, const struct source *s, struct diag *d,
                    struct pass_args *out)
{
	int err;

	*out = (struct pass_args){
		.pid = (uint32_t)args->pid,
		.tid = (uint32_t)args->tid,
		.comm = args->comm,
		.cgroup = args->cgroup,
		.cpu = args->has_cpu ? (uint32_t)args->cpu : PASS_ANY_CPU,
		.limit = args->has_limit ? (uint32_t)args->limit : 0,
		.layer = EV_NO_LAYER,
	};
	err = trace_args_time(args->from, "from", s, d, &out->from_ns);
	if (!err)
		err = trace_args_time(args->to, "to", s, d, &out->to_ns);
	if (!err && out->from_ns && out->from_ns >= s->end_ns && s->end_ns > s->start_ns)
		err = diag_set(d, -EINVAL, NULL,
		               "--from is after the end of the trace, which is %.3f s long",
		               (double)(s->end_ns - s->start_ns) / 1e9);
	if (!err && out->to_ns && out->to_ns <= out->from_ns)
		err = diag_set(d, -EINVAL, NULL, "--to is not after --from");
	return err;
}

size_t trace_args_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

size_t trace_args_height(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return 0;
	return size.ws_row;
}

bool trace_args_is_utf8(void)
{
	setlocale(LC_CTYPE, "");
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}
