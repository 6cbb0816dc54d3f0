#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/serve_keep.h"
#include "collect/bpf_order.h"
#include "model/trigger.h"
#include "record/labels.h"
#include "serve/blame.h"
#include "serve/columns.h"
#include "serve/dumps.h"
#include "serve/metric.h"
#include "serve/seats.h"
#include "serve/serve.h"
#include "sys/rights/broker.h"
#include "sys/rights/privilege.h"

#define MS_NS            1000000ULL
#define SECOND_NS        (1000 * MS_NS)
#define TEXTFILE         "schedscope.prom"
#define TEXTFILE_NS      (15 * SECOND_NS)
#define PARQUET_NS       (300 * SECOND_NS)
#define HOST_MAX         80U /* that fits into a folder's name, whatever its bytes are */
#define GROUPS_FILE_MAX  4096U
#define GROUPS_WORDS_MAX 64U

/* Programs are loaded and files read again on SIGHUP, cgroups get names, the file is replaced. */
#define BROKER_OPS                                                                       \
	(BROKER_BIT(BROKER_OPEN) | BROKER_BIT(BROKER_CGROUP) | BROKER_BIT(BROKER_FILE) | \
	 BROKER_BIT(BROKER_FILE_OPEN) | BROKER_OUTPUT | BROKER_TRACING)

/* What has metrics. */
#define GROUPS_SERVED                                                                      \
	(STAT_GROUP_LATENCY | STAT_GROUP_SLICE | STAT_GROUP_SLEEP | STAT_GROUP_MIGRATION | \
	 STAT_GROUP_WAKING | STAT_GROUP_DSQ)

struct serve_args {
	const char *listen;
	struct opt_list groups;
	const char *groups_file;
	uint64_t top;
	bool wants_blame;
	int buckets;
	const char *textfile;
	const char *parquet_dir;
	const char *host;
	struct opt_list metadata;
	uint64_t every_ns;
	const char *token_file;
	bool allows_remote;
	struct opt_list hosts;
	const char *keep_dir;
	struct opt_list triggers;
	uint64_t keep_ns;
	uint64_t max_dumps;
	uint64_t max_dumps_mib;
	uint64_t speed;
	bool wants_list;
	bool is_verbose;
	bool is_debug;
};

enum { BUCKETS_FEW, BUCKETS_ALL };
static const char *const bucket_names[] = { "few", "all", NULL };
static const char *const group_names[] = { "latency", "slice", "sleep", "migration",
	                                   "waking",  "dsq",   NULL };

static const struct serve_args defaults = { .listen = SERVE_ADDRESS,
	                                    .top = 20,
	                                    .keep_ns = 10 * SECOND_NS,
	                                    .max_dumps = 20,
	                                    .max_dumps_mib = 1024,
	                                    .speed = 1 };

