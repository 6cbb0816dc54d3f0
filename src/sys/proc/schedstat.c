#include "sys/proc/schedstat.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/text.h"
#include "sys/cpulist.h"
#include "sys/rights/broker.h"

#define FILE_CAP          (64UL << 20)
#define MAX_DOMAINS       262144
#define MAX_LEVEL         64
#define FIRST_VERSION     15
#define LAST_VERSION      17
#define SPLIT_IMBALANCE   17 /* the version with four kinds of imbalance and named domains */
#define NOT_IDLE_IS_FIRST 16

_Static_assert(SCHEDSTAT_DOMAIN_FIELDS <= 64, "a bit of \"present\" per field");

#define BALANCE_NAMES(idle)                                                                      \
	"lb_count_" idle, "lb_balance_" idle, "lb_failed_" idle, "lb_imbalance_" idle,           \
		"lb_imbalance_load_" idle, "lb_imbalance_util_" idle, "lb_imbalance_task_" idle, \
		"lb_imbalance_misfit_" idle, "lb_gained_" idle, "lb_hot_gained_" idle,           \
		"lb_nobusyq_" idle, "lb_nobusyg_" idle

static const char *const domain_names[] = {
	BALANCE_NAMES("idle"),
	BALANCE_NAMES("not_idle"),
	BALANCE_NAMES("newly_idle"),
	"alb_count",
	"alb_failed",
	"alb_pushed",
	"sbe_cnt",
	"sbe_balanced",
	"sbe_pushed",
	"sbf_cnt",
	"sbf_balanced",
	"sbf_pushed",
	"ttwu_wake_remote",
	"ttwu_move_affine",
	"ttwu_move_balance",
};

_Static_assert(sizeof(domain_names) / sizeof(domain_names[0]) == SCHEDSTAT_DOMAIN_FIELDS,
               "a name each");

const char *schedstat_domain_field_name(uint32_t field)
{
	return field < SCHEDSTAT_DOMAIN_FIELDS ? domain_names[field] : NULL;
}

void schedstat_free(struct schedstat *s)
{
	if (!s)
		return;
	free(s->cpus);
	free(s->domains);
	free(s);
}

/* Text is cut into words in place of copies: none of it needs to end with a NUL. */
struct schedstat_word {
	const char *s;
	size_t len;
};

struct schedstat_parser {
	const char *at, *end;
	uint32_t cpu_capacity, domain_capacity;
	struct schedstat *stat;
	struct diag *d;
	/* Number of each column after the mask of a domain line. */
	uint8_t columns[SCHEDSTAT_DOMAIN_FIELDS];
	uint32_t nr_columns;
};

/* The next word of this line; an empty one at its end. */
static struct schedstat_word take_word(struct schedstat_parser *p)
{
	struct schedstat_word w;

	while (p->at < p->end && (*p->at == ' ' || *p->at == '\t'))
		p->at++;
	w = (struct schedstat_word){ p->at, 0 };
	while (p->at < p->end && *p->at != ' ' && *p->at != '\t' && *p->at != '\n')
		p->at++;
	w.len = (size_t)(p->at - w.s);
	return w;
}

static void skip_line(struct schedstat_parser *p)
{
	const char *newline = memchr(p->at, '\n', (size_t)(p->end - p->at));

	p->at = newline ? newline + 1 : p->end;
}

static bool word_is(struct schedstat_word w, const char *s)
{
	return w.len == strlen(s) && !memcmp(w.s, s, w.len);
}

/* Decimal digits only, after an optional prefix. */
static bool word_number(struct schedstat_word w, const char *prefix, uint64_t *out)
{
	size_t skip = strlen(prefix);
	uint64_t value = 0;

	if (w.len <= skip || memcmp(w.s, prefix, skip) != 0)
		return false;
	for (size_t i = skip; i < w.len; i++) {
		if (w.s[i] < '0' || w.s[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(w.s[i] - '0'), &value))
			return false;
	}
	*out = value;
	return true;
}

