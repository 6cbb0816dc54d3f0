/*
 * serve/exposition — writes metrics in one of three formats: Prometheus' text 0.0.4, OpenMetrics 1.0, and Prometheus' protobuf
 * messages, with native histograms, each behind its length.
 *
 * Families in any order, each once: begin, its values, end. Errors stick, as in base/pb_write: exposition_finish() reports them. The
 * buffer grows up to the cap and is kept from one page to the next. Values of labels are untrusted: they are escaped, and what is not UTF-8 is replaced.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/hist.h"
#include "base/pb_write.h"
#include "serve/accept.h"
#include "serve/metric.h"
#include "serve/sums.h"

#define EXPOSITION_BUCKETS_MAX (HIST_SLOTS + 1)
#define EXEMPLAR_CHARS_MAX     128U /* names and values of its labels together (OpenMetrics) */
#define EXEMPLAR_DUMP_LEN      80U /* what the others leave, with comm, tid and cpu at their longest */

struct metric_label {
	const char *name;
	const char *value;
};

struct metric_labels {
	const struct metric_label *items;
	size_t nr;
};

/* For all formats: as short as it can be read back, in the way of Go: "1e-06", "0.000512", "1.0". */
#define METRIC_NUMBER_LEN 32
char *metric_number(char out[METRIC_NUMBER_LEN], double value);

/* Where buckets end. */
struct bounds {
	uint32_t nr;
	uint32_t end[HIST_SLOTS]; /* of each: the first slot that is not in it */
	double le[HIST_SLOTS];
	char text[HIST_SLOTS][METRIC_NUMBER_LEN]; /* of le: to find the shortest takes long */
};

struct exemplar {
	double value;
	double unix_s;
	uint32_t tid;
	uint32_t cpu;
	char comm[STAT_COMM_LEN];
	char dump[EXEMPLAR_DUMP_LEN]; /* that shows it; "" = none */
};

struct metric_histogram {
	uint32_t nr;                           /* buckets, without that of +Inf */
	const double *le;                      /* ascending */
	const char (*text)[METRIC_NUMBER_LEN]; /* the same; NULL = it is made */
	const uint64_t *cum;                   /* so many are below each */
	uint64_t count;
	double sum;
	const struct exemplar *exemplar; /* NULL = none */
	const struct hist *native;       /* NULL = has none */
};

struct exposition {
	enum metrics_format format;
	struct pb out;
	struct pb family; /* protobuf only */
	const struct metric *metric;
};

void exposition_init(struct exposition *e, enum metrics_format format, size_t cap);
void exposition_done(struct exposition *e);
void exposition_clear(struct exposition *e); /* keeps memory */

void exposition_begin(struct exposition *e, const struct metric *m);
void exposition_value(struct exposition *e, const struct metric_labels *labels, double value);
void exposition_histogram(struct exposition *e, const struct metric_labels *labels,
                          const struct metric_histogram *h);
void exposition_end(struct exposition *e);
/* The page is whole: 0, or the first error. */
MUST_USE int exposition_finish(struct exposition *e);

/* The index of the bucket that holds a value, nr for that of +Inf. */
uint32_t histogram_bucket(const struct metric_histogram *h, double value);

/* Of durations: at every slot, or at few of them. */
void bounds_init(struct bounds *b, bool is_all);
/* Counts per bound, from slots. */
void bounds_sum(const struct bounds *b, const uint64_t *slots, uint64_t *cum);

/* serve/exposition_proto.c */
void proto_value(struct exposition *e, const struct metric_labels *labels, double value);
void proto_histogram(struct exposition *e, const struct metric_labels *labels,
                     const struct metric_histogram *h);
void proto_begin(struct exposition *e);
void proto_end(struct exposition *e);

/* Native histograms: buckets per power of two are 1 << NATIVE_SCHEMA. */
#define NATIVE_SCHEMA      3
#define NATIVE_ZERO_NS     1000U /* up to so long is the zero bucket: our first slot */
#define NATIVE_BUCKETS_MAX 256U
struct native_buckets {
	int32_t first; /* the number of the first one */
	uint32_t nr;
	uint64_t zero;
	uint64_t count[NATIVE_BUCKETS_MAX];
};
void native_buckets(const struct hist *h, struct native_buckets *out);
