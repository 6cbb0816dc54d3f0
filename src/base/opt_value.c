#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/opt.h"
#include "base/opt_table.h"
#include "base/text.h"

/* Longest first, so that the shortest exact form of a time is found by searching from the top. */
static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "h", 3600000000000 }, { "m", 60000000000 }, { "s", 1000000000 },
	{ "ms", 1000000 },      { "us", 1000 },       { "ns", 1 },
};
#define NR_UNITS (sizeof(units) / sizeof(units[0]))

const char *opt_shown(char buf[OPT_SHOWN], const char *word)
{
	const size_t most = OPT_SHOWN - sizeof("...");
	size_t len;

	text_printable(buf, most + 1, word, SIZE_MAX);
	len = strlen(buf);
	if (strlen(word) > most)
		snprintf(buf + len, OPT_SHOWN - len, "...");
	return buf;
}

const char *opt_duration_text(char *buf, size_t size, uint64_t ns)
{
	size_t i = 0;

	while (i < NR_UNITS - 1 && ns % units[i].ns)
		i++;
	if (!ns)
		i = 2; /* nothing is exact in every unit: say 0s */
	snprintf(buf, size, "%" PRIu64 "%s", ns / units[i].ns, units[i].name);
	return buf;
}

const char *opt_default_text(const struct opt *o, const void *defaults, char *buf, size_t size)
{
	const void *field = defaults ? (const char *)defaults + o->offset : NULL;
	const char *text = NULL;

	buf[0] = '\0';
	if (!field || o == &opt_help_option)
		return buf;
	if (o->type == OPT_TYPE_U64 && *(const uint64_t *)field)
		snprintf(buf, size, "%" PRIu64, *(const uint64_t *)field);
	else if (o->type == OPT_TYPE_DURATION && *(const uint64_t *)field)
		opt_duration_text(buf, size, *(const uint64_t *)field);
	else if (o->type == OPT_TYPE_CHOICE && *(const int *)field >= 0)
		text = o->choices[*(const int *)field];
	else if (o->type == OPT_TYPE_STRING)
		text = *(const char *const *)field;
	if (text)
		snprintf(buf, size, "%s", text);
	return buf;
}

/* Reads digits up to the first other byte; false if there is none or the number does not fit. */
static bool read_digits(const char **s, uint64_t *out)
{
	const char *p = *s;
	uint64_t value = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return false;
	if (p == *s)
		return false;
	*s = p;
	*out = value;
	return true;
}

/* The unit that s names as a whole; 0 if it is none. */
static uint64_t unit_of(const char *s, uint64_t bare_ns)
{
	size_t i;

	if (!*s)
		return bare_ns;
	for (i = 0; i < NR_UNITS; i++)
		if (strcmp(s, units[i].name) == 0)
			return units[i].ns;
	return 0;
}

/* Adds the digits behind the point exactly; false if they are finer than a nanosecond. */
static bool add_fraction(const char *digits, const char *end, uint64_t unit_ns, uint64_t *ns)
{
	for (; digits < end; digits++) {
		if (unit_ns % 10 && *digits != '0')
			return false;
		if (unit_ns % 10)
			continue;
		unit_ns /= 10;
		if (__builtin_add_overflow(*ns, (uint64_t)(*digits - '0') * unit_ns, ns))
			return false;
	}
	return true;
}

bool opt_read_duration(const char *s, uint64_t bare_ns, uint64_t *out)
{
	const char *fraction = NULL, *fraction_end = NULL;
	uint64_t whole, unit_ns, ns;

	if (!read_digits(&s, &whole))
		return false;
	if (*s == '.') {
		fraction = s + 1;
		fraction_end = fraction + strspn(fraction, "0123456789");
		if (fraction_end == fraction)
			return false;
		s = fraction_end;
	}
	unit_ns = unit_of(s, bare_ns);
	if (!unit_ns || __builtin_mul_overflow(whole, unit_ns, &ns) ||
	    !add_fraction(fraction, fraction_end, unit_ns, &ns))
		return false;
	*out = ns;
	return true;
}

static int store_u64(const struct opt *o, const char *name, const char *value, uint64_t *field,
                     struct diag *d)
{
	const char *rest = value;
	char buf[OPT_SHOWN];
	uint64_t number;

