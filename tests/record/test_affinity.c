#include "../unit.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "abi/event_check.h"
#include "record/affinity.h"
#include "sys/cpulist.h"

struct heard {
	unsigned int kinds[16];
	size_t nr;
	struct {
		struct ev_affinity rec;
		uint64_t words[AFFINITY_WORDS];
	} last;
	uint64_t advanced_ns;
	int answer;
};

static int hear(void *ctx, const struct ev_hdr *rec)
{
	struct heard *h = ctx;

	assert_true(h->nr < 16);
	assert_true(ev_check(rec, rec->size));
	h->kinds[h->nr++] = rec->kind;
	if (rec->kind == EV_AFFINITY)
		memcpy(&h->last, rec, rec->size);
	return h->answer;
}

static int advance(void *ctx, __u64 ts_ns)
{
	((struct heard *)ctx)->advanced_ns = ts_ns;
	return 0;
}

/* Task 1 may run everywhere, 2 on CPU 1, 65 on CPU 65; others are gone. */
static int read_fake(uint32_t tid, uint64_t words[AFFINITY_WORDS])
{
	memset(words, 0, AFFINITY_WORDS * sizeof(words[0]));
	if (tid == 1)
		words[0] = 0xff;
	else if (tid == 2)
		words[0] = 2;
	else if (tid == 65)
		words[1] = 2;
	else
		return -ESRCH;
	return 16;
}

static struct affinity *begin(struct heard *h, const char *online)
{
	struct cpulist cpus = { 0 };
	struct affinity *a = NULL;
	struct ev_sink down = { .push = hear, .advance = advance, .ctx = h };

	expect_eq(cpulist_parse(online, &cpus), 0);
	expect_eq(affinity_new(down, &cpus, read_fake, &a), 0);
	cpulist_done(&cpus);
	return a;
}

static int push_info(struct affinity *a, uint32_t tid)
{
	struct ev_task_info rec = { .hdr = { sizeof(rec), EV_TASK_INFO, 0, 3, 77 }, .tid = tid };
	struct ev_sink s = affinity_sink(a);

	return s.push(s.ctx, &rec.hdr);
}

static void each_task_that_is_described_is_asked_for(void **state)
{
	struct heard h = { 0 };
	struct affinity *a = begin(&h, "0-1");
	struct ev_sink s = affinity_sink(a);
	struct ev_fork fork = { .hdr = { sizeof(fork), EV_FORK, 0, 0, 80 },
		                .tid = 2,
		                .parent_tid = 1 };

	(void)state;
	expect_eq(push_info(a, 1), 0);
	expect_eq(h.last.rec.tid, 1);
	expect_eq(h.last.rec.flags, EV_AFFINITY_ALL);
	expect_eq(h.last.rec.hdr.ts_ns, 77);
	expect_eq(push_info(a, 2), 0);
	expect_eq(h.last.rec.tid, 2);
	expect_eq(h.last.rec.flags, 0);
	expect_eq(h.last.rec.nr, 1);
	expect_eq(h.last.words[0], 2);
	expect_eq(s.push(s.ctx, &fork.hdr), 0); /* the source says it of new ones */
	expect_eq(h.nr, 5);
	expect_eq(h.kinds[0], EV_TASK_INFO);
	expect_eq(h.kinds[1], EV_AFFINITY);
	expect_eq(h.kinds[4], EV_FORK);
	expect_eq(s.advance(s.ctx, 99), 0);
	expect_eq(h.advanced_ns, 99);
	affinity_free(a);
}

static int push_words(struct affinity *a, uint32_t tid, uint64_t low, uint64_t high)
{
	struct {
		struct ev_affinity rec;
		uint64_t words[2];
	} r = { { { sizeof(r), EV_AFFINITY, 0, 3, 80 }, tid, 2, 0 }, { low, high } };
	struct ev_sink s = affinity_sink(a);

	return s.push(s.ctx, &r.rec.hdr);
}

