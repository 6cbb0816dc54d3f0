#include "stat/stat_schedstat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "sys/proc/schedstat.h"

static const char path[] = "/proc/schedstat";

struct stat_schedstat_source {
	struct schedstat_switch was;
	struct schedstat *at_start;
	struct schedstat *at_last; /* end of the last interval */
	struct schedstat_totals totals;
	struct stat_schedstat_in shown;
	struct stat_domain *domains;
};

int stat_schedstat_open(struct diag *d, struct stat_schedstat_source **out)
{
	struct stat_schedstat_source *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = schedstat_enable(SCHEDSTAT_SWITCH, d, &s->was);
	if (!err)
		err = schedstat_read(path, d, &s->at_start);
	if (!err)
		err = schedstat_read(path, d, &s->at_last);
	if (err) {
		stat_schedstat_close(s);
		return err;
	}
	*out = s;
	return 0;
}

static void forget_shown(struct stat_schedstat_source *s)
{
	for (size_t i = 0; i < s->shown.nr_domains; i++)
		free((void *)s->domains[i].fields.items);
	free(s->domains);
	s->domains = NULL;
	schedstat_totals_done(&s->totals);
	memset(&s->shown, 0, sizeof(s->shown));
	memset(&s->totals, 0, sizeof(s->totals));
}

void stat_schedstat_close(struct stat_schedstat_source *s)
{
	if (!s)
		return;
	if (schedstat_restore(SCHEDSTAT_SWITCH, &s->was, NULL))
		log_warn("the kernel's schedstats could not be switched off again: write 0 to %s",
		         SCHEDSTAT_SWITCH);
	forget_shown(s);
	schedstat_free(s->at_start);
	schedstat_free(s->at_last);
	free(s);
}

/* Fields that this kernel counts, by name. */
static int list_fields(const struct schedstat_domain *from, struct stat_pairs *out)
{
	struct stat_pair *items = calloc(SCHEDSTAT_DOMAIN_FIELDS, sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (uint32_t i = 0; i < SCHEDSTAT_DOMAIN_FIELDS; i++) {
		if (!(from->present & (1ULL << i)))
			continue;
		items[out->nr].name = schedstat_domain_field_name(i);
		items[out->nr++].value = from->values[i];
	}
	out->items = items;
	return 0;
}

static int list_domains(struct stat_schedstat_source *s)
{
	s->domains = calloc(s->totals.nr_names ? s->totals.nr_names : 1, sizeof(*s->domains));
	if (!s->domains)
		return -ENOMEM;
	s->shown.domains = s->domains;
	for (uint32_t i = 0; i < s->totals.nr_names; i++) {
		struct stat_domain *domain = &s->domains[s->shown.nr_domains];

		domain->name = s->totals.by_name[i].name;
		if (list_fields(&s->totals.by_name[i], &domain->fields))
			return -ENOMEM;
		s->shown.nr_domains++;
	}
	return 0;
}

static void fill_cpu(const struct schedstat_cpu *from, struct stat_sched_cpu *out)
{
	/* In the order of the report, which leaves out the field that is always 0. */
	static const uint32_t fields[] = {
		SCHEDSTAT_YLD_COUNT,  SCHEDSTAT_SCHED_COUNT, SCHEDSTAT_SCHED_GOIDLE,
		SCHEDSTAT_TTWU_COUNT, SCHEDSTAT_TTWU_LOCAL,  SCHEDSTAT_RQ_CPU_TIME,
		SCHEDSTAT_RUN_DELAY,  SCHEDSTAT_PCOUNT,
	};
	uint64_t *to[] = {
		&out->yld_count,  &out->sched_count,    &out->sched_goidle, &out->ttwu_count,
		&out->ttwu_local, &out->rq_cpu_time_ns, &out->run_delay_ns, &out->pcount,
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		*to[i] = from->values[fields[i]];
		if (!(from->present & (1U << fields[i])))
			out->absent |= 1U << i;
	}
}

int stat_schedstat_since(struct stat_schedstat_source *s, enum tally_view_kind view, struct diag *d,
                         const struct stat_schedstat_in **out)
{
	SCOPED(scoped_schedstat) struct schedstat *now = NULL;
	SCOPED(scoped_schedstat) struct schedstat *delta = NULL;
	int err = schedstat_read(path, d, &now);

	forget_shown(s);
	if (!err)
		err = schedstat_delta(view == TALLY_TOTAL ? s->at_start : s->at_last, now, d,
		                      &delta);
	if (!err)
		err = schedstat_sum(delta, &s->totals);
	if (!err)
		err = list_domains(s);
	if (err)
		return err;
	fill_cpu(&s->totals.cpu, &s->shown.cpu);
	schedstat_free(s->at_last);
	s->at_last = TAKE_PTR(now);
	*out = &s->shown;
	return 0;
}
