/*
 * fuzz/fuzz_outlier — records of outliers: the bytes as they are, and a sound head with slices around the
 * wait, which few bytes describe: 16 bits of time each, so that slices meet, overlap and run backwards.
 */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "stat/tally/outliers.h"

#define HOLDERS_MAX (STAT_HISTORY + 1) /* the slices of the past, and the one that runs */

static void check_holders(const struct outlier *o)
{
	uint64_t sum = o->idle_ns + o->unexplained_ns;
	uint32_t nr_slices = 0;

	fuzz_check(o->nr_holders <= HOLDERS_MAX);
	for (uint32_t i = 0; i < o->nr_holders; i++) {
		const struct outlier_holder *h = &o->holders[i];

		fuzz_check(h->tid && h->ns && h->nr_slices);
		fuzz_check(i == 0 || h->ns <= o->holders[i - 1].ns);
		fuzz_check(memchr(h->comm, '\0', sizeof(h->comm)));
		for (uint32_t other = 0; other < i; other++)
			fuzz_check(o->holders[other].tid != h->tid);
		sum += h->ns;
		nr_slices += h->nr_slices;
	}
	fuzz_check(sum == o->wait_ns && o->idle_ns <= o->wait_ns);
	fuzz_check(nr_slices <= HOLDERS_MAX);
}

static void read_record(const void *rec, size_t len)
{
	struct outlier o;
	int err = outlier_read(rec, len, &o);

	if (err) {
		fuzz_check(err == -EBADMSG);
		return;
	}
	fuzz_check(o.tid && o.wait_ns <= o.at_ns && o.cause <= STAT_CAUSE_NEW);
	fuzz_check(memchr(o.comm, '\0', sizeof(o.comm)));
	check_holders(&o);
}

static void read_sound_record(struct fuzz_input in)
{
	struct stat_outlier r = {
		.rec = { .size = sizeof(r), .kind = STAT_REC_OUTLIER },
		.tid = 1,
	};

	r.wait_ns = fuzz_take(&in, 2);
	r.at_ns = r.wait_ns + fuzz_take(&in, 2);
	r.cause = (uint32_t)fuzz_take(&in, 1) % 4;
	r.history.next = (uint32_t)fuzz_take(&in, 4);
	memset(r.comm, (int)fuzz_take(&in, 1), sizeof(r.comm));
	r.history.running.tid = (uint32_t)fuzz_take(&in, 1) % 8;
	r.history.running.start_ns = fuzz_take(&in, 2);
	for (int i = 0; i < STAT_HISTORY; i++) {
		struct stat_slice *s = &r.history.slices[i];

		s->tid = (uint32_t)fuzz_take(&in, 1) % 8;
		s->start_ns = fuzz_take(&in, 2);
		s->end_ns = s->start_ns + fuzz_take(&in, 2) - (s->tid == 7 ? 100 : 0);
		memset(s->comm, (int)s->tid + 'a', sizeof(s->comm));
	}
	read_record(&r, sizeof(r));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_record(data, size);
	read_sound_record((struct fuzz_input){ data, size });
	return 0;
}
