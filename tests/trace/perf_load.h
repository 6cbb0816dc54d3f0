/* tests/trace/perf_load — one file of perf, made by hand, and what was read of it. */
#pragma once

#include "loaded.h"
#include "perf_build.h"

static struct perf_file file;
static struct loaded got;

static inline void load_file(struct perf_file *f)
{
	finish_as(f, false);
	loaded_done(&got);
	load_cfg(&got, f->out.buf, f->out.len, NULL);
	expect_eq(got.err, 0);
}

static inline uint64_t damage(const char *name)
{
	return counted_damage(got.info, name);
}

static inline uint64_t events(const char *name)
{
	return counted_events(got.info, name);
}

static inline const void *first_of(unsigned int kind)
{
	for (size_t i = 0; i < got.nr; i++)
		if (got.recs[i]->kind == kind)
			return got.recs[i];
	return NULL;
}

static inline size_t nr_of(unsigned int kind)
{
	size_t nr = 0;

	for (size_t i = 0; i < got.nr; i++)
		nr += got.recs[i]->kind == kind;
	return nr;
}

static inline void comm(uint32_t misc, uint32_t pid, uint32_t tid, const char *name, uint64_t ts)
{
	size_t mark = begin(&file, 3, misc);

	put32(&file, &file.data, pid);
	put32(&file, &file.data, tid);
	put_text(&file.data, name, 16);
	trailer(&file, pid, tid, ts, 0, 101);
	end(&file, mark);
}

static inline void family(uint32_t type, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid,
                          uint64_t ts)
{
	size_t mark = begin(&file, type, 0);

	put32(&file, &file.data, pid);
	put32(&file, &file.data, ppid);
	put32(&file, &file.data, tid);
	put32(&file, &file.data, ptid);
	put64(&file, &file.data, ts);
	trailer(&file, ppid, ptid, ts, 0, 101);
	end(&file, mark);
}
