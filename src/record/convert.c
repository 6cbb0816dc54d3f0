#include "record/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/cleanup.h"
#include "base/write_all.h"
#include "record/convert_facts.h"
#include "record/frame_names.h"
#include "record/recording.h"

#define FACTS_BYTES ((size_t)1 << 30)
#define COPY_BYTES  (64U << 10)
#define CPUS_MAX    8192U

struct last_event {
	uint64_t ts_ns;
	uint8_t rank;
};

struct convert {
	const struct convert_cfg *cfg;
	int fd; /* of the input, from its beginning; 0 = of a folder */
	const struct trace_info *info;
	const struct trace_frame *frames; /* of the info, with the names that could be found */
	struct trace_writer *writer;
	struct ev_sink sink;
	size_t nr_stacks;        /* written so far */
	struct last_event *last; /* by CPU */
	bool is_mixed;
	uint64_t done_before; /* times that it was read */
};

static void scoped_info(struct trace_info *const *info)
{
	trace_info_free(*info);
}

static const char *name_of(const char *path)
{
	return strcmp(path, "-") != 0 ? path : "standard input";
}

/* What can be read only once is copied, as much as may be loaded. */
static int copy_input(int from, const char *path, struct diag *d)
{
	SCOPED(scoped_close) int fd = memfd_create("schedscope", MFD_CLOEXEC);
	struct budget budget;
	uint8_t bytes[COPY_BYTES];
	ssize_t nr = 1;
	int err;

	if (fd < 0)
		return diag_set(d, -errno, NULL, "cannot keep '%s' in memory", name_of(path));
	budget_init(&budget, recording_limit(0));
	while (nr) {
		nr = read(from, bytes, sizeof(bytes));
		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			return diag_set(d, -errno, NULL, "cannot read '%s'", name_of(path));
		if (!budget_take(&budget, (uint64_t)nr))
			return trace_too_large(name_of(path), &budget, d);
		err = nr ? write_all(fd, bytes, (size_t)nr) : 0;
		if (err)
			return diag_set(d, err, NULL, "cannot keep '%s' in memory", name_of(path));
	}
	return TAKE_FD(fd);
}

/* A descriptor of the input that can be read twice, or of the folder; what it is goes to *st. */
static int open_input(const char *path, struct diag *d, struct stat *st)
{
	SCOPED(scoped_close)
	int fd = strcmp(path, "-") != 0 ? open(path, O_RDONLY | O_CLOEXEC)
	                                : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

	if (fd < 0)
		return diag_set(d, -errno, "check the path and its permissions", "cannot open '%s'",
		                name_of(path));
	if (fstat(fd, st) < 0)
		return diag_set(d, -errno, NULL, "cannot stat '%s'", name_of(path));
	if (S_ISDIR(st->st_mode))
		return TAKE_FD(fd); /* its files are opened each time */
	if (S_ISREG(st->st_mode) && st->st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0)
		return TAKE_FD(fd);
	return copy_input(fd, path, d);
}

/* A name, or the descriptor, of the very file that is read. */
static int check_output(const char *path, const struct stat *input, struct diag *d)
{
	bool is_stdout = strcmp(path, "-") == 0;
	struct stat st;

	if (is_stdout && isatty(STDOUT_FILENO))
		return diag_set(d, -EINVAL, "name a file, or redirect it",
		                "a trace is not written to a terminal");
	if ((is_stdout ? fstat(STDOUT_FILENO, &st) : stat(path, &st)) < 0)
		return 0;
	if (S_ISREG(st.st_mode) && st.st_dev == input->st_dev && st.st_ino == input->st_ino)
		return diag_set(d, -EINVAL, "name another file", "'%s' is the file that is read",
		                is_stdout ? "standard output" : path);
	return 0;
}

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
	const struct convert *c = ctx;

	c->cfg->progress(c->cfg->progress_ctx, c->done_before * total + done, 2 * total);
}

