#include "cli/trace_args.h"

#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/name_pattern.h"
#include "base/text.h"
#include "model/pair.h"
#include "model/tasks.h"

#define KEPT_BYTES    (32 << 20) /* the largest that the C library takes from its heaps */
#define HEAP_STEP     (4 << 20)
#define LARGE_FILE    (128 << 20)
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
	return trace_args_open_fd(path, 0, d, out);
}

/*
 * Each analysis asks for as much memory as the one before it has freed. If that goes back to the kernel in between, every page is faulted
 * in and cleared again, which took a tenth of the CPU time of a report. Arrays of large recordings grow further, which is cheaper where the
 * kernel moves their pages.
 */
static void keep_freed_memory(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > LARGE_FILE)
		return;
	(void)mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	(void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
	(void)mallopt(M_TOP_PAD, HEAP_STEP);
}

int trace_args_open_fd(const char *path, int fd, struct diag *d, struct recording **out)
{
	struct recording_cfg cfg = { .namer.find = frame_names_find_all, .fd = fd };
	struct trace_progress p;
	int err;

	keep_freed_memory(path);
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
	return diag_set(d, -EINVAL, "write thread, process, comm, cgroup or class",
	                "rows cannot be by '%.32s'", word);
}

int trace_args_one(const struct opt_list *words, const char *what, struct diag *d)
{
	char hint[160], shown[61];

	if (words->nr == 1)
		return 0;
	snprintf(
		hint, sizeof(hint),
		"write 'schedscope %s FILE'; 'schedscope record' makes such a file, - is standard input",
		what);
	if (!words->nr)
		return diag_set(d, -EINVAL, hint, "no file is named");
	text_printable(shown, sizeof(shown), words->items[1], SIZE_MAX);
	snprintf(hint, sizeof(hint), "'schedscope %s' takes one file", what);
	return diag_set(d, -EINVAL, hint, "unexpected argument '%s'", shown);
}

/* Names of its tasks, each once or some more often; those of a machine with very many are not all looked at. */
#define NAMES_SEARCHED 4096U

static const char *nearest_name(const char *word, const struct source *s)
{
	uint32_t nr = tasks_nr(s->tasks);
	const char **names;
	const char *best;

	if (nr > NAMES_SEARCHED)
		nr = NAMES_SEARCHED;
	names = calloc(nr + 1U, sizeof(*names));
	if (!names)
		return NULL;
	for (uint32_t i = 0; i < nr; i++)
		names[i] = source_comm(s, i);
	best = opt_nearest(word, names);
	free(names);
	return best;
}

/* Whether it is a part of a name, as stat would take it. */
static bool is_part_of_name(const char *word, const struct source *s)
{
	uint32_t nr = tasks_nr(s->tasks);

	for (uint32_t i = 0; i < nr; i++)
		if (*word && strstr(source_comm(s, i), word))
			return true;
	return false;
}

static int no_such_name(const char *pattern, const struct source *s, struct diag *d)
{
	char hint[160], shown[61];
	const char *near = nearest_name(pattern, s);

	text_printable(shown, sizeof(shown), pattern, SIZE_MAX);
	if (is_part_of_name(pattern, s))
		snprintf(hint, sizeof(hint), "'*%.61s*' takes those of which it is a part", shown);
	else if (near)
		snprintf(hint, sizeof(hint), "did you mean '%.64s'?", near);
	else
		snprintf(hint, sizeof(hint),
		         "a pattern is the whole name, also with * and ?, or /REGEX/; "
		         "'schedscope analyze FILE process_runtime' lists names");
	return diag_set(d, -ENODATA, hint, "no thread of this trace is named '%s'", shown);
}

int trace_args_find(const struct pass_args *args, const struct source *s, struct diag *d)
{
	static const char list[] =
		"'schedscope analyze FILE process_runtime' lists those that it has";
	uint32_t nr = tasks_nr(s->tasks), nr_cpus = pair_nr_cpus(s->pair);
	bool has_tid = !args->tid, has_pid = !args->pid, has_comm = !args->comm;

	if (args->cpu != PASS_ANY_CPU && args->cpu >= nr_cpus)
		return diag_set(d, -ENODATA, nr_cpus ? "" : "it has no events",
		                "this trace has no CPU %u, its last is %d", args->cpu,
		                (int)nr_cpus - 1);
	for (uint32_t i = 0; i < nr; i++) {
		has_tid |= source_tid(s, i) == args->tid;
		has_pid |= source_tgid(s, i) == args->pid;
		has_comm = has_comm || source_has_name(s, i, args->comm);
		if (pass_takes_task(s, args, i))
			return 0;
	}
	if (!has_tid)
		return diag_set(d, -ENODATA, list, "this trace has no thread %u", args->tid);
	if (!has_pid)
		return diag_set(d, -ENODATA, list, "this trace has no process %u", args->pid);
	if (!has_comm)
		return no_such_name(args->comm, s, d);
	return nr ? diag_set(d, -ENODATA, "leave one of them out",
	                     "no thread of this trace is all that -p, --tid and -c say")
	          : 0;
}

static int check_order(const struct pass_args *a, const struct source *s, struct diag *d)
{
	double length = (double)(s->end_ns - s->start_ns) / 1e9;

	if (a->from_ns && a->to_ns && a->to_ns <= a->from_ns)
		return diag_set(d, -EINVAL, "give a later --to, or an earlier --from",
		                "--to is not after --from");
	if (a->from_ns && a->from_ns >= s->end_ns && s->end_ns > s->start_ns)
		return diag_set(d, -EINVAL, "times count from its start",
		                "--from is after the end of the trace, which is %.3f s long",
		                length);
	if (a->to_ns && a->to_ns <= s->start_ns)
		return diag_set(d, -EINVAL, "times count from its start",
		                "--to is not after the start of the trace, which is %.3f s long",
		                length);
	return 0;
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
	if (!err)
		err = check_order(out, s, d);
	if (!err && args->comm)
		err = name_pattern_check(args->comm, d);
	if (!err && args->cgroup)
		err = name_pattern_check(args->cgroup, d);
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

bool trace_args_is_colored(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
	       !(term && !strcmp(term, "dumb"));
}