/* clang-format off */
static const struct opt options[] = {
	OPT_LIST('g', "groups", "GROUP[,...]", struct serve_args, groups,
		"groups of metrics: latency, slice, sleep, migration, dsq (all of these if not given), waking",
		.choices = group_names, .heading = "What to measure",
		.details = "As of stat. If none is named, dsq is left out where the kernel has no sched_ext."),
	OPT_STRING(0, "groups-file", "FILE", struct serve_args, groups_file,
		"take the groups from FILE, and read it again on SIGHUP", .is_file = true,
		.details = "Words as of --groups, in lines or with commas. Counters go on where they were; the time in which programs are "
		"loaded anew is counted in schedscope_unmeasured_seconds_total."),
	OPT_U64(0, "top", "N", struct serve_args, top, 0, SEATS_MAX,
		"cgroups with series of their own; all others are added up as \"other\""),
	OPT_FLAG(0, "blame", struct serve_args, wants_blame, "also which cgroups keep which others waiting",
		.details = "This records every switch and wakeup in memory, so it costs what record costs: docs/performance.md has figures."),
	OPT_CHOICE(0, "buckets", "HOW", struct serve_args, buckets, bucket_names,
		"bounds of histograms: few (26), or all (215), so that percentiles are those of stat"),

	OPT_STRING(0, "listen", "ADDR:PORT", struct serve_args, listen, "where to listen; off = nowhere",
		.heading = "Who may read it"),
	OPT_STRING(0, "token-file", "FILE", struct serve_args, token_file,
		"require the token in the first line of FILE for /metrics", .is_file = true,
		.details = "Clients send it as \"Authorization: Bearer TOKEN\". Only its owner may be able to read the file. SIGHUP reads it again; "
		"if that fails, the token before stays."),
	OPT_FLAG(0, "allow-remote", struct serve_args, allows_remote,
		"listen on an address that other machines can reach; needs --token-file",
		.details = "The connection is not encrypted: put a reverse proxy with TLS before it (docs/serve.md), and leave this out."),
	OPT_LIST(0, "allow-host", "NAME", struct serve_args, hosts, "accept this name in Host besides localhost"),
	OPT_STRING(0, "textfile", "DIR", struct serve_args, textfile,
		"also write DIR/" TEXTFILE ", for the textfile collector of node_exporter", .is_file = true),
	OPT_DURATION(0, "every", "TIME", struct serve_args, every_ns, SECOND_NS, SECOND_NS, 3600 * SECOND_NS,
		"how often files are written: that of --textfile (15s if not given), those of --parquet (5m)",
		.details = "With both, it is about --parquet, and the file of --textfile is written every 15 seconds."),

	OPT_STRING(0, "parquet", "DIR", struct serve_args, parquet_dir,
		"also write Parquet files below DIR: what was counted in each interval", .is_file = true, .heading = "Files for engines that query many machines",
		.details = "Tables latency_hist, with --blame also blame, with --keep also dumps, in folders date=DAY/host=NAME (docs/parquet.md, docs/fleet.md). Intervals end "
		"at multiples of --every of the wall clock, and when the daemon ends. A file is complete or absent; one that cannot be written is tried again, and the next one "
		"covers its time. Files are never removed: whatever collects them does that."),
	OPT_STRING(0, "host", "NAME", struct serve_args, host, "the name of this machine in them, if not its own"),
	OPT_LIST(0, "metadata", "KEY=VALUE", struct serve_args, metadata, "what else they say of it, such as role=web"),

	OPT_STRING(0, "keep", "DIR", struct serve_args, keep_dir,
		"run a flight recorder beside it, which writes dumps into DIR", .is_file = true, .heading = "Flight recorder",
		.details = "As record --keep does, in a process of its own. Exemplars name the dump that shows their wait. It costs what record costs."),
	OPT_LIST(0, "trigger", "WHAT>LIMIT[,IF]", struct serve_args, triggers,
		"what makes a dump, such as wakeup-latency>20ms"),
	OPT_DURATION(0, "keep-time", "SECONDS", struct serve_args, keep_ns, SECOND_NS, SECOND_NS, 600 * SECOND_NS,
		"how much a dump has from before its trigger"),
	OPT_U64(0, "max-dumps", "N", struct serve_args, max_dumps, 1, 4096, "dumps that are left in DIR; the oldest go"),
	OPT_U64(0, "max-dumps-mib", "MIB", struct serve_args, max_dumps_mib, 1, 1048576, "how large they may be together"),

	OPT_U64(0, "speed", "N", struct serve_args, speed, 0, 1000000,
		"replay FILE so many times as fast as it was recorded; 0 = all of it at once", .heading = "Other"),
	OPT_FLAG(0, "list-metrics", struct serve_args, wants_list, "describe all metrics, as docs/metrics.md does, and exit"),
	OPT_FLAG('v', "verbose", struct serve_args, is_verbose, "log to stderr what is being done"),
	OPT_FLAG(0, "debug", struct serve_args, is_debug, "log everything"),
	OPT_END,
};

static const struct opt_example examples[] = {
	{ "schedscope serve", "metrics of this machine at http://127.0.0.1:9435/metrics" },
	{ "schedscope serve --listen off --textfile /var/lib/prometheus/node-exporter", "through node_exporter" },
	{ "schedscope serve --parquet /var/lib/schedscope/columns --every 5m --metadata role=web", "files to collect from many machines" },
	{ "schedscope serve --listen [::]:9435 --allow-remote --token-file /etc/schedscope/token", "for other machines" },
	{ "schedscope serve --keep /var/lib/schedscope/dumps --trigger 'wakeup-latency>50ms'", "with a recording of each long wait" },
	{ "schedscope serve --listen 127.0.0.1:0 --speed 0 trace.pftrace", "the metrics of a recording" },
	{ 0 },
};
/* clang-format on */

/* What the loop calls back. */
struct serving {
	const struct serve_args *args;
	struct output *file; /* NULL = none */
	char *labels;        /* NULL = none */
};

static bool is_no_event(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return false;
}

