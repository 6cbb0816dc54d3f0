#include "record/affinity.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
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

/* What is in out.words; those above the last CPU that it may use are left out. */
static int pass_on(struct affinity *a, const struct ev_hdr *hdr, uint32_t tid, int nr)
{
	struct ev_affinity *rec = &a->out.rec;

	while (nr > 1 && !a->out.words[nr - 1])
		nr--;
	*rec = (struct ev_affinity){
		.hdr = { .size = (__u16)(sizeof(*rec) + (size_t)nr * sizeof(a->out.words[0])),
		         .kind = EV_AFFINITY,
		         .cpu = hdr->cpu,
		         .ts_ns = hdr->ts_ns },
		.tid = tid,
		.nr = (__u16)nr,
		.flags = has_all(a, nr) ? EV_AFFINITY_ALL : 0,
	};
	return a->down.push(a->down.ctx, &rec->hdr);
}

static int ask(struct affinity *a, const struct ev_task_info *info)
{
	int nr = info->tid && a->read ? a->read(info->tid, a->out.words) : 0;

	return nr > 0 ? pass_on(a, &info->hdr, info->tid, nr) : 0;
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	const struct ev_affinity *seen = (const void *)rec;
	struct affinity *a = ctx;
	int err;

	if (rec->kind == EV_AFFINITY && seen->nr > 0 && seen->nr <= AFFINITY_WORDS) {
		memcpy(a->out.words, seen + 1, seen->nr * sizeof(a->out.words[0]));
		for (int i = 0; i < seen->nr; i++)
			a->out.words[i] &= a->online[i]; /* as the kernel answers queries */
		return pass_on(a, rec, seen->tid, seen->nr);
	}
	err = a->down.push(a->down.ctx, rec);
	return err || rec->kind != EV_TASK_INFO ? err : ask(a, (const void *)rec);
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
