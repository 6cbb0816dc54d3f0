#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

#define FRAMES 3U /* of a symbol */

uint64_t fixture_samples(uint32_t symbol)
{
	return 1200 / (symbol + 1);
}

static void *must(size_t nr, size_t size)
{
	void *mem = calloc(nr ? nr : 1, size);

	if (!mem)
		abort();
	return mem;
}

/* Its own frame, a caller in the source, and one outside of it. */
static void make_frames(struct fixture_hot *h, const char *symbol, uint32_t i)
{
	bool is_kernel = i % 3 == 0;
	struct profile_frame *own = &h->frames[(size_t)i * FRAMES];

	own[0] = (struct profile_frame){ .symbol = symbol,
		                         .module = is_kernel ? "kernel" : "libparts.so",
		                         .file = i % 2 ? "/src/parts/work.c" : NULL,
		                         .line = i % 2 ? 10 + i : 0,
		                         .is_kernel = is_kernel };
	own[1] = (struct profile_frame){ .symbol = is_kernel ? "do_syscall" : "round_of_parts",
		                         .module = own->module,
		                         .file = "/src/parts/round.c",
		                         .line = 7,
		                         .is_kernel = is_kernel };
	own[2] = (struct profile_frame){ .symbol = "main", .module = "parts" };
}

/* Two thirds of its samples came by all three frames, the others from main itself. */
static void make_symbol(struct fixture_hot *h, const struct fixture_cfg *cfg, uint32_t i)
{
	const char *symbol = cfg->is_hostile ? fixture_hostile_names[i % fixture_nr_hostile_names]
	                                     : h->names[i];
	const struct profile_frame **way = &h->stacks[(size_t)i * (FRAMES + 2)];
	const struct profile_frame *own = &h->frames[(size_t)i * FRAMES];
	uint64_t samples = fixture_samples(i);

	snprintf(h->names[i], sizeof(h->names[i]), "%s_%u", i % 3 == 0 ? "sys" : "part", i);
	make_frames(h, symbol, i);
	way[0] = way[3] = &own[0];
	way[1] = &own[1];
	way[2] = way[4] = &own[2];
	h->rows[i] = (struct machine_profile_row){
		.key = 5000 + i,
		.symbol = symbol,
		.module = cfg->is_hostile ? symbol : own->module,
		.is_kernel = own->is_kernel,
		.samples = samples,
		.total = samples * 2,
		.file = own->file,
		.line = own->line,
		.address = 0xffff000000000000ULL + i,
		.tgid = FIXTURE_TID + i / 8 * FIXTURE_THREADS,
		.comm = cfg->is_hostile ? symbol : "parts",
		.nr_tgids = 1 + i % 3,
		.cpu = i % 4,
		.layer = cfg->nr_dsqs && i % 2 ? (int64_t)(i % 5) : -1,
		.stacks = { { samples * 2 / 3, way, 3 }, { samples / 3, way + 3, 2 } },
		.nr_stacks = 2,
	};
}

/* The names of 11 and 14 say nothing of what they are; 12 and 13 are operations of a scheduler. */
static struct machine_bpf make_program(const struct fixture_cfg *cfg, uint32_t i)
{
	static const char *const names[] = { "on_sched_switch", "enqueue_dispatch", "simple_a",
		                             "simple_b", "" };
	static const char *const ops[] = { NULL, NULL, "enqueue", "dispatch", "ssthresh" };
	bool is_scheduler = i == 2 || i == 3;

