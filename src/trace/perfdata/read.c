/* Reads the files of perf record: perf.data, and what it writes into a pipe. */
#include <errno.h>
#include <stdlib.h>

#include "trace/formats.h"
#include "trace/perfdata/perfdata.h"

#define MAGIC_BYTES 8U

bool perfdata_is_format(const uint8_t *bytes, size_t len)
{
	return len >= MAGIC_BYTES && (memcmp(bytes, "PERFILE2", MAGIC_BYTES) == 0 ||
	                              memcmp(bytes, "2ELIFREP", MAGIC_BYTES) == 0);
}

static void done(struct perfdata *d)
{
	pd_unpack_done(d);
	ftrace_cpus_done(&d->cpus);
	ftrace_formats_done(&d->formats);
	pd_stacks_free(d->stacks);
	map_free(d->ids);
	map_free(d->task_ids);
	map_free(d->cgroup_ids);
	map_free(d->cgroups_told);
	free(d->attrs);
	free(d->tasks);
	free(d->exiting);
	free(d->symbols.all);
	functions_done(&d->kallsyms);
	free(d);
}

static int read_all(struct perfdata *d, const struct trace_bytes *in, const struct ev_sink *sink,
                    struct diag *diag)
{
	struct trace_bytes first = *in;
	struct bytes_in records;
	int err = pd_stacks_new(d);

	if (in->nr_ends)
		first.len = in->ends[0];
	if (!err)
		err = pd_header(d, &first, &records, diag);
	if (err)
		return err;
	pd_symbols_sort(d);
	pd_attrs_link(d);
	pd_features_link(d);
	d->file_len = in->len;
	pd_records(d, records);
	for (size_t i = 1; i < in->nr_ends; i++) {
		pd_unpack_done(d); /* each is packed on its own */
		pd_records(d, pd_in_of(d, (const uint8_t *)in->bytes + in->ends[i - 1],
		                       in->ends[i] - in->ends[i - 1]));
	}
	pd_unpack_done(d);
	pd_records_end(d);
	if (d->is_of_folder && !in->nr_ends && !d->r->info.incomplete)
		d->r->info.incomplete =
			"it is one of the files of 'perf record --threads': give the name of their folder";
	d->r->info.nr_packets = d->r->tally.totals[OF_RECORDS] = d->nr_records;
	d->r->tally.totals[OF_BYTES] += d->nr_unpacked;
	if (d->err)
		return d->err;
	err = d->r->clocks.nr ? clocks_link(&d->r->clocks)
	                      : 0; /* else it is one that perf does not name */
	if (!err)
		err = ftrace_cpus_merge(&d->cpus, sink);
	return err ? err : pd_stacks_finish(d);
}

int perfdata_read(struct reader *r, const struct trace_bytes *in, const struct ev_sink *sink,
                  struct diag *diag)
{
	struct perfdata *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return -ENOMEM;
	d->r = r;
	d->kallsyms.budget = r->cfg.budget;
	d->cpus = (struct ftrace_cpus){ .r = r, .find_symbol = pd_find_symbol, .find_ctx = d };
	err = read_all(d, in, sink, diag);
	done(d);
	return err;
}
