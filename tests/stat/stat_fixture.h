/*
 * tests/stat/stat_fixture — rows of a tally by hand, for tests of reports and their rendering.
 *
 * Everything lives until stat_fixture_done(). Samples go into both views unless it says otherwise.
 */
#pragma once

#include "base/arena.h"
#include "base/diag.h"
#include "stat/report/stat_report.h"

#define FIXTURE_ROWS 64
#define FIXTURE_CPUS 8
#define FIXTURE_NOW  (100ULL * 1000000000)                  /* boot time of the report */
#define FIXTURE_WALL (1700000000ULL * 1000000000 + 5000000) /* 2023-11-14 22:13:20.005 UTC */

struct stat_fixture {
	struct arena *mem;
	struct tally_row rows[FIXTURE_ROWS];
	const struct tally_row *row_ptrs[FIXTURE_ROWS];
	struct tally_cpu cpus[FIXTURE_CPUS];
	const struct tally_cpu *cpu_ptrs[FIXTURE_CPUS];
	struct dsq_row dsqs[3];
	const struct dsq_row *dsq_ptrs[3];
	struct stat_report_in in;
	struct diag diag;
	struct stat_report report;
};

void stat_fixture_init(struct stat_fixture *f, enum tally_by by, uint32_t groups);
void stat_fixture_done(struct stat_fixture *f);

/* The next row of in.rows; one task stands behind it. */
struct tally_row *fixture_row(struct stat_fixture *f, const char *comm, uint32_t tid);
void fixture_sample(struct stat_fixture *f, struct tally_row *row, uint32_t metric, uint64_t us,
                    uint64_t count);
void fixture_total_sample(struct stat_fixture *f, struct tally_row *row, uint32_t metric,
                          uint64_t us, uint64_t count);
void fixture_depth(struct stat_fixture *f, struct tally_row *row, uint32_t depth, uint64_t count);
/* which: 0 all, 1 cross-LLC, 2 cross-node */
void fixture_migrations(struct stat_fixture *f, struct tally_row *row, uint32_t which,
                        uint64_t per_s, uint64_t count);
void fixture_counter(struct stat_fixture *f, struct tally_row *row, uint32_t index, uint64_t per_s,
                     uint64_t count);
void fixture_cpu(struct stat_fixture *f, uint32_t cpu, uint64_t delay_us, uint64_t idle_us,
                 uint64_t count);

/* Three queues, in both views: 0x64 by vtime, 0x65 without order, the local ones; two tasks that came from them. */
void fixture_dsqs(struct stat_fixture *f);

/* Builds f->report and fails the test if that fails. */
void fixture_build(struct stat_fixture *f);
const struct stat_table *fixture_table(const struct stat_fixture *f, enum stat_table_id id);

/* A small machine on which every table has something to show; kept by tid. */
void fixture_machine(struct stat_fixture *f, enum tally_by display, uint32_t groups);
#define FIXTURE_ALL_GROUPS 0x7f
