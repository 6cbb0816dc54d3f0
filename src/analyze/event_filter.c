#include "analyze/event_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/facts.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "base/match.h"

#define MAX_WORDS 4096U

struct number_list {
	uint32_t *at;
	uint32_t nr;
};

struct event_filter {
	char **types;
	uint32_t nr_types;
	struct number_list cpus, pids, tgids;
	struct match *comm; /* NULL = none */
	bool has_min_latency;
	double min_latency_us;
	double sample_rate;
};

void event_filter_free(struct event_filter *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; f->types && i < f->nr_types; i++)
		free(f->types[i]);
	free(f->types);
	free(f->cpus.at);
	free(f->pids.at);
	free(f->tgids.at);
	match_free(f->comm);
	free(f);
}

DEFINE_SCOPED(event_filter, event_filter_free)

static int copy_list(struct number_list *to, const uint32_t *from, uint32_t nr)
{
	to->at = calloc(nr + 1, sizeof(*to->at));
	if (!to->at)
		return -ENOMEM;
	if (nr)
		memcpy(to->at, from, nr * sizeof(*from));
	to->nr = nr;
	return 0;
}

static int copy_types(struct event_filter *f, const struct event_filter_cfg *cfg)
{
	f->types = calloc(cfg->nr_event_types + 1, sizeof(*f->types));
	if (!f->types)
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg->nr_event_types; i++) {
		f->types[i] = strdup(cfg->event_types[i]);
		if (!f->types[i])
			return -ENOMEM;
		f->nr_types++;
	}
	return 0;
}

static int check(const struct event_filter_cfg *cfg, struct diag *d)
{
	if (!(cfg->sample_rate >= 0 && cfg->sample_rate <= 1)) /* NaN is neither */
		return diag_set(d, -EINVAL, "1 is all of them",
		                "the sample rate is not from 0 to 1");
	if (cfg->nr_event_types > MAX_WORDS || cfg->nr_cpus > MAX_WORDS ||
	    cfg->nr_pids > MAX_WORDS || cfg->nr_tgids > MAX_WORDS)
		return diag_set(d, -E2BIG, "ask for fewer", "a list of the filter is too long");
	return 0;
}

int event_filter_new(const struct event_filter_cfg *cfg, struct diag *d, struct event_filter **out)
{
	SCOPED(scoped_event_filter) struct event_filter *f = NULL;
	int err = check(cfg, d);

	if (err)
		return err;
	f = calloc(1, sizeof(*f));
	if (!f)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	f->has_min_latency = cfg->has_min_latency;
	f->min_latency_us = cfg->min_latency_us;
	f->sample_rate = cfg->sample_rate;
	err = copy_types(f, cfg);
	if (!err)
		err = copy_list(&f->cpus, cfg->cpus, cfg->nr_cpus);
	if (!err)
		err = copy_list(&f->pids, cfg->pids, cfg->nr_pids);
	if (!err)
		err = copy_list(&f->tgids, cfg->tgids, cfg->nr_tgids);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	if (cfg->comm_regex)
		err = match_new(&cfg->comm_regex, 1, d, &f->comm);
	if (err)
		return err;
	*out = TAKE_PTR(f);
	return 0;
}

/* The first of the names that the event has a value for. */
static const struct report_node *first_of(const struct report_node *event,
                                          const char *const names[3])
{
	const struct report_node *f;

	for (int i = 0; i < 3 && names[i]; i++) {
		f = report_at(event, names[i]);
		if (f && f->type != REPORT_NULL)
			return f;
	}
	return NULL;
}

static bool is_listed(const struct number_list *l, const struct report_node *event,
                      const char *const names[3])
{
	const struct report_node *f = l->nr ? first_of(event, names) : NULL;

	if (!l->nr)
		return true;
	for (uint32_t i = 0; f && f->type == REPORT_U64 && i < l->nr; i++)
		if (f->u64 == l->at[i])
			return true;
	return false;
}

static bool has_type(const struct event_filter *f, const struct report_node *event)
{
	const struct report_node *type = report_at(event, "type");

	if (!f->nr_types)
		return true;
	for (uint32_t i = 0; type && type->type == REPORT_STRING && i < f->nr_types; i++)
		if (strcmp(type->text, f->types[i]) == 0)
			return true;
	return false;
}

static bool has_comm(const struct event_filter *f, const struct report_node *event)
{
	static const char *const names[3] = { "comm", "next_comm", "prev_comm" };
	const struct report_node *comm = f->comm ? first_of(event, names) : NULL;

	if (!f->comm)
		return true;
	return comm && comm->type == REPORT_STRING &&
	       match_any(f->comm, comm->text, strlen(comm->text));
}

static bool has_latency(const struct event_filter *f, const struct report_node *event)
{
	static const char *const names[3] = { "next_dsq_lat_us", "latency_us" };
	double us;

	if (!f->has_min_latency)
		return true;
	return report_number(first_of(event, names), &us) && us >= f->min_latency_us;
}

/* Numbers are spread evenly over the unit interval: the top bits of a multiplicative hash. */
static bool is_sampled(double rate, uint64_t number)
{
	return (double)(number * 0x9e3779b97f4a7c15ULL >> 11) / (double)(1ULL << 53) < rate;
}

bool event_filter_passes(const struct event_filter *f, const struct report_node *event,
                         uint64_t number)
{
	static const char *const cpu[3] = { "cpu" }, *const tgid[3] = { "tgid", "next_tgid" };
	static const char *const pid[3] = { "pid", "next_pid", "prev_pid" };

	return has_type(f, event) && is_listed(&f->cpus, event, cpu) &&
	       is_listed(&f->pids, event, pid) && is_listed(&f->tgids, event, tgid) &&
	       has_latency(f, event) && has_comm(f, event) && is_sampled(f->sample_rate, number);
}

uint64_t event_filter_nr_aborted(const struct event_filter *f)
{
	return f ? match_nr_aborted(f->comm) : 0;
}