	return (struct machine_bpf){
		.id = 10 + i,
		.type = i < 2 ? "tracing" : "struct_ops",
		.name = cfg->is_hostile ? fixture_hostile_names[i % fixture_nr_hostile_names]
		                        : names[i % 5],
		.cpu = i == 4 ? NAN : 0.002 * (i + 1),
		.ns_per_run = i == 4 ? NAN : 150.0 + i,
		.runs_per_s = i == 4 ? NAN : 12000.0 * (i + 1),
		.p50_ns = i == 4 ? NAN : 140.0 + i,
		.p99_ns = i == 4 ? NAN : 990.0 + i,
		.min_ns = 100.0 + i,
		.max_ns = 1500.0 + i,
		.nr_intervals = i == 4 ? 0 : 40,
		.run_ns = 1000000ULL * (i + 1),
		.runs = 7000ULL * (i + 1),
		.misses = i == 3 ? 17 : 0,
		.insns = 100 * (i + 1),
		.uid = i,
		.btf_id = i == 4 ? 0 : 200 + i,
		.nr_maps = i,
		.jited_bytes = i == 4 ? 0 : 1024 * (i + 1),
		.is_gpl = i != 4,
		.loaded_ns = 1000000000ULL * i,
		.struct_name = is_scheduler ? "sched_ext_ops"
		               : i == 4     ? "tcp_congestion_ops"
		                            : NULL,
		.op = i < 5 ? ops[i] : NULL,
		.owner = is_scheduler ? (cfg->is_hostile ? "\x1b[5m" : "simple") : NULL,
		.owner_id = is_scheduler ? 77 : 0,
		.is_sched_ext = is_scheduler,
	};
}

static void make_programs(struct fixture *f, const struct fixture_cfg *cfg)
{
	struct fixture_hot *h = f->hot;

	for (uint32_t i = 0; i < cfg->nr_programs; i++)
		f->programs[i] = make_program(cfg, i);
	h->lines[0] = (struct machine_hot_line){ "on_switch",
		                                 "/src/bpf/work.bpf.c",
		                                 cfg->is_hostile ? "\x1b[2J" : "\tcount++;",
		                                 42,
		                                 0x1000,
		                                 50,
		                                 70 };
	h->lines[1] = (struct machine_hot_line){
		"helper", "/src/bpf/work.bpf.c", "for (;;)", 7, 0x2000, 20, 20
	};
	h->lines[2] = (struct machine_hot_line){ NULL, NULL, NULL, 0, 0x3000, 10, 10 };
	h->hot = (struct machine_hot){
		.event = "cycles",
		.hz = 796,
		.seconds = 4,
		.seen = 6000,
		.samples = 80,
		.total = 100,
		.has_lines = true,
		.lines = h->lines,
		.nr_lines = 3,
	};
	h->programs = (struct machine_programs){
		.refusal = cfg->is_proc ? "the cost of BPF programs cannot be measured" : NULL,
		.cost = cfg->is_proc ? NAN : 0.0123,
		.program = cfg->nr_programs ? 12 : 0,
	};
	if (cfg->nr_cpus > 1 && !cfg->is_proc)
		h->programs.cost_history = h->programs.ns_history = h->programs.runs_history =
			h->programs.cpu_history = f->cpus[1].busy_history;
	f->m.bpf = &h->programs;
	if (cfg->nr_programs)
		h->programs.hot = &h->hot;
}

void fixture_hot_init(struct fixture *f, const struct fixture_cfg *cfg)
{
	struct fixture_hot *h = must(1, sizeof(*h));

	f->hot = h;
	h->rows = must(cfg->nr_symbols, sizeof(*h->rows));
	h->frames = must((size_t)cfg->nr_symbols * FRAMES, sizeof(*h->frames));
	h->stacks = must((size_t)cfg->nr_symbols * (FRAMES + 2), sizeof(*h->stacks));
	h->names = must(cfg->nr_symbols, sizeof(*h->names));
	h->profile = (struct machine_profile){
		.refusal = cfg->is_proc ? "sampling needs BPF" : NULL,
		.event = "cpu-clock",
		.why_event = "this machine has no PMU",
		.hz = 199,
		.seconds = 12.5,
		.idle = 321,
		.has_layers = cfg->nr_dsqs > 0,
		.rows = h->rows,
		.nr_rows = cfg->nr_symbols,
		.nr_functions = cfg->nr_symbols,
	};
	for (uint32_t i = 0; i < cfg->nr_symbols; i++) {
		make_symbol(h, cfg, i);
		h->profile.samples += h->rows[i].samples;
	}
	f->m.profile = cfg->nr_symbols || cfg->is_proc ? &h->profile : NULL;
	make_programs(f, cfg);
}

void fixture_hot_done(struct fixture *f)
{
	if (!f->hot)
		return;
	free(f->hot->rows);
	free(f->hot->frames);
	free(f->hot->stacks);
	free(f->hot->names);
	free(f->hot);
}