static int parse_groups(const char *const *words, size_t nr, struct stat_groups *out,
                        struct diag *d)
{
	int err;

	if (!nr) {
		*out = (struct stat_groups){ .asked = STAT_GROUP_LATENCY | STAT_GROUP_SLICE |
			                              STAT_GROUP_SLEEP | STAT_GROUP_MIGRATION,
			                     .implied = STAT_GROUP_DSQ };
		return 0;
	}
	err = stat_groups_parse(words, nr, is_no_event, NULL, d, out);
	if (err)
		return err;
	if (out->asked & ~(uint32_t)GROUPS_SERVED)
		return diag_set(d, -EINVAL, "use stat for these",
		                "the groups perf and schedstat have no metrics");
	out->implied &= GROUPS_SERVED; /* of "most" and "all" */
	out->has_ipc = false;
	return 0;
}

static int read_groups(const char *path, struct stat_groups *out, struct diag *d)
{
	SCOPED(scoped_close) int fd = broker_file_open(path);
	SCOPED(scoped_free) char *text = NULL;
	const char *words[GROUPS_WORDS_MAX];
	char *at = NULL;
	size_t nr = 0;
	int err = fd < 0 ? fd : text_read_fd(fd, GROUPS_FILE_MAX, &text);

	if (err)
		return diag_set(d, err, "check the path and its permissions",
		                "cannot read the groups in '%.120s'", path);
	for (char *word = strtok_r(text, " \t\r\n", &at); word && nr < GROUPS_WORDS_MAX;
	     word = strtok_r(NULL, " \t\r\n", &at))
		words[nr++] = word;
	return parse_groups(words, nr, out, d);
}

static int groups_now(void *ctx, struct stat_groups *out, struct diag *d)
{
	const struct serve_args *args = ((struct serving *)ctx)->args;

	return args->groups_file ? read_groups(args->groups_file, out, d)
	                         : parse_groups(args->groups.items, args->groups.nr, out, d);
}

struct page_bytes {
	const void *bytes;
	size_t len;
};

static void put_page(const void *ctx, FILE *out)
{
	const struct page_bytes *page = ctx;

	(void)fwrite(page->bytes, 1, page->len, out);
}

static int write_file(void *ctx, const void *bytes, size_t len, struct diag *d)
{
	const struct page_bytes page = { bytes, len };

	return output_fill(((struct serving *)ctx)->file, put_page, &page, d);
}

static int open_textfile(struct serving *s, struct diag *d)
{
	return s->args->textfile ? output_open_in(s->args->textfile, TEXTFILE, d, &s->file) : 0;
}

/* BPF and cgroups of this machine, or a file; while there are rights. */
static int open_source(const struct serve_args *args, const char *recording, struct sums *sums,
                       struct diag *d, struct serve_source **out)
{
	struct serving s = { .args = args };
	struct source_replay_cfg replay = { .path = recording, .speed = (double)args->speed };
	struct source_live_cfg live = { 0 };
	int err = recording ? 0 : groups_now(&s, &live.groups, d);

	if (err)
		return err;
	return recording ? source_replay_open(&replay, sums, d, out)
	                 : source_live_open(&live, sums, d, out);
}

/* The directory is opened while there are rights; each trigger is there with 0. */
static int watch_dumps(const struct serve_args *args, struct sums *sums, struct diag *d,
                       struct dumps **out)
{
	int err = dumps_open(args->keep_dir, (double)args->keep_ns / (double)SECOND_NS, d, out);

	for (size_t i = 0; i < args->triggers.nr && !err; i++) {
		struct trigger t;

		err = trigger_parse(args->triggers.items[i], d, &t);
		if (!err)
			counts_set(&sums->dumps, trigger_kind_names[t.kind], 0);
	}
	sums->has_dumps = !err;
	return err;
}

/* {"role": "web"}, to be freed; NULL = none was given, or there is no memory for it. */
static char *labels_json(const struct opt_list *words)
{
	struct labels labels = { 0 };
	struct json_writer w;
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (!words->nr || labels_parse(words->items, words->nr, &labels, NULL))
		return NULL;
	out = open_memstream(&text, &len);
	if (!out)
		return NULL;
	jw_init(&w, out, false);
	jw_begin_object(&w, NULL);
	for (size_t i = 0; i < labels.nr; i++)
		jw_string(&w, labels.attrs[i].key + strlen(LABEL_PREFIX), labels.attrs[i].text);
	jw_end_object(&w);
	if (jw_finish(&w) || fclose(out)) {
		free(text);
		return NULL;
	}
	text_chomp(text);
	return text;
}