/* CPU masks are hex digits in groups with commas between; no name of a domain is made of those alone. */
static bool word_is_mask(struct schedstat_word w)
{
	for (size_t i = 0; i < w.len; i++)
		if (!isxdigit((unsigned char)w.s[i]) && w.s[i] != ',')
			return false;
	return w.len > 0;
}

static void lay_out_columns(struct schedstat_parser *p)
{
	static const uint8_t orders[][SCHEDSTAT_IDLE_TYPES] = {
		{ SCHEDSTAT_IDLE, SCHEDSTAT_NOT_IDLE, SCHEDSTAT_NEWLY_IDLE },
		{ SCHEDSTAT_NOT_IDLE, SCHEDSTAT_IDLE, SCHEDSTAT_NEWLY_IDLE },
	};
	const uint8_t *order = orders[p->stat->version >= NOT_IDLE_IS_FIRST];
	bool is_split = p->stat->version >= SPLIT_IMBALANCE;

	for (uint32_t i = 0; i < SCHEDSTAT_IDLE_TYPES; i++) {
		for (uint32_t field = 0; field < SCHEDSTAT_BALANCE_FIELDS; field++) {
			bool is_part = field >= SCHEDSTAT_LB_IMBALANCE_LOAD &&
			               field <= SCHEDSTAT_LB_IMBALANCE_MISFIT;

			if (is_split ? field == SCHEDSTAT_LB_IMBALANCE : is_part)
				continue;
			p->columns[p->nr_columns++] = (uint8_t)SCHEDSTAT_LB(order[i], field);
		}
	}
	for (uint32_t field = 0; field < SCHEDSTAT_COMMON_FIELDS; field++)
		p->columns[p->nr_columns++] = (uint8_t)SCHEDSTAT_COMMON(field);
}

static int take_version(struct schedstat_parser *p)
{
	uint64_t version;

	if (!word_is(take_word(p), "version") || !word_number(take_word(p), "", &version))
		return diag_set(p->d, -EINVAL, NULL,
		                "the scheduler statistics do not start with their version");
	if (version < FIRST_VERSION || version > LAST_VERSION)
		return diag_set(
			p->d, -ENOTSUP, "use a newer schedscope",
			"version %llu of the scheduler statistics is not known, only %d to %d",
			(unsigned long long)version, FIRST_VERSION, LAST_VERSION);
	p->stat->version = (int)version;
	lay_out_columns(p);
	skip_line(p);
	return 0;
}

static int take_cpu(struct schedstat_parser *p, uint64_t nr)
{
	struct schedstat *s = p->stat;
	struct schedstat_cpu *cpu;
	int err;

	if (nr >= CPULIST_MAX || (s->nr_cpus && nr <= s->cpus[s->nr_cpus - 1].cpu))
		return diag_set(p->d, -EINVAL, NULL,
		                "the scheduler statistics name CPU %llu out of order",
		                (unsigned long long)nr);
	err = GROW(s->cpus, p->cpu_capacity, s->nr_cpus);
	if (err)
		return diag_set(p->d, err, NULL, "cannot hold the scheduler statistics");
	cpu = &s->cpus[s->nr_cpus++];
	*cpu = (struct schedstat_cpu){ .cpu = (uint32_t)nr, .first_domain = s->nr_domains };
	for (uint32_t i = 0; i < SCHEDSTAT_CPU_FIELDS; i++)
		if (word_number(take_word(p), "", &cpu->values[i]))
			cpu->present |= 1U << i;
	return 0;
}

