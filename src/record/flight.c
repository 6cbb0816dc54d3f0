#include "record/flight.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "record/flight_name.h"
#include "record/flight_probes.h"
#include "record/record_facts.h"
#include "record/trace_file.h"
#include "sys/features.h"
#include "sys/proc/pid_namespace.h"
#include "sys/rights/broker.h"
#include "sys/topology.h"

#define PROGRESS_NS 250000000ULL
#define SAME_NAMES  100 /* dumps of one name: what fired within one second */
#define SUFFIX      ".pftrace"

struct flight {
	struct flight_cfg cfg;
	struct flight_probes probes;
	struct record_source *source;
	struct flight_box *box;
	struct flight_listener listener;
	uint64_t next_progress_ns;
	int dir_fd;
	struct broker_slot slot; /* where dumps are made */
	char dir[PATH_MAX];      /* "" = here, else ends with a slash */
	char prefix[NAME_MAX / 2];
	char name[NAME_MAX + 1]; /* of the dump that is being written */
};

DEFINE_SCOPED(flight, flight_close)

/* output is a directory, or a directory and how names begin. */
static int split_output(struct flight *f, const char *output, struct diag *d)
{
	const char *slash = output ? strrchr(output, '/') : NULL;
	const char *prefix = "schedscope";
	struct stat st;
	int dir_len, prefix_len;

	if (output && stat(output, &st) == 0 && S_ISDIR(st.st_mode)) {
		bool has_slash = slash && !slash[1];

		dir_len = snprintf(f->dir, sizeof(f->dir), "%s%s", output, has_slash ? "" : "/");
	} else {
		dir_len = output && slash ? (int)(slash + 1 - output) : 0;
		if (output)
			prefix = slash ? slash + 1 : output;
		(void)snprintf(f->dir, sizeof(f->dir), "%.*s", dir_len, dir_len ? output : "");
	}
	prefix_len = snprintf(f->prefix, sizeof(f->prefix), "%s", prefix);
	if (dir_len >= (int)sizeof(f->dir) || prefix_len >= (int)sizeof(f->prefix))
		return diag_set(d, -ENAMETOOLONG, NULL, "'%.60s...' is too long", output);
	if (!prefix[0])
		return diag_set(d, -ENOENT, "create it first", "there is no directory '%s'",
		                output);
	return 0;
}

/* The directory is opened now, with the rights of the user; files are made in it by the broker, which has them later, too. */
static int open_directory(struct flight *f, struct diag *d)
{
	const char *dir = f->dir[0] ? f->dir : ".";
	int err;

	f->dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f->dir_fd < 0)
		return diag_set(d, -errno, "check the path and its permissions",
		                "cannot open the directory '%s'", dir);
	if (faccessat(f->dir_fd, ".", W_OK | X_OK, AT_EACCESS))
		return diag_set(d, -errno, "choose another with -o", "cannot write into '%s'", dir);
	err = broker_slot_init(&f->slot, f->dir_fd, "");
	return err ? diag_set(d, err, NULL, "cannot keep the right to write into '%s'", dir) : 0;
}

static bool has_sched_ext(void)
{
	struct features features;

	features_probe(&(struct features_cfg){ .root = "" }, &features);
	return features.sched_ext == TRI_YES;
}

/* What the triggers need beyond the requested events, and what is not available. */
static int check_triggers(struct flight *f, struct diag *d)
{
	for (size_t i = 0; i < f->cfg.nr_triggers; i++) {
		switch (f->cfg.triggers[i].kind) {
		case TRIGGER_QUEUE_DEPTH: /* only sched_wakeup has the queue */
			f->cfg.source.kinds |= EV_BIT(EV_WAKEUP);
			break;
		case TRIGGER_DSQ_LATENCY:
			if (!has_sched_ext())
				return diag_set(
					d, -ENOTSUP, "use another trigger",
					"dsq-latency is not available: this kernel has no sched_ext");
			f->cfg.source.kinds |= EV_BIT(EV_DSQ_LEAVE);
			break;
		case TRIGGER_SCX_EJECT:
			if (!has_sched_ext())
				return diag_set(
					d, -ENOTSUP, "use another trigger",
					"scx-eject is not available: this kernel has no sched_ext");
			f->cfg.source.kinds |= EV_BIT(EV_SCX_STATE);
			break;
		default:
			break;
		}
	}
	return 0;
}