	opt_shown(buf, value);
	if (!read_digits(&rest, &number) || *rest)
		return diag_set(d, -EINVAL, NULL, "option '%s': '%s' is not a number", name, buf);
	if (number < o->min)
		return diag_set(d, -EINVAL, NULL,
		                "option '%s': %s is too small, the least is %" PRIu64, name, buf,
		                o->min);
	if (number > o->max)
		return diag_set(d, -EINVAL, NULL,
		                "option '%s': %s is too large, the most is %" PRIu64, name, buf,
		                o->max);
	*field = number;
	return 0;
}

/* "-d 5" was meant as seconds more often than not, where a number alone is milliseconds. */
static const char *too_short_hint(const struct opt *o, bool has_unit, const char *value, char *buf,
                                  size_t size)
{
	char unit[32];

	if (has_unit || o->unit_ns >= 1000000000ULL)
		return NULL;
	snprintf(buf, size, "a number alone counts units of %s here; write %.20ss for seconds",
	         opt_duration_text(unit, sizeof(unit), o->unit_ns), value);
	return buf;
}

static int store_duration(const struct opt *o, const char *name, const char *value, uint64_t *field,
                          struct diag *d)
{
	bool has_unit = *value && !isdigit((unsigned char)value[strlen(value) - 1]);
	char buf[OPT_SHOWN], bound[32], meant[32], hint[96];
	uint64_t ns;

	opt_shown(buf, value);
	if (!opt_read_duration(value, o->unit_ns, &ns))
		return diag_set(d, -EINVAL, "write it as 10s, 1.5ms, 250us, 100ns, 2m or 1h",
		                "option '%s': '%s' is not a time", name, buf);
	if (ns < o->min)
		return diag_set(d, -EINVAL, too_short_hint(o, has_unit, value, hint, sizeof(hint)),
		                "option '%s': %s%s%s%s is too short, the least is %s", name, buf,
		                has_unit ? "" : " (",
		                has_unit ? "" : opt_duration_text(meant, sizeof(meant), ns),
		                has_unit ? "" : ")",
		                opt_duration_text(bound, sizeof(bound), o->min));
	if (ns > o->max)
		return diag_set(d, -EINVAL, NULL, "option '%s': %s is too long, the most is %s",
		                name, buf, opt_duration_text(bound, sizeof(bound), o->max));
	*field = ns;
	return 0;
}

static int refuse_choice(const struct opt *o, const char *name, const char *value, struct diag *d)
{
	const char *best = opt_nearest(value, o->choices);
	char buf[OPT_SHOWN], hint[OPT_SHOWN + 32] = "", all[160] = "";
	const char *const *choice;
	size_t used = 0;

	for (choice = o->choices; *choice && used < sizeof(all); choice++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", used ? ", " : "",
		                         *choice);
	if (best)
		snprintf(hint, sizeof(hint), "did you mean '%s'?", best);
	return diag_set(d, -EINVAL, hint, "option '%s': '%s' is none of %s", name,
	                opt_shown(buf, value), all);
}

static int store_choice(const struct opt *o, const char *name, const char *value, int *field,
                        struct diag *d)
{
	int i;

	for (i = 0; o->choices[i]; i++) {
		if (strcmp(o->choices[i], value) == 0) {
			*field = i;
			return 0;
		}
	}
	return refuse_choice(o, name, value, d);
}

static int store_value(const struct opt *o, const char *name, const char *value, void *field,
                       struct diag *d)
{
	switch (o->type) {
	case OPT_TYPE_FLAG:
		*(bool *)field = true;
		return 0;
	case OPT_TYPE_U64:
		return store_u64(o, name, value, field, d);
	case OPT_TYPE_DURATION:
		return store_duration(o, name, value, field, d);
	case OPT_TYPE_STRING:
		*(const char **)field = value;
		return 0;
	case OPT_TYPE_LIST:
		return opt_list_add(field, value, d);
	case OPT_TYPE_CHOICE:
		return store_choice(o, name, value, field, d);
	case OPT_TYPE_END:
		break;
	}
	return diag_set(d, -EINVAL, NULL, "option '%s' has no type", name);
}

int opt_store(const struct opt *o, const char *name, const char *value, void *cfg, struct diag *d)
{
	int err = store_value(o, name, value, (char *)cfg + o->offset, d);

	if (!err && o->has_given)
		*(bool *)((char *)cfg + o->given_offset) = true;
	return err;
}
