#include "trace/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/cleanup.h"
#include "trace/file_in.h"
#include "trace/formats.h"
#include "trace/inflate.h"
#include "trace/perfetto/meta_in.h"
#include "trace/tracedat/ring.h"

#define MAX_PACKETS (1ULL << 30)
#define MAX_RATIO   256U
#define SMALL_FILE  (64ULL << 20) /* may be unpacked from however little */
#define TEXTS       (1U << 24)
#define TEXT_BYTES  ((size_t)1 << 30)
#define INFO_BYTES  ((size_t)4 << 30)
#define MIB         1048576.0

/* The info that callers get; what it points to is in mem. */
struct owned_info {
	struct trace_info info;
	struct arena *mem;
};

void trace_info_free(struct trace_info *info)
{
	struct owned_info *owned = (struct owned_info *)info;

	if (!owned)
		return;
	arena_free(owned->mem);
	free(owned);
}

static const struct trace_format formats[] = {
	/* Before Perfetto's, which may begin with the byte that is an empty line here. */
	{ "text of ftrace or perf script", text_is_format, text_read },
	{ "a Perfetto trace", perfetto_is_format, perfetto_read },
	{ "a file of trace-cmd", tracedat_is_format, tracedat_read },
	{ "a file of perf record", perfdata_is_format, perfdata_read },
};

const struct trace_format *trace_format_of(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (formats[i].is_format(bytes, len))
			return &formats[i];
	return NULL;
}

/* What it may be instead; the hint says what to do then. */
int reader_not_a_trace(const struct trace_bytes *in, struct diag *d)
{
	static const struct {
		const char *magic, *what, *hint;
	} others[] = {
		{ "PK\003\004", "a zip archive", "unpack it, then give the trace inside" },
		{ "WPROF", "wprof's own data file", "make a trace of it with 'wprof -R -T FILE'" },
		{ "{", "JSON", "of Perfetto only the protobuf format is read" },
		{ "[", "JSON", "of Perfetto only the protobuf format is read" },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (in->len >= strlen(others[i].magic) &&
		    memcmp(in->bytes, others[i].magic, strlen(others[i].magic)) == 0)
			return diag_set(d, -EINVAL, others[i].hint, "'%s' is %s, not a trace",
			                in->name, others[i].what);
	if (ring_is_raw(in->bytes, in->len))
		return diag_set(
			d, -EINVAL,
			"give the file that 'trace-cmd restore -o trace.dat FILE.cpu*' makes of them",
			"'%s' is the data of one CPU that an interrupted trace-cmd left", in->name);
	return diag_set(d, -EINVAL, "Perfetto traces, perf.data, trace.dat and their text are read",
	                "'%s' is not a trace", in->name);
}

static size_t at_most(size_t bytes, const struct budget *budget)
{
	return bytes < budget_limit(budget) ? bytes : (size_t)budget_limit(budget);
}

static int init(struct reader *r, const struct trace_read_cfg *cfg)
{
	static const char *const none = "";

	*r = (struct reader){ .cfg = *cfg };
	if (!r->cfg.max_packets)
		r->cfg.max_packets = MAX_PACKETS;
	r->info.format = r->info.producer_name = r->info.producer_version = none;
	r->info.scheduler = none;
	r->info.sysname = r->info.release = r->info.version = none;
	r->info.machine = r->info.machine_name = none;
	r->default_clock = CLOCK_OF_TRACE;
	(void)pthread_mutex_init(&r->late_lock, NULL);
	clocks_init(&r->clocks);
	r->mem = arena_new(at_most(INFO_BYTES, cfg->budget));
	r->texts = intern_new(TEXTS, at_most(TEXT_BYTES, cfg->budget));
	r->late_texts = intern_new(TEXTS, at_most(TEXT_BYTES, cfg->budget));
	if (!r->mem || !r->texts || !r->late_texts || tally_init(&r->tally) < 0 || meta_new(r) < 0)
		return -ENOMEM;
	return tracks_new(r);
}

static void done(struct reader *r)
{
	tracks_free(r->tracks);
	index_done(r);
	interned_done(r);
	names_in_done(&r->names);
	meta_done(r);
	tally_done(&r->tally);
	clocks_done(&r->clocks);
	intern_free(r->texts);
	intern_free(r->late_texts);
	free(r->packets);
	free(r->states);
	arena_free(r->mem);
	(void)pthread_mutex_destroy(&r->late_lock);
}

int trace_too_large(const char *name, const struct budget *budget, struct diag *d)
{
	return diag_set(d, -E2BIG, "free memory, or record less: a shorter time, or fewer events",
	                "loading '%s' takes more than the allowed %.1f MiB of memory", name,
	                (double)budget_limit(budget) / MIB);
}

/* Whatever the first error was: what did not fit into the budget is the cause. */
static int cannot_load(const struct budget *budget, const char *name, int err, struct diag *d)
{
	if (budget_is_exceeded(budget))
		return trace_too_large(name, budget, d);
	return diag_set(d, err, NULL, "cannot load '%s'", name);
}

/* Hands the info over. */
static int give(struct reader *r, struct trace_info **out)
{
	struct owned_info *owned = calloc(1, sizeof(*owned));

	if (!owned)
		return -ENOMEM;
	owned->info = r->info;
	owned->mem = TAKE_PTR(r->mem);
	*out = &owned->info;
	return 0;
}

static int read_plain(struct reader *r, const struct trace_bytes *given,
                      const struct inflated *plain, const struct ev_sink *sink, struct diag *d)
{
	const char *name = given->name;
	const struct trace_bytes in = { .bytes = plain->bytes,
		                        .len = plain->len,
		                        .name = name,
		                        .ends = given->ends,
		                        .nr_ends = given->nr_ends };
	const struct trace_format *format = trace_format_of(in.bytes, in.len);
	int err;

	if (in.len == 0)
		return diag_set(d, -ENODATA, "was the recording interrupted?", "'%s' is empty",
		                name);
	if (!format)
		return reader_not_a_trace(&in, d);
	r->info.format = format->name;
	r->tally.totals[OF_BYTES] = in.len;
	err = format->read(r, &in, sink, d);
	if (!err)
		err = info_finish(r);
	return err ? cannot_load(r->cfg.budget, name, err, d) : 0; /* unless it has said why */
}

static size_t limit_of(size_t len)
{
	uint64_t limit = len > UINT64_MAX / MAX_RATIO ? UINT64_MAX : (uint64_t)len * MAX_RATIO;

	if (limit < SMALL_FILE)
		limit = SMALL_FILE;
	return (size_t)(limit < SIZE_MAX ? limit : SIZE_MAX);
}

/* Unpacks a file that is compressed as a whole; what comes before damage is kept. */
static int unpack(struct reader *r, const uint8_t *bytes, size_t len, struct inflated *out)
{
	const struct inflate_cfg cfg = { .kind = inflate_sniff(bytes, len),
		                         .limit = limit_of(len),
		                         .budget = r->cfg.budget };
	int err = inflate_all(&cfg, bytes, len, out);

	if (err == -EBADMSG && out->len) {
		r->tally.damage[DAMAGE_INFLATE_FAILED]++;
		err = 0;
	}
	return err;
}

/* Tables of the caller want the other half. */
static uint64_t default_limit(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);

	return pages > 0 && page_bytes > 0 ? (uint64_t)pages / 2 * (uint64_t)page_bytes
	                                   : UINT64_MAX;
}

