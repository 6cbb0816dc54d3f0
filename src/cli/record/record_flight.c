#include "cli/record/record_flight.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/record/record_events.h"
#include "cli/record/record_stacks.h"
#include "cli/record/record_talk.h"
#include "record/flight.h"
#include "record/flight_name.h"

#define DEFAULT_KEEP_NS 10000000000ULL

bool record_flight_is_wanted(const struct flight_args *args)
{
	return args->keep_ns || args->triggers.nr;
}

static int parse_triggers(const struct flight_args *args, struct diag *d,
                          struct trigger out[TRIGGER_MAX])
{
	int err = 0;

	if (args->triggers.nr > TRIGGER_MAX)
		return diag_set(d, -EINVAL, NULL, "at most %d triggers can be watched",
		                TRIGGER_MAX);
	for (size_t i = 0; !err && i < args->triggers.nr; i++)
		err = trigger_parse(args->triggers.items[i], d, &out[i]);
	return err;
}

int record_flight_check(const struct flight_args *args, const char *output, struct diag *d)
{
	struct trigger triggers[TRIGGER_MAX];
	const char *lonely = args->has_after       ? "--after"
	                     : args->has_cooldown  ? "--cooldown"
	                     : args->has_max_dumps ? "--max-dumps"
	                     : args->has_keep_mib  ? "--keep-mib"
	                                           : NULL;

	if (record_flight_is_wanted(args) && output && strcmp(output, "-") == 0)
		return diag_set(d, -EINVAL, "give a directory, or a prefix for the file names",
		                "with --keep or --trigger there is more than one output file");
	if (!record_flight_is_wanted(args) && lonely)
		return diag_set(d, -EINVAL, "add one of them",
		                "%s is for the flight recorder: --keep or --trigger", lonely);
	return parse_triggers(args, d, triggers);
}

/* What the calls of a run need. */
struct talk {
	const struct flight_cfg *cfg;
	bool has_progress; /* a line of the terminal that must be wiped before another */
	char last[PATH_MAX + NAME_MAX + 1]; /* the dump that was written last; "" = none */
};

static void clear_line(const struct talk *talk)
{
	if (talk->has_progress)
		fputs("\r\033[K", stderr);
}

static void show_ready(void *ctx)
{
	const struct talk *talk = ctx;
	char until[160], kept[32];

	if (talk->cfg->source.parent) /* another program reads what is said */
		return;
	record_talk_until(&talk->cfg->source, until, sizeof(until));
	fprintf(stderr, "keeping the last %s%s; kill -USR2 %d writes them\n",
	        opt_duration_text(kept, sizeof(kept), talk->cfg->keep_ns), until, getpid());
}

static void show_dump(void *ctx, const char *path, const struct flight_dump *dump)
{
	struct talk *talk = ctx;
	char reason[160], line[600];

	clear_line(talk);
	(void)flight_reason(reason, sizeof(reason), &dump->hit);
	if (dump->diag.code) {
		diag_format(&dump->diag, line, sizeof(line));
		log_warn("%s (%s) is incomplete: %s; the recorder continues", path, reason, line);
		return;
	}
	fprintf(stderr, "%s: %s, %.1f s before, %.1f s after, %llu records, %.1f MB\n", path,
	        reason, (double)dump->before_ns / 1e9, (double)dump->after_ns / 1e9,
	        (unsigned long long)dump->records, (double)dump->bytes / 1e6);
	(void)snprintf(talk->last, sizeof(talk->last), "%s", path);
	if (dump->is_cut)
		log_warn("the buffer was too small to hold more before it; --keep-mib enlarges it");
}

static void show_progress(void *ctx, const struct flight_stats *s)
{
	(void)ctx;
	fprintf(stderr, "\r%6.0f s  %llu events  %.1f s kept in %.0f MiB  %llu dumps  %llu lost%s ",
	        (double)s->totals.elapsed_ns / 1e9, (unsigned long long)s->totals.events,
	        (double)s->box.covered_ns / 1e9, (double)s->box.bytes / (1 << 20),
	        (unsigned long long)s->box.dumps, (unsigned long long)s->totals.lost,
	        s->box.is_dumping ? "  writing" : "");
}

