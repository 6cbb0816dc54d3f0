#include "machine/parts/program_hot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "collect/sample/sample_event.h"
#include "collect/sample/sample_perf.h"
#include "sys/bpf/bpf_prog_code.h"
#include "sys/online_watch.h"

#define RING_BYTES  ((size_t)256 << 10)
#define ONLINE_SIZE 65536

struct program_hot {
	struct bpf_prog_code *code;
	struct sample_event event;
	struct sample_perf *perf;
	struct online_watch cpus;
	struct machine_hot_line *all; /* by the number of the line */
	struct machine_hot_line *shown;
	uint64_t start_ns;
	struct machine_hot hot;
};

void program_hot_close(struct program_hot *h)
{
	if (!h)
		return;
	sample_perf_close(h->perf);
	online_watch_close(&h->cpus);
	sample_event_done(&h->event);
	bpf_prog_code_free(h->code);
	free(h->all);
	free(h->shown);
	free(h);
}

DEFINE_SCOPED(program_hot, program_hot_close)

static int watch_cpus(struct program_hot *h, const char *path, struct diag *d)
{
	SCOPED(cpulist_done) struct cpulist online = { 0 };
	SCOPED(scoped_free) char *text = NULL;
	int err = text_read_file(path, ONLINE_SIZE, &text);

	if (!err) {
		text_chomp(text);
		err = cpulist_parse(text, &online);
	}
	if (!err)
		err = online_watch_open(&h->cpus, path, &online);
	return err ? diag_set(d, err, NULL, "cannot read %s", path) : 0;
}

static int open_perf(struct program_hot *h, double hz, struct diag *d)
{
	struct sample_perf_cfg cfg = {
		.frequency = (uint64_t)hz,
		.online = &h->cpus.now,
		.cpu = UINT32_MAX,
		.prog_fd = -1,
		.ring_bytes = RING_BYTES,
	};
	int err = sample_event_parse(NULL, &h->event, d);

	if (err)
		return err;
	cfg.events = &h->event.pmu;
	err = sample_perf_open(&cfg, d, &h->perf);
	if (!err && sample_perf_enable(h->perf))
		err = diag_set(d, -EIO, NULL, "cannot start sampling");
	return err;
}

int program_hot_open(const struct program_hot_cfg *cfg, struct diag *d, struct program_hot **out)
{
	SCOPED(scoped_program_hot) struct program_hot *h = calloc(1, sizeof(*h));
	size_t nr;
	int err;

	if (!h)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	h->cpus.fd = -1;
	err = bpf_prog_code_read(cfg->program, d, &h->code);
	if (err)
		return err;
	nr = bpf_prog_code_nr(h->code);
	h->all = calloc(nr + 1, sizeof(*h->all));
	h->shown = calloc(nr + 1, sizeof(*h->shown));
	if (!h->all || !h->shown)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = watch_cpus(h, cfg->online ? cfg->online : ONLINE_WATCH_PATH, d);
	if (!err)
		err = open_perf(h, cfg->hz, d);
	if (err)
		return err;
	h->start_ns = clock_boot_ns();
	h->hot = (struct machine_hot){
		.event = h->event.name,
		.why_event = h->event.why_default,
		.hz = (double)(uint64_t)cfg->hz,
		.has_lines = bpf_prog_code_has_lines(h->code),
		.lines = h->shown,
	};
	*out = TAKE_PTR(h);
	return 0;
}

static void count(struct program_hot *h, const struct bpf_prog_place *at, uint64_t address,
                  bool is_self)
{
	struct machine_hot_line *l = &h->all[at->number];

	if (!l->total)
		*l = (struct machine_hot_line){ .function = at->function,
			                        .file = at->file,
			                        .text = at->text,
			                        .line = at->line,
			                        .address = address };
	l->total++;
	l->samples += is_self;
	h->hot.total++;
	h->hot.samples += is_self;
}

static void take_sample(void *ctx, const struct sample_perf_address *sample)
{
	struct program_hot *h = ctx;
	struct bpf_prog_place at;

	if (bpf_prog_code_find(h->code, sample->address, &at)) {
		count(h, &at, sample->address, true);
		return;
	}
	for (uint32_t i = 0; i < sample->nr_callers; i++) {
		/* The call is just before where it returns to. */
		if (!bpf_prog_code_find(h->code, sample->callers[i] - 1, &at))
			continue;
		count(h, &at, sample->callers[i], false);
		return;
	}
}

static int by_total(const void *a, const void *b)
{
	const struct machine_hot_line *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->line != y->line)
		return x->line > y->line ? 1 : -1;
	return (x->address > y->address) - (x->address < y->address);
}

const struct machine_hot *program_hot_read(struct program_hot *h)
{
	struct sample_perf_counts counts;
	size_t nr = 0;

	sample_perf_read(h->perf, take_sample, h, &counts);
	if (online_watch_poll(&h->cpus, clock_boot_ns()))
		(void)!sample_perf_follow(h->perf, &h->cpus.now, NULL);
	for (size_t i = 0; i < bpf_prog_code_nr(h->code); i++)
		if (h->all[i].total)
			h->shown[nr++] = h->all[i];
	qsort(h->shown, nr, sizeof(*h->shown), by_total);
	h->hot.nr_lines = nr;
	h->hot.seen = counts.samples;
	h->hot.lost = counts.lost;
	h->hot.seconds = (double)(clock_boot_ns() - h->start_ns) / 1e9;
	return &h->hot;
}