/* A trigger that can never fire is worse than none. */
static int check_missing(const struct flight *f, struct diag *d)
{
	static const char hint[] = "use another trigger";
	uint64_t missing = record_source_missing(f->source);
	uint8_t quota = EV_MEASURES_QUOTA | EV_MEASURES_QUOTA_CPU;

	for (size_t i = 0; i < f->cfg.nr_triggers; i++) {
		enum trigger_kind kind = f->cfg.triggers[i].kind;

		if (kind == TRIGGER_DSQ_LATENCY && missing & EV_BIT(EV_DSQ_LEAVE))
			return diag_set(d, -ENOTSUP, hint,
			                "dsq-latency is not available: dispatch queues cannot be "
			                "traced on this kernel");
		if (kind == TRIGGER_SCX_EJECT && missing & EV_BIT(EV_SCX_STATE))
			return diag_set(d, -ENOTSUP, hint,
			                "scx-eject is not available: sched_ext schedulers cannot "
			                "be traced on this kernel");
		if (kind == TRIGGER_THROTTLED && !(record_source_measures(f->source) & quota))
			return diag_set(d, -ENOTSUP, hint,
			                "throttled is not available: quotas cannot be traced on "
			                "this kernel; 'schedscope doctor' says why");
	}
	return 0;
}

/* A file of a name that is new; the same thing can fire twice in a second. */
static int create_file(struct flight *f, const struct trigger_hit *hit)
{
	char stem[NAME_MAX - 16];
	time_t now = time(NULL);
	struct tm when = { 0 };
	int fd = -1;

	localtime_r(&now, &when);
	(void)flight_name(stem, sizeof(stem), f->prefix, &when, hit);
	(void)snprintf(f->name, sizeof(f->name), "%s" SUFFIX, stem);
	for (int i = 2; i <= SAME_NAMES; i++) {
		fd = broker_create(&f->slot, f->name, 0600);
		if (fd != -EEXIST)
			break;
		(void)snprintf(f->name, sizeof(f->name), "%s-%d" SUFFIX, stem, i);
	}
	return fd;
}

static int open_dump(void *ctx, const struct trigger_hit *hit, const struct trace_attr *attrs,
                     size_t nr_attrs, struct diag *d, struct trace_writer **out)
{
	struct flight *f = ctx;
	struct trace_file_cfg file = {
		.fd = create_file(f, hit),
		.is_compressed = f->cfg.is_compressed,
		.command_line = f->cfg.command_line,
		.source = &f->cfg.source,
		.topology = record_source_topology(f->source),
		.symbols = record_source_symbols(f->source),
		.stack_event = record_source_stack_event(f->source),
		.attrs = attrs,
		.nr_attrs = nr_attrs,
	};
	int err;

	if (file.fd < 0)
		return diag_set(d, file.fd, "the recorder continues", "cannot create '%s%s'",
		                f->dir, f->name);
	err = trace_file_open(&file, d, out);
	if (err) /* nothing is in it */
		(void)!broker_remove(&f->slot);
	return err;
}

static void losses_of_source(void *ctx, struct losses *out)
{
	const struct flight *f = ctx;
	struct record_totals totals;

	record_source_totals(f->source, &totals);
	*out = totals.losses;
}

static void end_dump(void *ctx, const struct flight_dump *dump)
{
	struct flight *f = ctx;
	char path[PATH_MAX + NAME_MAX + 1];

	(void)snprintf(path, sizeof(path), "%s%s", f->dir, f->name);
	if (f->listener.dumped)
		f->listener.dumped(f->listener.ctx, path, dump);
}