static int take_domain(struct schedstat_parser *p, uint64_t level)
{
	struct schedstat *s = p->stat;
	struct schedstat_word w = take_word(p);
	struct schedstat_domain *domain;
	int err;

	if (!s->nr_cpus || level >= MAX_LEVEL)
		return diag_set(p->d, -EINVAL, NULL,
		                "the scheduler statistics have a domain %llu out of place",
		                (unsigned long long)level);
	err = s->nr_domains == MAX_DOMAINS ? -E2BIG
	                                   : GROW(s->domains, p->domain_capacity, s->nr_domains);
	if (err)
		return diag_set(p->d, err, NULL, "cannot hold the scheduler statistics");
	domain = &s->domains[s->nr_domains++];
	*domain = (struct schedstat_domain){ .level = (uint32_t)level };
	s->cpus[s->nr_cpus - 1].nr_domains++;
	if (w.len && !word_is_mask(w)) {
		text_printable(domain->name, sizeof(domain->name), w.s, w.len);
		take_word(p);
	} else {
		snprintf(domain->name, sizeof(domain->name), "domain%u", domain->level);
	}
	for (uint32_t i = 0; i < p->nr_columns; i++)
		if (word_number(take_word(p), "", &domain->values[p->columns[i]]))
			domain->present |= 1ULL << p->columns[i];
	return 0;
}

int schedstat_parse(const char *text, size_t len, struct diag *d, struct schedstat **out)
{
	SCOPED(scoped_schedstat) struct schedstat *s = calloc(1, sizeof(*s));
	struct schedstat_parser p = { .at = text, .end = text + len, .stat = s, .d = d };
	int err;

	if (!s)
		return diag_set(d, -ENOMEM, NULL, "cannot hold the scheduler statistics");
	err = take_version(&p);
	for (; !err && p.at < p.end; skip_line(&p)) {
		struct schedstat_word w = take_word(&p);
		uint64_t nr;

		if (word_number(w, "cpu", &nr))
			err = take_cpu(&p, nr);
		else if (word_number(w, "domain", &nr))
			err = take_domain(&p, nr);
	}
	if (err)
		return err;
	*out = TAKE_PTR(s);
	return 0;
}

int schedstat_read(const char *path, struct diag *d, struct schedstat **out)
{
	SCOPED(scoped_free) char *text = NULL;
	int err = text_read_file(path, FILE_CAP, &text);

	if (err)
		return diag_set(d, err,
		                err == -ENOENT ? "this kernel was built without CONFIG_SCHEDSTATS"
		                               : NULL,
		                "cannot read '%s'", path);
	return schedstat_parse(text, strlen(text), d, out);
}

int schedstat_switch_to(const char *path, bool is_on)
{
	SCOPED(scoped_close) int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0 || write(fd, is_on ? "1\n" : "0\n", 2) < 0)
		return -errno;
	return 0;
}

/* The kernel's own is switched back when the right to do so has been given up. */
static int write_switch(const char *path, bool is_on)
{
	return strcmp(path, SCHEDSTAT_SWITCH) == 0 ? broker_schedstat(is_on)
	                                           : schedstat_switch_to(path, is_on);
}

int schedstat_enable(const char *path, struct diag *d, struct schedstat_switch *out)
{
	SCOPED(scoped_free) char *text = NULL;
	bool is_off;
	int err = text_read_file(path, 64, &text);

	if (err)
		return diag_set(d, err,
		                err == -ENOENT ? "this kernel was built without CONFIG_SCHEDSTATS"
		                               : NULL,
		                "cannot read '%s'", path);
	text_chomp(text);
	is_off = !strcmp(text, "0");
	err = is_off ? write_switch(path, true) : 0;
	if (err)
		return diag_set(d, err, "run as root, or: sysctl kernel.sched_schedstats=1",
		                "cannot switch the scheduler statistics on");
	out->is_changed = is_off;
	return 0;
}

int schedstat_restore(const char *path, struct schedstat_switch *sw, struct diag *d)
{
	int err = sw->is_changed ? write_switch(path, false) : 0;

	if (err)
		return diag_set(d, err, "sysctl kernel.sched_schedstats=0",
		                "cannot switch the scheduler statistics off again");
	sw->is_changed = false;
	return 0;
}
