#include "record/start_at.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/opt.h"
#include "base/text.h"

#define SECOND_NS 1000000000ULL
#define DAY_NS    (86400 * SECOND_NS)
#define MIN_STEP  (SECOND_NS / 10)
#define HINT \
	"/10s, 17:30, 17:30:05, 2026-11-18T17:30:05, the same with Z for UTC, or @SECONDS since 1970"

static int refuse(const char *word, struct diag *d)
{
	return diag_set(d, -EINVAL, HINT, "'%.64s' is not a time to start at", word);
}

static int next_multiple(const char *word, uint64_t now_ns, struct diag *d, uint64_t *out)
{
	uint64_t step = 0;

	if (!opt_read_duration(word + 1, SECOND_NS, &step))
		return refuse(word, d);
	if (step < MIN_STEP || step > DAY_NS)
		return diag_set(d, -EINVAL, "/10s is the next whole multiple of 10 seconds",
		                "'%.64s' is not between /100ms and /24h", word);
	*out = (now_ns / step + 1) * step;
	return 0;
}

/* Seconds with decimals; opt_read_duration() takes a bare number for seconds. */
static int since_1970(const char *word, struct diag *d, uint64_t *out)
{
	size_t digits = strspn(word + 1, "0123456789.");

	if (!digits || word[1 + digits] || !opt_read_duration(word + 1, SECOND_NS, out))
		return refuse(word, d);
	return 0;
}

/* What strptime() has read, and nothing behind it. */
static bool reads_as(const char *word, const char *format, struct tm *tm)
{
	const char *end = strptime(word, format, tm);

	return end && !*end;
}

static bool to_ns(struct tm *tm, bool is_utc, uint64_t *out)
{
	time_t at;

	tm->tm_isdst = -1;
	at = is_utc ? timegm(tm) : mktime(tm);
	if (at <= 0)
		return false;
	*out = (uint64_t)at * SECOND_NS;
	return true;
}

static int on_a_day(const char *word, struct diag *d, uint64_t *out)
{
	struct tm local = { 0 }, utc = { 0 };

	if (reads_as(word, "%Y-%m-%dT%H:%M:%S", &local))
		return to_ns(&local, false, out) ? 0 : refuse(word, d);
	if (reads_as(word, "%Y-%m-%dT%H:%M:%SZ", &utc))
		return to_ns(&utc, true, out) ? 0 : refuse(word, d);
	return refuse(word, d);
}

/* Today, or tomorrow if that is over. */
static int next_time_of_day(const char *word, uint64_t now_ns, struct diag *d, uint64_t *out)
{
	time_t now = (time_t)(now_ns / SECOND_NS);
	struct tm given = { 0 }, day;

	if (!reads_as(word, "%H:%M:%S", &given)) {
		given = (struct tm){ 0 };
		if (!reads_as(word, "%H:%M", &given))
			return on_a_day(word, d, out);
	}
	for (int ahead = 0; ahead < 2; ahead++) {
		if (!localtime_r(&now, &day))
			return refuse(word, d);
		day.tm_mday += ahead;
		day.tm_hour = given.tm_hour;
		day.tm_min = given.tm_min;
		day.tm_sec = given.tm_sec;
		if (!to_ns(&day, false, out))
			return refuse(word, d);
		if (*out > now_ns)
			return 0;
	}
	return refuse(word, d);
}

int start_at_parse(const char *word, uint64_t now_real_ns, struct diag *d, uint64_t *out)
{
	uint64_t at = 0;
	int err = *word == '/'   ? next_multiple(word, now_real_ns, d, &at)
	          : *word == '@' ? since_1970(word, d, &at)
	                         : next_time_of_day(word, now_real_ns, d, &at);

	if (err)
		return err;
	if (at <= now_real_ns)
		return diag_set(d, -EINVAL, "name a time to come, or /10s",
		                "%.64s is over; nothing can start then", word);
	if (at - now_real_ns > START_AT_MAX_NS)
		return diag_set(d, -EINVAL, "start it by a timer then",
		                "%.64s is more than a week away", word);
	*out = at;
	return 0;
}
