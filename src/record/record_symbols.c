#include "record/record_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/profile.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/sample/mmap_ring.h"
#include "profile/profiler/unwind_remarks.h"
#include "profile/profiler/unwinder.h"
#include "symbol/symbolizer.h"
#include "sys/proc/pid_namespace.h"
#include "sys/proc/proc_tasks.h"

#define ROUND_NS 20000000ULL /* and in a round while records wait to be read */
#define PACE_NS  20000000ULL /* processes that begin are walked by frame pointers until then */

_Static_assert(TRACE_CODE_MAX == SYMBOL_FRAMES_MAX, "all frames of an address fit");
_Static_assert(TRACE_BUILD_ID_MAX == SYMBOL_BUILD_ID_MAX, "a build id fits");

struct record_symbols {
	struct symbolizer *symbolizer;
	struct mmap_ring *reports; /* NULL = not available */
	struct ev_sink next;
	struct unwinder *unwinder; /* NULL = by frame pointers */
	struct unwind_maps *maps;  /* lent; likewise */
	struct unwind_remarks remarks;
	uint32_t tgid; /* the only one that matters; 0 = all */
};

DEFINE_SCOPED(record_symbols, record_symbols_close)

static int open_unwinder(struct record_symbols *s, const struct record_symbols_cfg *cfg)
{
	s->maps = cfg->unwind;
	s->tgid = cfg->tgid;
	if (cfg->why_not_table)
		s->remarks.why_fp = *cfg->why_not_table;
	return s->maps ? unwinder_new(s->symbolizer, s->maps, cfg->tgid, &s->unwinder) : 0;
}

int record_symbols_open(const struct record_symbols_cfg *cfg, struct diag *d,
                        struct record_symbols **out)
{
	SCOPED(scoped_record_symbols) struct record_symbols *s = calloc(1, sizeof(*s));
	bool is_foreign = !pid_namespace_is_initial();
	/* The kernel's ids are not those of another namespace's /proc: no name is better than a wrong one. */
	struct symbolizer_cfg names = { .wants_lines = true,
		                        .proc = is_foreign ? "/dev/null" : NULL };
	int err;

	if (!s)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = symbolizer_new(&names, d, &s->symbolizer);
	if (err)
		return err;
	if (open_unwinder(s, cfg))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	if (is_foreign || mmap_ring_open(cfg->online, 0, NULL, &s->reports))
		s->reports = NULL;
	*out = TAKE_PTR(s);
	return 0;
}

int record_symbols_follow(struct record_symbols *s, const struct cpulist *online)
{
	return s && s->reports ? mmap_ring_follow(s->reports, online, NULL) : 0;
}

void record_symbols_close(struct record_symbols *s)
{
	if (!s)
		return;
	mmap_ring_close(s->reports);
	unwinder_free(s->unwinder);
	symbolizer_free(s->symbolizer);
	free(s);
}

int record_symbols_begin(struct record_symbols *s)
{
	int err = s ? symbolizer_read_process(s->symbolizer, 0, 0) : 0;

	return err == -ENOMEM ? err : 0; /* hidden symbols have no names, that is all */
}

/* A process that has exited meanwhile, or too many of them, costs names and nothing else. */
int record_symbols_read_process(struct record_symbols *s, uint32_t tgid, uint64_t ts_ns)
{
	int err = s ? symbolizer_read_process(s->symbolizer, tgid, ts_ns) : 0;

	return err == -ENOMEM ? err : 0;
}

static int prepare_process(void *ctx, const struct proc_task *task)
{
	struct record_symbols *s = ctx;
	int err;

	if (task->is_kthread || (s->tgid && s->tgid != task->tgid))
		return 0;
	err = task->is_runnable ? unwinder_hurry(s->unwinder, task->tgid) : 0;
	if (err || task->tid != task->tgid)
		return err;
	err = record_symbols_read_process(s, task->tgid, clock_boot_ns());
	return err ? err : unwinder_mapped(s->unwinder, task->tgid);
}

int record_symbols_prepare(struct record_symbols *s, struct diag *d)
{
	int err;

	if (!s || !s->unwinder)
		return 0;
	err = proc_tasks_each("/proc", prepare_process, s, d);
	if (!err && unwinder_begin(s->unwinder))
		err = diag_set(d, -ENOMEM, NULL, "out of memory");
	return err;
}