static void show_summary(const struct flight_stats *s, const struct flight_cfg *cfg)
{
	fprintf(stderr,
	        "flight recorder: %.1f s, %llu events (%llu switches, %llu wakings), %llu lost, ",
	        (double)s->totals.elapsed_ns / 1e9, (unsigned long long)s->totals.events,
	        (unsigned long long)s->totals.switches, (unsigned long long)s->totals.wakings,
	        (unsigned long long)s->totals.lost);
	if (s->totals.hits)
		fprintf(stderr, "%llu probe hits, ", (unsigned long long)s->totals.hits);
	if (s->totals.one_in > 1)
		fprintf(stderr, "one wakeup in %llu sampled, ",
		        (unsigned long long)s->totals.one_in);
	fprintf(stderr, "%llu dumps, fired %llu times, %llu of them during a dump or a cooldown\n",
	        (unsigned long long)s->box.dumps, (unsigned long long)s->box.fired,
	        (unsigned long long)s->box.ignored);
	record_show_losses(&s->totals.losses);
	if (s->box.nr_cut)
		log_warn("the buffer filled before --keep did: at the end it held %.1f s of %.1f s "
		         "in %.0f MiB; --keep-mib enlarges it",
		         (double)s->box.covered_ns / 1e9, (double)cfg->keep_ns / 1e9,
		         (double)s->box.bytes / (1 << 20));
}

static int run(const struct flight_cfg *cfg, const struct opt_list *events, int *exit_code,
               struct diag *d)
{
	struct talk talk = { .cfg = cfg,
		             .has_progress = isatty(STDERR_FILENO) && !cfg->source.command };
	struct flight_listener listener = { .ctx = &talk,
		                            .dumped = show_dump,
		                            .progress = talk.has_progress ? show_progress : NULL,
		                            .ready = show_ready };
	struct flight *f = NULL;
	struct flight_stats stats = { 0 };
	enum record_end why = RECORD_END_TIME;
	struct diag remark = { 0 };
	int err = flight_open(cfg, d, &f);

	if (err)
		return err;
	record_events_missing(events, flight_missing(f));
	err = flight_run(f, &listener, d, &why);
	flight_stats(f, &stats);
	while (flight_remark(f, &remark))
		record_show_remark(&remark);
	clear_line(&talk);
	show_summary(&stats, cfg);
	flight_close(f);
	if (!err)
		*exit_code = record_talk_command(&stats.totals,
		                                 cfg->source.command ? *cfg->source.command : NULL);
	if (!cfg->source.parent && talk.last[0])
		record_talk_next(talk.last);
	if (!err && stats.box.failed)
		err = diag_set(d, -EIO, NULL, "%llu of %llu dumps could not be written completely",
		               (unsigned long long)stats.box.failed,
		               (unsigned long long)stats.box.dumps);
	return err;
}

int record_flight_run(const struct flight_args *args, const struct recorder_cfg *cfg,
                      const struct opt_list *events, int *exit_code, struct diag *d)
{
	struct trigger triggers[TRIGGER_MAX];
	struct flight_cfg flight = {
		.source = cfg->source,
		.output = cfg->path,
		.is_compressed = cfg->is_compressed,
		.command_line = cfg->command_line,
		.triggers = triggers,
		.trigger_texts = args->triggers.items,
		.nr_triggers = args->triggers.nr,
		.keep_ns = args->keep_ns ? args->keep_ns : DEFAULT_KEEP_NS,
		.after_ns = args->after_ns,
		.cooldown_ns = args->cooldown_ns,
		.keep_bytes = (size_t)args->keep_mib << 20,
		.max_dumps = args->max_dumps,
	};
	int err = parse_triggers(args, d, triggers);

	return err ? err : run(&flight, events, exit_code, d);
}