static int make_box(struct flight *f, struct diag *d)
{
	struct flight_box_cfg cfg = {
		.keep_ns = f->cfg.keep_ns,
		.after_ns = f->cfg.after_ns,
		.cooldown_ns = f->cfg.cooldown_ns,
		.keep_bytes = f->cfg.keep_bytes,
		.nr_cpus = topology_counts(record_source_topology(f->source))->nr_cpu_ids,
		.triggers = f->cfg.triggers,
		.trigger_texts = f->cfg.trigger_texts,
		.nr_triggers = f->cfg.nr_triggers,
		.max_dumps = f->cfg.max_dumps,
		.self_tgid = pid_namespace_is_initial() ? (uint32_t)getpid() : 0,
		.calls = { .ctx = f,
		           .open = open_dump,
		           .losses = losses_of_source,
		           .ended = end_dump },
	};

	int err = flight_box_new(&cfg, d, &f->box);

	if (!err)
		flight_probes_emit(&f->probes, flight_box_triggers(f->box));
	return err;
}

int flight_open(const struct flight_cfg *cfg, struct diag *d, struct flight **out)
{
	SCOPED(scoped_flight) struct flight *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	f->cfg = *cfg;
	f->dir_fd = -1;
	err = split_output(f, cfg->output, d);
	if (!err)
		err = open_directory(f, d);
	if (!err)
		err = check_triggers(f, d);
	if (!err)
		err = flight_probes_make(&f->probes, cfg, d);
	f->cfg.source.probes = f->probes.items;
	f->cfg.source.nr_probes = f->probes.nr;
	if (!err)
		err = record_source_open(&f->cfg.source, d, &f->source);
	if (!err)
		err = check_missing(f, d);
	if (!err)
		err = make_box(f, d);
	if (err)
		return err;
	*out = TAKE_PTR(f);
	return 0;
}

static void report_progress(struct flight *f, uint64_t now_ns)
{
	struct flight_stats stats;

	if (!f->listener.progress || now_ns < f->next_progress_ns)
		return;
	if (f->next_progress_ns) {
		flight_stats(f, &stats);
		f->listener.progress(f->listener.ctx, &stats);
	}
	f->next_progress_ns = now_ns + PROGRESS_NS;
}

static enum record_next on_round(void *ctx, uint64_t now_ns, bool has_asked)
{
	struct flight *f = ctx;
	bool has_more;

	if (has_asked)
		flight_box_ask(f->box, clock_boot_ns());
	has_more = flight_box_pump(f->box);
	report_progress(f, now_ns);
	if (flight_box_is_done(f->box))
		return RECORD_STOP;
	return has_more ? RECORD_AT_ONCE : RECORD_GO_ON;
}

static void on_ready(void *ctx)
{
	const struct flight *f = ctx;

	if (f->listener.ready)
		f->listener.ready(f->listener.ctx);
}

int flight_run(struct flight *f, const struct flight_listener *listener, struct diag *d,
               enum record_end *why)
{
	struct record_run run = {
		.sink = flight_box_sink(f->box), .round = on_round, .ready = on_ready, .ctx = f
	};
	int err;

	f->listener = *listener;
	err = record_source_run(f->source, &run, d, why);
	flight_box_finish(f->box);
	return err;
}

uint64_t flight_missing(const struct flight *f)
{
	return record_source_missing(f->source);
}

bool flight_remark(struct flight *f, struct diag *out)
{
	return record_source_remark(f->source, out);
}

void flight_stats(const struct flight *f, struct flight_stats *out)
{
	record_source_totals(f->source, &out->totals);
	flight_box_stats(f->box, &out->box);
	out->totals.losses.nr[LOSS_trigger_calls] = out->box.losses.nr[LOSS_trigger_calls];
}

void flight_close(struct flight *f)
{
	if (!f)
		return;
	f->listener = (struct flight_listener){ 0 };
	flight_box_free(f->box);
	record_source_close(f->source);
	flight_probes_done(&f->probes);
	if (f->dir_fd >= 0)
		close(f->dir_fd);
	free(f);
}