static void words_of_the_source_are_completed(void **state)
{
	struct heard h = { 0 };
	struct affinity *a = begin(&h, "0-1");

	(void)state;
	expect_eq(push_words(a, 1000, 0xff, 0), 0);
	expect_eq(h.last.rec.tid, 1000);
	expect_eq(h.last.rec.flags, EV_AFFINITY_ALL);
	expect_eq(h.last.rec.nr, 1);
	expect_eq(h.last.words[0], 3); /* without those that are offline */
	expect_eq(h.last.rec.hdr.ts_ns, 80);
	expect_eq(h.last.rec.hdr.cpu, 3);
	expect_eq(push_words(a, 1000, 2, 0), 0);
	expect_eq(h.last.rec.flags, 0);
	expect_eq(h.last.words[0], 2);
	expect_eq(h.nr, 2);
	affinity_free(a);
}

static void where_the_kernel_cannot_be_asked_the_source_still_counts(void **state)
{
	struct heard h = { 0 };
	struct cpulist cpus = { 0 };
	struct affinity *a = NULL;

	(void)state;
	expect_eq(cpulist_parse("0-1", &cpus), 0);
	expect_eq(affinity_new((struct ev_sink){ .push = hear, .ctx = &h }, &cpus, NULL, &a), 0);
	cpulist_done(&cpus);
	expect_eq(push_info(a, 1), 0);
	expect_eq(h.nr, 1);
	expect_eq(push_words(a, 1, 1, 0), 0);
	expect_eq(h.nr, 2);
	expect_eq(h.last.words[0], 1);
	affinity_free(a);
}

static void one_that_is_gone_has_none(void **state)
{
	struct heard h = { 0 };
	struct affinity *a = begin(&h, "0-1");

	(void)state;
	expect_eq(push_info(a, 1000), 0);
	expect_eq(push_info(a, 0), 0);
	expect_eq(h.nr, 2);
	affinity_free(a);
	affinity_free(NULL);
}

static void restricted_is_a_task_that_misses_an_online_cpu(void **state)
{
	struct heard h = { 0 };
	struct affinity *a = begin(&h, "1");

	(void)state;
	expect_eq(push_info(a, 2), 0);
	expect_eq(h.last.rec.flags, EV_AFFINITY_ALL); /* CPU 1 is all there is */
	affinity_free(a);
	a = begin(&h, "0,65");
	expect_eq(push_info(a, 65), 0);
	expect_eq(h.last.rec.flags, 0);
	expect_eq(h.last.rec.nr, 2);
	expect_eq(h.last.words[0], 0);
	expect_eq(h.last.words[1], 2);
	affinity_free(a);
}

static void a_sink_that_fails_is_not_asked_again(void **state)
{
	struct heard h = { .answer = -ENOSPC };
	struct affinity *a = begin(&h, "0-1");

	(void)state;
	expect_eq(push_info(a, 1), -ENOSPC);
	expect_eq(h.nr, 1);
	affinity_free(a);
}

static void the_kernel_says_what_the_c_library_says(void **state)
{
	uint64_t words[AFFINITY_WORDS] = { 0 };
	cpu_set_t set;
	int nr = affinity_of_task((uint32_t)getpid(), words);

	(void)state;
	assert_true(nr > 0 && nr <= AFFINITY_WORDS);
	expect_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	for (unsigned int cpu = 0; cpu < 1024 && cpu < (unsigned int)nr * 64; cpu++)
		expect_eq(words[cpu / 64] >> cpu % 64 & 1, CPU_ISSET(cpu, &set) != 0);
	expect_eq(affinity_of_task(4194303, words), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_task_that_is_described_is_asked_for),
		cmocka_unit_test(words_of_the_source_are_completed),
		cmocka_unit_test(where_the_kernel_cannot_be_asked_the_source_still_counts),
		cmocka_unit_test(one_that_is_gone_has_none),
		cmocka_unit_test(restricted_is_a_task_that_misses_an_online_cpu),
		cmocka_unit_test(a_sink_that_fails_is_not_asked_again),
		cmocka_unit_test(the_kernel_says_what_the_c_library_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
