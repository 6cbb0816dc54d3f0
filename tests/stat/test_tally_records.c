/* Which records the tally takes. */
#include "../unit.h"

#include "fake_task.h"

static const struct tally_cfg by_comm = { .by = TALLY_BY_COMM };

static void refuse(struct tally *t, const uint8_t *rec, size_t len, uint64_t *nr_bad)
{
	struct tally_loss loss;

	expect_eq(tally_record(t, rec, len, 0), -EBADMSG);
	tally_loss(t, &loss);
	expect_eq(loss.bad_records, ++*nr_bad);
	expect_eq(tally_nr_rows(t), 0);
}

static void malformed_task_records_are_refused(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	struct fake_task f;
	uint8_t buf[sizeof(f)];
	struct stat_rec *rec = (struct stat_rec *)buf;
	uint64_t nr_bad = 0;
	size_t len;

	(void)state;
	fake_init(&f, 7, "a");
	fake_add(&f.hists[0], 1, 5 * US, 1, 1);
	len = fake_record(&f, 1, false, buf);
	for (size_t cut = 0; cut < len; cut++)
		refuse(t, buf, cut, &nr_bad);
	refuse(t, buf, len + 8, &nr_bad);
	rec->size = (uint32_t)len - 8;
	refuse(t, buf, len - 8, &nr_bad);
	rec->size = UINT32_MAX;
	refuse(t, buf, len, &nr_bad);
	rec->size = (uint32_t)len;
	for (uint32_t mask = 0; mask < 256; mask++) {
		rec->mask = (uint8_t)mask;
		if (__builtin_popcount(mask) != 1 || mask == 1U << STAT_WAKING)
			refuse(t, buf, len, &nr_bad);
	}
	rec->mask = 1;
	rec->kind = STAT_REC_OUTLIER;
	refuse(t, buf, len, &nr_bad);
	rec->kind = STAT_REC_WAKING;
	refuse(t, buf, len, &nr_bad);
	rec->kind = 0;
	refuse(t, buf, len, &nr_bad);
	rec->kind = STAT_REC_TASK;
	((struct stat_task *)buf)->id.tid = 0;
	refuse(t, buf, len, &nr_bad);
	((struct stat_task *)buf)->id.tid = 7;
	expect_eq(tally_record(t, buf, len, 0), 0);
	tally_free(t);
}

static void malformed_waking_and_outlier_records_are_refused(void **state)
{
	struct stat_waking w = { .rec = { sizeof(w), STAT_REC_WAKING, 0, 0 }, .id = { .tid = 7 } };
	struct stat_outlier o = { .rec = { sizeof(o), STAT_REC_OUTLIER, 0, 0 }, .tid = 7 };
	struct tally *t = fake_tally(&by_comm);
	uint64_t nr_bad = 0;

	(void)state;
	for (size_t cut = 0; cut < sizeof(w); cut++)
		refuse(t, (uint8_t *)&w, cut, &nr_bad);
	w.rec.size -= 8;
	refuse(t, (uint8_t *)&w, sizeof(w), &nr_bad);
	w.rec.size += 8;
	w.id.tid = 0;
	refuse(t, (uint8_t *)&w, sizeof(w), &nr_bad);
	refuse(t, (uint8_t *)&o, sizeof(o), &nr_bad);
	w.id.tid = 7;
	expect_eq(tally_record(t, &w, sizeof(w), 0), 0);
	tally_free(t);
}

static void records_may_lie_at_any_address(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	uint8_t buf[sizeof(struct fake_task) + 8];
	struct fake_task f;
	size_t len;

	(void)state;
	fake_init(&f, 7, "a");
	for (uint32_t shift = 1; shift < 8; shift++) {
		fake_add(&f.hists[0], 1, 5 * US, 1, 1);
		len = fake_record(&f, ALL_HISTS, false, buf);
		memmove(buf + shift, buf, len);
		expect_eq(tally_record(t, buf + shift, len, 0), 0);
		expect_eq(fake_hist(t, "a", TALLY_TOTAL, 0)->count, shift);
	}
	tally_free(t);
}

static void names_end_and_what_follows_them_is_ignored(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	struct fake_task f;

	(void)state;
	fake_init(&f, 7, "same");
	fake_send(t, &f);
	fake_init(&f, 8, "same");
	memset(f.head.id.comm + 5, 'x', STAT_COMM_LEN - 5);
	fake_send(t, &f);
	expect_eq(tally_nr_rows(t), 1);
	fake_init(&f, 9, "");
	memset(f.head.id.comm, 'y', STAT_COMM_LEN);
	fake_send(t, &f);
	expect_eq(tally_nr_rows(t), 2);
	fake_row(t, "yyyyyyyyyyyyyyy");
	tally_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(malformed_task_records_are_refused),
		cmocka_unit_test(malformed_waking_and_outlier_records_are_refused),
		cmocka_unit_test(records_may_lie_at_any_address),
		cmocka_unit_test(names_end_and_what_follows_them_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
