/* report/compare/compare_priv — what the files of report/compare share. */
#pragma once

#include "analyze/diff_sets.h"
#include "base/hist.h"
#include "report/compare/compare.h"

#define COMPARE_BUCKETS   64 /* of time, at most */
#define COMPARE_MAX_BANDS 64
#define COMPARE_SENTENCE  512

/* What a reader has to know of a recording before numbers are compared. Texts are NULL where it is unknown. */
struct compare_facts {
	char *file, *producer, *release, *machine, *scheduler, *filter, *incomplete;
	uint64_t start_ns;    /* on its own clock */
	uint64_t duration_ns; /* of the recording */
	uint64_t span_ns;     /* of the time asked for */
	uint64_t covered_ns;  /* of that, without holes */
	uint64_t lost;
	uint32_t nr_cpus, nr_llcs, nr_nodes; /* 0 = unknown */
	bool has_scx;
	bool has_waking; /* latencies begin there, and not at the wakeup */
};

struct compare_recording {
	struct compare_facts facts;
	struct diff_names names;
};

/* Waits of woken and new tasks of one side, by the time at which they begin, after the start, and by how long they were. */
struct compare_map {
	uint64_t counts[COMPARE_BUCKETS][COMPARE_MAX_BANDS];
	uint64_t covered_ns
		[COMPARE_BUCKETS]; /* time of all recordings in the bucket; 0 = none was that long */
	uint32_t nr_buckets;
};

struct compare_heat {
	struct hist_range bands[COMPARE_MAX_BANDS]; /* slots of base/hist, a few each */
	uint8_t band_of[HIST_SLOTS];
	uint32_t nr_bands;
	uint64_t width_ns; /* of a bucket */
	struct compare_map maps[COMPARE_SIDES];
};

/* Something that should be the same on both sides. */
struct compare_difference {
	const char *what;
	const char *meaning; /* what it does to the numbers */
	char texts[COMPARE_SIDES][128];
};

#define COMPARE_MAX_DIFFERENCES 13

struct compare_list {
	struct compare_recording *at;
	uint32_t nr, room;
};

struct report_compare {
	struct compare_list sides[COMPARE_SIDES];
	struct compare_heat heat;
	struct compare_difference differences[COMPARE_MAX_DIFFERENCES];
	uint32_t nr_differences;
	struct diff_sets result;
};

/* report/compare/compare_recording: sums of one; all that it holds is its own. -ENOMEM or as scope_init(). */
MUST_USE int compare_recording_fill(struct compare_recording *r, const struct source *s,
                                    const struct pass_args *args, struct diag *d);
void compare_recording_done(struct compare_recording *r);
/* report/compare/compare_heat */
void compare_heat_init(struct compare_heat *h);
MUST_USE int compare_heat_add(struct compare_heat *h, enum compare_side side,
                              const struct source *s, const struct pass_args *args, struct diag *d);
/* Buckets that either side has. */
uint32_t compare_heat_buckets(const struct compare_heat *h);
/* The first band that has a wait on either side, and the number from there to the last one; false if there is none. */
bool compare_heat_range(const struct compare_heat *h, uint32_t *first, uint32_t *nr);
/* Waits per second; negative where nothing was recorded. */
double compare_heat_rate(const struct compare_map *m, uint32_t bucket, uint32_t band);
/* The same of all of the time, of one band. */
double compare_heat_band_rate(const struct compare_map *m, uint32_t band);
uint64_t compare_heat_band_count(const struct compare_map *m, uint32_t band);

/* report/compare/compare_facts: what differs between the sides. */
void compare_facts_fill(struct report_compare *c);

/* report/compare/compare_words: sentences. They hold names of the recording, which are hostile. */
char *compare_say_change(const struct diff_change *change, char *dst, size_t size);
char *compare_say_summary(const struct report_compare *c, char *dst, size_t size);
/* How it was compared. */
const char *compare_say_method(const struct report_compare *c);
/* For tables: "1.2ms", "3.4 %", "12/s" */
char *compare_say_short(enum diff_metric metric, double value, char *dst, size_t size);
/* "better", "no change proved", ... */
const char *compare_say_verdict(const struct diff_change *change);

/* report/compare/compare_svg: the pictures. */
void compare_svg_heat(const struct report_compare *c, FILE *out);
void compare_svg_histogram(const struct report_compare *c, FILE *out);
