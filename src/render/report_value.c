#include "render/report_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define HIGH_BIT (1ULL << 63)

static bool ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), tail = strlen(end);

	return len >= tail && !strcmp(s + len - tail, end);
}

bool report_is_moment(const char *key)
{
	if (key && (!strcmp(key, "start_time_ns") || !strcmp(key, "end_time_ns")))
		return true;
	return key &&
	       (ends_with(key, "timestamp") || ends_with(key, "timestamp_ns") ||
	        ends_with(key, "_ts") || ends_with(key, "seen_ns") || ends_with(key, "born_ns") ||
	        ends_with(key, "at_ns") || ends_with(key, "from_ns") || ends_with(key, "to_ns") ||
	        ends_with(key, "time_ns_abs"));
}

static bool is_percent(const char *key)
{
	return key && (ends_with(key, "percent") || ends_with(key, "_pct") ||
	               ends_with(key, "percentage") || !strncmp(key, "percent_", 8));
}

bool report_is_scalar(const struct report_node *node)
{
	return node->type != REPORT_ARRAY && node->type != REPORT_OBJECT;
}

bool report_is_number(const struct report_node *node)
{
	return node && (node->type == REPORT_U64 || node->type == REPORT_I64 ||
	                node->type == REPORT_DOUBLE || node->type == REPORT_NULL);
}

bool report_is_rows(const struct report_node *node)
{
	return node->type == REPORT_ARRAY && node->first && node->first->type == REPORT_OBJECT;
}

/* What is measured in the unit of the object's metric. */
static bool is_measure(const char *key)
{
	static const char *const keys[] = {
		"value", "lower_bound", "upper_bound", "median",  "q1",
		"q3",    "iqr",         "mean",        "std_dev", "mad"
	};

	for (size_t i = 0; key && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

/* Of an object with percentiles: whether it is named for a time. */
static bool is_time_name(const char *name)
{
	return name &&
	       (strstr(name, "latency") || strstr(name, "delay") || strstr(name, "duration") ||
	        ends_with(name, "_ns") || ends_with(name, "percentiles"));
}

static bool is_percentile(const char *key)
{
	static const char *const keys[] = { "min", "max", "mean", "median", "p95", "p99", "p999" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

static bool is_time(const struct report_node *node, struct report_place place)
{
	const struct report_node *in = place.measured, *metric;

	if (!node->key || node->is_id || report_is_moment(node->key))
		return false;
	if (ends_with(node->key, "_ns") || (is_percentile(node->key) && is_time_name(place.of)))
		return true;
	metric = in && is_measure(node->key) ? report_at(in, "metric") : NULL;
	return metric && metric->type == REPORT_STRING && ends_with(metric->text, "_ns");
}

char *report_moment(uint64_t ns, uint64_t start_ns, char *buf, size_t size)
{
	uint64_t us = ns > start_ns ? (ns - start_ns + 999) / 1000 : 0;

	snprintf(buf, size, "%" PRIu64 ".%06" PRIu64 "s", us / 1000000, us % 1000000);
	return buf;
}

static void show_time(double ns, char *buf, size_t size)
{
	bool is_negative = ns <= -0.5;

	if (is_negative)
		*buf = '-';
	text_duration(buf + is_negative, size - is_negative,
	              (uint64_t)((is_negative ? -ns : ns) + 0.5));
}

char *report_value(const struct report_node *node, struct report_place place, char *buf,
                   size_t size)
{
	switch (node->type) {
	case REPORT_NULL:
		snprintf(buf, size, "-");
		break;
	case REPORT_BOOL:
		snprintf(buf, size, "%s", node->b ? "yes" : "no");
		break;
	case REPORT_U64:
		if (node->is_id && node->u64 & HIGH_BIT)
			snprintf(buf, size, "0x%" PRIx64, node->u64);
		else if (place.clock.is_known && report_is_moment(node->key))
			report_moment(node->u64, place.clock.start_ns, buf, size);
		else if (is_time(node, place))
			text_duration(buf, size, node->u64);
		else
			snprintf(buf, size, "%" PRIu64, node->u64);
		break;
	case REPORT_I64:
		snprintf(buf, size, "%" PRId64, node->i64);
		break;
	case REPORT_DOUBLE:
		if (node->key && ends_with(node->key, "_us") && node->f > -1e15 && node->f < 1e15)
			show_time(node->f * 1000, buf, size);
		else if (is_time(node, place) && node->f > -1e18 && node->f < 1e18)
			show_time(node->f, buf, size);
		else
			snprintf(buf, size, "%.*f%s", node->decimals, node->f,
			         is_percent(node->key) ? "%" : "");
		break;
	case REPORT_STRING:
		snprintf(buf, size, "%s", node->text);
		break;
	case REPORT_ARRAY:
		snprintf(buf, size, "[%u]", node->nr);
		break;
	case REPORT_OBJECT:
		snprintf(buf, size, "{%u}", node->nr);
		break;
	}
	return buf;
}

char *report_title(const char *key, bool is_unit_shown, char *buf, size_t size)
{
	static const char *const percents[] = { " percent", " percentage", " pct" };
	size_t len;

	snprintf(buf, size, "%s", key);
	for (char *c = buf; *c; c++)
		if (*c == '_')
			*c = ' ';
	len = strlen(buf);
	if (!is_unit_shown)
		return buf;
	if (ends_with(buf, " ns") || ends_with(buf, " us"))
		buf[len - 3] = '\0';
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		if (ends_with(buf, percents[i])) {
			memcpy(buf + len - strlen(percents[i]), " %", 3);
			break;
		}
	return buf;
}
