#include "render/profile_words.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "profile/profile_join.h"

#define NS_PER_SECOND 1000000000ULL

char *profile_digits(uint64_t value, char buf[static PROFILE_AMOUNT_BYTES])
{
	char plain[24];
	int len = snprintf(plain, sizeof(plain), "%" PRIu64, value), to = 0;

	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			buf[to++] = ',';
		buf[to++] = plain[i];
	}
	buf[to] = '\0';
	return buf;
}

bool profile_is_time(const struct profile *p)
{
	return strcmp(profile_facts(p)->unit, "ns") == 0;
}

uint64_t profile_sample_ns(const struct profile *p)
{
	const struct profile_facts *f = profile_facts(p);

	if (strcmp(f->event, "cpu-clock") != 0 && strcmp(f->event, "task-clock") != 0)
		return 0;
	if (f->period)
		return f->period;
	return f->frequency ? NS_PER_SECOND / f->frequency : 0;
}

uint64_t profile_times(uint64_t count, uint64_t factor)
{
	uint64_t product;

	return __builtin_mul_overflow(count, factor, &product) ? UINT64_MAX : product;
}

static size_t add_rate(const struct profile_facts *f, char *buf, size_t size)
{
	char digits[PROFILE_AMOUNT_BYTES];

	if (f->frequency)
		return (size_t)snprintf(buf, size, " at %s Hz",
		                        profile_digits(f->frequency, digits));
	if (f->period)
		return (size_t)snprintf(buf, size, ", one of %s",
		                        profile_digits(f->period, digits));
	return 0;
}

char *profile_words(const struct profile *p, char buf[static PROFILE_WORDS_BYTES])
{
	const struct profile_facts *f = profile_facts(p);
	char event[64], digits[PROFILE_AMOUNT_BYTES];
	size_t len, size = PROFILE_WORDS_BYTES;

	text_printable(event, sizeof(event), f->event, strlen(f->event));
	len = (size_t)snprintf(buf, size, "%s%s, %s sample%s", event,
	                       f->is_wall ? " by wall clock" : "",
	                       profile_digits(profile_count(p), digits),
	                       profile_count(p) == 1 ? "" : "s");
	len += add_rate(f, buf + len, size - len);
	if (profile_is_time(p))
		len += (size_t)snprintf(buf + len, size - len, " of %s",
		                        text_duration(digits, sizeof(digits), profile_value(p)));
	if (f->duration_ns)
		len += (size_t)snprintf(buf + len, size - len, " in %s",
		                        text_duration(digits, sizeof(digits), f->duration_ns));
	if (f->lost)
		len += (size_t)snprintf(buf + len, size - len, ", %s lost",
		                        profile_digits(f->lost, digits));
	if (f->broken)
		snprintf(buf + len, size - len,
		         f->ends[PROF_END_WHOLE] ? ", %s not whole" : ", %s without callers",
		         profile_digits(f->broken, digits));
	return buf;
}

/* Code that no file holds: what a JIT made, named by its map or not at all. */
static bool is_jit(const char *module)
{
	static const char *const starts[] = { "perf-", "//anon",  "[anon",
		                              "[jit",  "jitted-", "memfd:" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (strncmp(module, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

enum profile_code profile_code_of(const struct profile_frame *frame)
{
	if (frame->is_kernel)
		return strcmp(frame->module, "bpf") == 0 ? PROFILE_BPF : PROFILE_KERNEL;
	if (is_jit(frame->module))
		return PROFILE_JIT;
	if (frame->is_inlined)
		return PROFILE_INLINED;
	return profile_is_unnamed(frame) ? PROFILE_NAMELESS : PROFILE_USER;
}

int profile_written(FILE *out)
{
	return ferror(out) || fflush(out) != 0 ? -EIO : 0;
}