/*
 * By one worker: names that decoders meet are numbered as they come, and the names of functions are found by their
 * numbers, which must be the same both times.
 */
static int read_input(struct convert *c, const struct ev_sink *sink, struct diag *d,
                      struct trace_info **out)
{
	struct budget budget;
	const struct trace_read_cfg cfg = { .nr_workers = 1,
		                            .fd = c->fd,
		                            .budget = &budget,
		                            .progress = c->cfg->progress ? on_progress : NULL,
		                            .progress_ctx = c };

	budget_init(&budget, recording_limit(0));
	if (c->fd && lseek(c->fd, 0, SEEK_SET) < 0)
		return diag_set(d, -errno, NULL, "cannot read '%s'", name_of(c->cfg->from));
	return trace_read_file(c->cfg->from, &cfg, sink, d, out);
}

/* As columns, events of the same time are read in this order. */
static uint8_t rank_of(const struct ev_hdr *rec)
{
	return rec->kind == EV_WAKING ? 0 : rec->kind == EV_SWITCH ? 2 : 1;
}

/* The first time: whether events of a CPU at the same time came in another order, as where clocks are coarse. */
static int see_order(void *ctx, const struct ev_hdr *rec)
{
	struct convert *c = ctx;
	struct last_event *last;

	if (rec->cpu >= CPUS_MAX || rec->kind == EV_TASK_INFO || rec->kind == EV_STRING ||
	    rec->kind == EV_PROBE_INFO || rec->kind == EV_LOST)
		return 0;
	last = &c->last[rec->cpu];
	c->is_mixed |= last->ts_ns == rec->ts_ns && rank_of(rec) < last->rank;
	*last = (struct last_event){ rec->ts_ns, rank_of(rec) };
	return 0;
}

static int put_stack(struct convert *c, const struct trace_sample *sample)
{
	const struct trace_info *info = c->info;
	const char *event = sample->event < info->nr_sample_events
	                            ? info->sample_events[sample->event]
	                            : "";
	struct trace_known_stack stack = { .ts_ns = sample->ts_ns,
		                           .weight = sample->weight,
		                           .end = sample->end,
		                           .tid = sample->tid,
		                           .cpu = sample->cpu,
		                           .kind = (enum trace_sample_kind)sample->kind,
		                           .event = event,
		                           .table = c->frames };

	if (sample->stack < info->nr_stacks) {
		stack.frames = &info->stack_frames[info->stacks[sample->stack].first];
		stack.nr_frames = info->stacks[sample->stack].nr;
	}
	return trace_writer_stack(c->writer, &stack);
}

/* Those before that time: tasks are named by the records in between. */
static int put_stacks(struct convert *c, uint64_t ts_ns)
{
	int err = 0;

	while (!err && c->nr_stacks < c->info->nr_samples &&
	       c->info->samples[c->nr_stacks].ts_ns < ts_ns)
		err = put_stack(c, &c->info->samples[c->nr_stacks++]);
	return err;
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct convert *c = ctx;
	int err = put_stacks(c, rec->ts_ns);

	return err ? err : c->sink.push(c->sink.ctx, rec);
}

static int advance(void *ctx, __u64 ts_ns)
{
	struct convert *c = ctx;

	return c->sink.advance(c->sink.ctx, ts_ns);
}

/* The records, and the end. The writer knows best why it failed. */
static int write_records(struct convert *c, struct diag *d)
{
	struct ev_sink sink = { .push = push, .advance = advance, .ctx = c };
	SCOPED(scoped_info) struct trace_info *again = NULL;
	struct trace_losses losses;
	struct diag reading = { 0 };
	int err = read_input(c, &sink, &reading, &again);

	if (!err)
		err = put_stacks(c, UINT64_MAX);
	if (!err && c->info->has_time)
		err = c->sink.advance(c->sink.ctx, c->info->end_ns);
	if (!err) {
		convert_losses(c->info, &losses);
		trace_writer_losses(c->writer, &losses);
	}
	if (err && trace_writer_error(c->writer))
		*d = *trace_writer_error(c->writer);
	else if (err)
		*d = reading;
	return err;
}