static int open_columns(struct serving *s, struct diag *d, struct columns **out)
{
	const struct serve_args *args = s->args;
	struct columns_cfg cfg = { .dir = args->parquet_dir,
		                   .host = args->host,
		                   .version = cli_program.version,
		                   .every_ns = args->every_ns ? args->every_ns : PARQUET_NS };

	if (!args->parquet_dir)
		return 0;
	s->labels = labels_json(&args->metadata);
	if (args->metadata.nr && !s->labels)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	cfg.labels = s->labels;
	return columns_open(&cfg, d, out);
}

static void announce(const struct serve *s, const struct serve_args *args)
{
	if (serve_url(s))
		fprintf(stderr, "schedscope: metrics are at %s\n", serve_url(s));
	if (args->textfile)
		fprintf(stderr, "schedscope: metrics are in %s/" TEXTFILE "\n", args->textfile);
	if (args->parquet_dir)
		fprintf(stderr, "schedscope: Parquet files are in %s\n", args->parquet_dir);
}

static struct serve_cfg serve_cfg_of(struct serving *serving, const struct metrics_server_cfg *http)
{
	const struct serve_args *args = serving->args;

	return (struct serve_cfg){
		.version = cli_program.version,
		.has_all_buckets = args->buckets == BUCKETS_ALL,
		.http = strcmp(args->listen, "off") == 0 ? NULL : http,
		.write_file = args->textfile ? write_file : NULL,
		.file_ns = args->every_ns && !args->parquet_dir ? args->every_ns : TEXTFILE_NS,
		.groups = args->groups_file ? groups_now : NULL,
		.ctx = serving,
	};
}

static int serve(const struct serve_args *args, const char *recording, struct diag *d)
{
	struct serving serving = { .args = args };
	const struct metrics_server_cfg http = {
		.address = args->listen,
		.token_file = args->token_file,
		.allows_remote = args->allows_remote,
		.hosts = args->hosts.items,
		.nr_hosts = args->hosts.nr,
	};
	const struct serve_cfg cfg = serve_cfg_of(&serving, &http);
	SCOPED(scoped_sums) struct sums *sums = NULL;
	struct serve_input in = { 0 };
	struct serve *s = NULL;
	int err = sums_new((uint32_t)args->top, &sums) ? diag_set(d, -ENOMEM, NULL, "out of memory")
	                                               : serve_open(&cfg, d, &s);

	if (!err)
		err = open_textfile(&serving, d);
	if (!err)
		err = open_columns(&serving, d, &in.columns);
	if (!err)
		err = open_source(args, recording, sums, d, &in.source);
	if (!err && args->wants_blame)
		err = serve_blame_open(d, &in.blame);
	if (!err && args->keep_dir)
		err = watch_dumps(args, sums, d, &in.dumps);
	if (!err && broker_seal())
		err = diag_set(d, -EIO, NULL, "cannot give up what is only for setting up");
	if (!err)
		err = privilege_drop(0, d);
	if (!err) {
		announce(s, args);
		in.sums = sums;
		err = serve_run(s, &in, d);
	}
	columns_close(in.columns);
	serve_blame_close(in.blame);
	dumps_close(in.dumps);
	serve_source_close(in.source);
	serve_close(s);
	output_close(serving.file);
	free(serving.labels);
	return err;
}

static struct serve_keep keeper_of(const struct serve_args *args)
{
	return (struct serve_keep){ .dir = args->keep_dir,
		                    .triggers = &args->triggers,
		                    .keep_ms = args->keep_ns / MS_NS,
		                    .limits = { args->max_dumps, args->max_dumps_mib << 20 } };
}

/* What is read again on SIGHUP, when there are no rights any more. */
static int allow_files(const struct serve_args *args, struct diag *d)
{
	const char *const paths[] = { args->token_file, args->groups_file };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (paths[i] && broker_allow_file(paths[i]))
			return diag_set(d, -ENAMETOOLONG, NULL, "cannot keep the path '%.120s'",
			                paths[i]);
	return 0;
}