/* With a budget: the caller's, or own. */
static struct trace_read_cfg with_budget(const struct trace_read_cfg *cfg, struct budget *own)
{
	struct trace_read_cfg with = cfg ? *cfg : (struct trace_read_cfg){ 0 };

	budget_init(own, with.max_bytes ? with.max_bytes : default_limit());
	if (!with.budget)
		with.budget = own;
	return with;
}

int trace_read_memory(const struct trace_bytes *in, const struct trace_read_cfg *given,
                      const struct ev_sink *sink, struct diag *d, struct trace_info **out)
{
	SCOPED(scoped_free) struct reader *r = malloc(sizeof(*r));
	SCOPED(scoped_free) uint8_t *unpacked = NULL;
	struct inflated plain = { 0 };
	struct budget own;
	const struct trace_read_cfg cfg = with_budget(given, &own);
	int err;

	if (!r)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = init(r, &cfg);
	if (!err && inflate_sniff(in->bytes, in->len) != INFLATE_NONE)
		err = unpack(r, in->bytes, in->len, &plain);
	unpacked = plain.bytes;
	if (!unpacked) {
		plain.bytes = (uint8_t *)(uintptr_t)in->bytes;
		plain.len = in->len;
	}
	if (err && budget_is_exceeded(cfg.budget))
		err = trace_too_large(in->name, cfg.budget, d);
	else if (err)
		err = diag_set(d, err, NULL, "cannot unpack '%s'", in->name);
	else
		err = read_plain(r, in, &plain, sink, d);
	r->info.nr_bytes = in->len;
	if (!err)
		err = give(r, out);
	done(r);
	return err;
}

int trace_read_file(const char *path, const struct trace_read_cfg *given,
                    const struct ev_sink *sink, struct diag *d, struct trace_info **out)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	struct budget own;
	const struct trace_read_cfg cfg = with_budget(given, &own);
	struct file_in file = { 0 };
	struct trace_bytes in;
	int err = file_in_read(path, &cfg, d, &file);

	if (err == -E2BIG)
		return trace_too_large(name, cfg.budget, d);
	if (err)
		return err;
	in = (struct trace_bytes){ .bytes = file.bytes,
		                   .len = file.len,
		                   .name = name,
		                   .ends = file.ends,
		                   .nr_ends = file.nr_ends };
	err = trace_read_memory(&in, &cfg, sink, d, out);
	file_in_done(&file);
	return err;
}