static int open_output(const struct convert_cfg *cfg, const struct trace_writer_cfg *writer,
                       struct diag *d, struct trace_writer **out)
{
	int fd;

	if (strcmp(cfg->to, "-") != 0)
		return trace_writer_create(cfg->to, writer, d, out);
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return diag_set(d, -errno, NULL, "cannot write to standard output");
	return trace_writer_open(fd, writer, d, out);
}

static int write_output(struct convert *c, struct diag *d, struct convert_stats *out)
{
	SCOPED(scoped_arena) struct arena *mem = arena_new(FACTS_BYTES);
	struct trace_writer_stats stats;
	struct convert_facts facts;
	int err = mem ? convert_facts_init(&facts, c->info, mem) : -ENOMEM, closing;

	if (err)
		return diag_set(d, err, NULL, "out of memory");
	facts.cfg.is_compressed = c->cfg->is_compressed;
	facts.cfg.keeps_order = c->is_mixed;
	facts.cfg.names_all = true;
	err = open_output(c->cfg, &facts.cfg, d, &c->writer);
	if (err)
		return err;
	c->sink = trace_writer_sink(c->writer);
	err = write_records(c, d);
	if (!err)
		err = trace_writer_flush(c->writer, d); /* so that the bytes are all counted */
	trace_writer_stats(c->writer, &stats);
	*out = (struct convert_stats){ .nr_records = stats.nr_records,
		                       .nr_stacks = c->nr_stacks,
		                       .nr_skipped = stats.nr_skipped,
		                       .nr_bytes = stats.nr_bytes };
	closing = trace_writer_close(c->writer, err ? NULL : d);
	return err ? err : closing;
}

/* What this machine knows goes into the file: another one may not. NULL without memory. */
static struct trace_frame *name_frames(const struct trace_info *info,
                                       const struct frame_names *names)
{
	struct trace_frame *frames = calloc(info->nr_frames + 1, sizeof(*frames));

	for (size_t i = 0; frames && i < info->nr_frames; i++) {
		frames[i] = info->frames[i];
		if (frame_names_of(names, i))
			frames[i].name = frame_names_of(names, i);
	}
	return frames;
}

int convert_file(const struct convert_cfg *cfg, struct diag *d, struct convert_stats *out)
{
	SCOPED(scoped_info) struct trace_info *info = NULL;
	SCOPED(scoped_frame_names) struct frame_names *names = NULL;
	SCOPED(scoped_free) struct trace_frame *frames = NULL;
	SCOPED(scoped_close) int fd = -1;
	struct convert c = { .cfg = cfg, .last = calloc(CPUS_MAX, sizeof(*c.last)) };
	const struct ev_sink order = { .push = see_order, .ctx = &c };
	const struct frame_namer namer = { .find = frame_names_find_all };
	SCOPED(scoped_free) void *last = c.last;
	struct stat st = { 0 };
	int err;

	if (!last)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	fd = open_input(cfg->from, d, &st);
	if (fd < 0)
		return fd;
	c.fd = S_ISDIR(st.st_mode) ? 0 : fd;
	err = check_output(cfg->to, &st, d);
	if (!err)
		err = read_input(&c, &order, d, &info);
	if (err)
		return err;
	if (info && frame_names_new(info, &namer, &names) == 0)
		frames = name_frames(info, names);
	if (!frames)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	c.info = info;
	c.frames = frames;
	c.done_before = 1;
	err = write_output(&c, d, out);
	for (size_t i = 0; i < info->nr_damage && !err && cfg->unread; i++)
		if (info->damage[i].of)
			cfg->unread(info->damage[i].name, info->damage[i].count,
			            info->damage[i].of);
	return err;
}
