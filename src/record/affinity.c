#include "record/affinity.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/cpulist.h"

struct affinity {
	struct ev_sink down;
	affinity_read_fn *read;
	uint64_t online[AFFINITY_WORDS];
	struct {
		struct ev_affinity rec;
		uint64_t words[AFFINITY_WORDS];
	} out;
};

/* The C library's call supports at most 1024 CPUs; the kernel's returns how many bytes it wrote. */
int affinity_of_task(uint32_t tid, uint64_t words[AFFINITY_WORDS])
{
	long bytes = syscall(SYS_sched_getaffinity, (pid_t)tid, AFFINITY_WORDS * sizeof(words[0]),
	                     words);

	return bytes < 0 ? -errno : (int)((size_t)bytes / sizeof(words[0]));
}

static bool has_all(const struct affinity *a, int nr)
{
	for (int i = 0; i < AFFINITY_WORDS; i++)
		if (a->online[i] & ~(i < nr ? a->out.words[i] : 0))
			return false;
	return true;
}

static int emit(struct affinity *a, uint32_t tid, const struct ev_hdr *after)
{
	struct ev_affinity *rec = &a->out.rec;
	int nr = tid ? a->read(tid, a->out.words) : 0;

	if (nr <= 0)
		return 0;
	while (nr > 1 && !a->out.words[nr - 1])
		nr--;
	*rec = (struct ev_affinity){
		.hdr = { .size = (__u16)(sizeof(*rec) + (size_t)nr * sizeof(a->out.words[0])),
		         .kind = EV_AFFINITY,
		         .cpu = after->cpu,
		         .ts_ns = after->ts_ns },
		.tid = tid,
		.nr = (__u16)nr,
		.flags = has_all(a, nr) ? EV_AFFINITY_ALL : 0,
	};
	return a->down.push(a->down.ctx, &rec->hdr);
}

static uint32_t task_of(const struct ev_hdr *rec)
{
	switch (rec->kind) {
	case EV_TASK_INFO:
		return ((const struct ev_task_info *)(const void *)rec)->tid;
	case EV_FORK:
		return ((const struct ev_fork *)(const void *)rec)->tid;
	case EV_EXEC:
		return ((const struct ev_exec *)(const void *)rec)->tid;
	default:
		return 0;
	}
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct affinity *a = ctx;
	int err = a->down.push(a->down.ctx, rec);

	return err ? err : emit(a, task_of(rec), rec);
}

static int advance(void *ctx, __u64 ts_ns)
{
	struct affinity *a = ctx;

	return a->down.advance ? a->down.advance(a->down.ctx, ts_ns) : 0;
}

int affinity_new(struct ev_sink down, const struct cpulist *online, affinity_read_fn *read,
                 struct affinity **out)
{
	struct affinity *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->down = down;
	a->read = read;
	for (uint32_t i = 0; i < AFFINITY_WORDS && i < online->nr_words; i++)
		a->online[i] = online->words[i];
	*out = a;
	return 0;
}

struct ev_sink affinity_sink(struct affinity *a)
{
	return (struct ev_sink){ .push = push, .advance = advance, .ctx = a };
}

void affinity_free(struct affinity *a)
{
	free(a);
}