uint64_t record_symbols_pace_ns(const struct record_symbols *s)
{
	return s && s->unwinder ? PACE_NS : 0;
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct record_symbols *s = ctx;
	const struct ev_sample *sample = (const void *)rec;
	int err = 0;

	if (rec->kind == EV_SAMPLE && sample->nr_user) {
		err = record_symbols_read_process(s, sample->tgid, rec->ts_ns);
		if (s->unwinder && sample->user_end < PROF_NR_ENDS)
			s->remarks.ends[sample->user_end]++;
	}
	return err ? err : s->next.push(s->next.ctx, rec);
}

static int advance(void *ctx, __u64 ts_ns)
{
	struct record_symbols *s = ctx;

	return s->next.advance(s->next.ctx, ts_ns);
}

struct ev_sink record_symbols_sink(struct record_symbols *s, const struct ev_sink *next)
{
	s->next = *next;
	return (struct ev_sink){ .push = push,
		                 .advance = next->advance ? advance : NULL,
		                 .ctx = s };
}

static int mapped(struct symbolizer *s, const struct mmap_report *r)
{
	struct symbol_mapping m = { .start = r->start,
		                    .end = r->end,
		                    .offset = r->offset,
		                    .dev_major = r->dev_major,
		                    .dev_minor = r->dev_minor,
		                    .inode = r->inode,
		                    .path = r->path };

	return symbolizer_mapped(s, r->tgid, r->ts_ns, &m);
}

static int report(void *ctx, const struct mmap_report *r)
{
	struct record_symbols *all = ctx;
	struct symbolizer *s = all->symbolizer;
	int err = all->unwinder ? unwinder_take(all->unwinder, r) : 0;

	if (err)
		return err;

	switch (r->what) {
	case MMAP_MAPPED:
		err = mapped(s, r);
		break;
	case MMAP_EXEC:
		err = symbolizer_execed(s, r->tgid, r->ts_ns);
		break;
	case MMAP_FORK:
		err = symbolizer_forked(s, r->parent_tgid, r->tgid, r->ts_ns);
		break;
	case MMAP_EXIT:
		symbolizer_exited(s, r->tgid, r->ts_ns);
		break;
	}
	return err == -ENOMEM ? err : 0;
}

int record_symbols_round(struct record_symbols *s)
{
	uint64_t now_ns;
	int err = s && s->reports ? mmap_ring_take(s->reports, report, s) : 0;

	if (err || !s || !s->unwinder)
		return err;
	now_ns = clock_boot_ns();
	return unwinder_flush(s->unwinder, now_ns, now_ns + ROUND_NS);
}

int record_symbols_fd(const struct record_symbols *s)
{
	return s && s->reports ? mmap_ring_poll_fd(s->reports) : -1;
}

uint64_t record_symbols_lost(const struct record_symbols *s)
{
	return s && s->reports ? mmap_ring_lost(s->reports) : 0;
}

bool record_symbols_remark(struct record_symbols *s, struct diag *out)
{
	return s && (symbolizer_remark(s->symbolizer, out) ||
	             unwind_remarks_next(&s->remarks, s->maps, out));
}

static void copy_mapping(struct trace_place *out, const struct symbol_mapping *m)
{
	out->path = m->path;
	out->start = m->start;
	out->end = m->end;
	out->offset = m->offset;
	out->nr_build_id = m->nr_build_id;
	memcpy(out->build_id, m->build_id, sizeof(out->build_id));
}

bool record_symbols_place(void *ctx, uint32_t tgid, uint64_t ts_ns, uint64_t address,
                          struct trace_place *out)
{
	struct record_symbols *s = ctx;
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	struct symbol_mapping mapping = { 0 };

	*out = (struct trace_place){ .rel_pc = address };
	out->nr_code = symbolizer_frames(s->symbolizer, tgid, ts_ns, address, frames);
	for (uint32_t i = 0; i < out->nr_code; i++)
		out->code[i] = (struct trace_code){ .name = frames[i].name,
			                            .file = frames[i].file,
			                            .line = frames[i].line };
	if (tgid && symbolizer_locate(s->symbolizer, tgid, ts_ns, address, &mapping, &out->rel_pc))
		copy_mapping(out, &mapping);
	else
		out->path = frames[out->nr_code - 1].module;
	return true;
}

bool record_symbols_name(void *ctx, uint32_t tgid, uint64_t address, char *buf, size_t size)
{
	struct record_symbols *s = ctx;
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint32_t nr = symbolizer_frames(s->symbolizer, tgid, UINT64_MAX, address, frames);

	if (!frames[nr - 1].name)
		return false;
	(void)snprintf(buf, size, "%s", frames[nr - 1].name);
	return true;
}