static int start(const struct serve_args *args, const char *recording)
{
	struct serve_keep keeper = keeper_of(args);
	struct diag d = { 0 };
	int err = 0;

	broker_set_loader(bpf_order_load);
	if (!recording || args->textfile || args->parquet_dir || args->token_file)
		err = broker_start(BROKER_OPS | (args->parquet_dir ? BROKER_DIRS_WRITE : 0), &d);
	if (!err)
		err = allow_files(args, &d);
	if (!err && args->keep_dir)
		err = serve_keep_start(&keeper, &d);
	if (!err)
		err = serve(args, recording, &d);
	serve_keep_stop(&keeper);
	broker_stop();
	return err ? cli_fail(&d) : CLI_OK;
}

static int check_columns(const struct serve_args *args, struct diag *d)
{
	struct labels labels = { 0 };

	if (!args->parquet_dir && (args->host || args->metadata.nr))
		return diag_set(d, -EINVAL, "add --parquet DIR",
		                "--host and --metadata are about Parquet files");
	if (args->every_ns && !args->parquet_dir && !args->textfile)
		return diag_set(d, -EINVAL, "add --parquet DIR or --textfile DIR",
		                "--every is about files");
	if (args->host && (!*args->host || strlen(args->host) > HOST_MAX))
		return diag_set(d, -EINVAL, NULL, "the name of --host has 1 to %u bytes", HOST_MAX);
	return labels_parse(args->metadata.items, args->metadata.nr, &labels, d);
}

/* Wrong words are reported before anything is opened. */
static int check(const struct serve_args *args, const struct opt_list *operands, struct diag *d)
{
	const struct serve_keep keeper = keeper_of(args);
	struct serving s = { .args = args };
	struct stat_groups groups;

	if (operands->nr > 1)
		return diag_set(d, -EINVAL, NULL, "serve takes one recording at most");
	if (args->groups.nr && args->groups_file)
		return diag_set(d, -EINVAL, "leave one of them out",
		                "--groups and --groups-file contradict each other");
	if (operands->nr && (args->groups.nr || args->groups_file || args->wants_blame))
		return diag_set(
			d, -EINVAL, "leave them out",
			"--groups, --groups-file and --blame are about this machine, not about a recording");
	if (strcmp(args->listen, "off") == 0 && !args->textfile && !args->parquet_dir)
		return diag_set(d, -EINVAL,
		                "add --textfile DIR or --parquet DIR, or leave --listen off out",
		                "there would be no way to read the metrics");
	if (check_columns(args, d))
		return d->code;
	if (args->triggers.nr && !args->keep_dir)
		return diag_set(d, -EINVAL, "add --keep DIR",
		                "--trigger is about a flight recorder");
	if (args->keep_dir && (!args->triggers.nr || operands->nr))
		return diag_set(d, -EINVAL, "add --trigger 'wakeup-latency>20ms', without FILE",
		                "--keep needs a trigger, and a machine to record");
	if (serve_keep_check(&keeper, d))
		return d->code;
	return args->groups.nr ? groups_now(&s, &groups, d) : 0;
}

static int run_args(const struct opt_command *self, const struct serve_args *args,
                    const struct opt_list *operands)
{
	struct diag d = { 0 };

	if (args->wants_list)
		return cli_written(metric_write_docs(stdout), &d) ? cli_fail(&d) : CLI_OK;
	if (check(args, operands, &d))
		return cli_usage_error(self, &d);
	return start(args, operands->nr ? operands->items[0] : NULL);
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct serve_args args = defaults;
	struct opt_result words = { 0 };
	int exit_code;

	if (cli_parse(self, argc, argv, &args, &words, &exit_code)) {
		cli_set_log_level(args.is_verbose, args.is_debug);
		exit_code = run_args(self, &args, &words.operands);
		opt_result_done(&words);
	}
	opt_list_done(&args.groups);
	opt_list_done(&args.hosts);
	opt_list_done(&args.metadata);
	opt_list_done(&args.triggers);
	return exit_code;
}

const struct opt_command cmd_serve = {
	.name = "serve",
	.summary = "a daemon with metrics for Prometheus and its kin",
	.description =
		"Measures this machine as stat does, with sums in the kernel, and shows them as metrics over HTTP: /metrics in the text of "
		"Prometheus, OpenMetrics with exemplars, or protobuf with native histograms, whichever the client accepts; "
		"/healthz and /-/ready. docs/metrics.md describes every metric.\n\n"
		"It listens on this machine only, unless told otherwise. SIGHUP reads --groups-file and --token-file again, SIGTERM ends it. After setting up it gives up its rights.\n\n"
		"With FILE it replays a recording instead, from its beginning as time goes by.",
	.operands = "[FILE]",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.run = run,
};
