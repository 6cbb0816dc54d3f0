/* A line, split into its columns. */
#include "trace/text/text.h"

#define NS_PER_S       1000000000ULL
#define NS_PER_US      1000ULL
#define SECONDS_MAX    9000000000ULL /* in ns they fit into 63 bits */
#define FLAGS_MIN      4U
#define FLAGS_MAX      9U
#define COLUMNS_MAX    160 /* before the time; names have 15 bytes, and of buffers not many more */
#define COMM_WIDTH     16  /* of the column */
#define COMM_WIDTH_LAT 8
#define EVENT_NAME_MAX 128U
#define CPU_DIGITS_MAX 5
#define MODIFIERS_MAX  3 /* "cycles:ppp" */

bool span_number(struct span *s, uint64_t *out)
{
	const char *at = s->at;
	uint64_t value = 0;

	for (; at < s->end && is_digit(*at); at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
			return false;
	if (at == s->at)
		return false;
	s->at = at;
	*out = value;
	return true;
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool span_hex(struct span *s, uint64_t *out)
{
	const char *at = s->at;
	uint64_t value = 0;
	int digit;

	for (; at < s->end && (digit = hex_digit(*at)) >= 0; at++) {
		if (value >> 60)
			return false;
		value = value << 4 | (uint64_t)digit;
	}
	if (at == s->at)
		return false;
	s->at = at;
	*out = value;
	return true;
}

bool span_value(struct span *s, uint64_t *out)
{
	struct span from = *s;
	bool is_negative = SPAN_TAKE(&from, "-");

	if (SPAN_TAKE(&from, "0x") ? !span_hex(&from, out) : !span_number(&from, out))
		return false;
	if (is_negative)
		*out = -*out;
	*s = from;
	return true;
}

const char *span_find(struct span s, const char *word, size_t len)
{
	return span_len(s) >= len ? memmem(s.at, span_len(s), word, len) : NULL;
}

bool span_line(struct span *rest, struct span *line)
{
	const char *end;

	if (rest->at == rest->end)
		return false;
	end = memchr(rest->at, '\n', span_len(*rest));
	line->at = rest->at;
	line->end = end ? end : rest->end;
	rest->at = end ? end + 1 : rest->end;
	if (line->at < line->end && line->end[-1] == '\r')
		line->end--;
	return true;
}

/* Behind the point: digits of a second, nine at most. */
static bool take_fraction(struct span *in, uint64_t *ns, bool *is_rounded)
{
	uint64_t unit = NS_PER_S / 10;

	*ns = 0;
	if (in->at == in->end || !is_digit(*in->at))
		return false;
	for (; in->at < in->end && is_digit(*in->at) && unit; in->at++, unit /= 10)
		*ns += (uint64_t)(*in->at - '0') * unit;
	*is_rounded = unit >= NS_PER_US / 10;
	return true;
}

/* "12us : ", with a mark in place of the space where the next event is far. */
static bool take_latency_time(struct span *in, uint64_t us, struct text_line *out)
{
	if (us > SECONDS_MAX * 1000000U || !SPAN_TAKE(in, "us"))
		return false;
	out->ts_ns = us * NS_PER_US;
	out->is_rounded = true;
	if (in->at < in->end && *in->at != ':')
		in->at++;
	return true;
}

/* "12.000034:", "12us :", or "1234:" of a clock that does not count time. */
static bool take_time(struct span *in, struct text_line *out)
{
	uint64_t value, ns;

	if (!span_number(in, &value))
		return false;
	out->is_count = out->is_rounded = false;
	if (SPAN_TAKE(in, ".")) {
		if (value > SECONDS_MAX || !take_fraction(in, &ns, &out->is_rounded))
			return false;
		out->ts_ns = value * NS_PER_S + ns;
	} else if (in->at < in->end && *in->at == 'u') {
		if (!take_latency_time(in, value, out))
			return false;
	} else {
		out->is_count = true;
		out->ts_ns = value;
	}
	return SPAN_TAKE(in, ":");
}

static uint8_t irq_flags(char c)
{
	switch (c) {
	case 'Z':
		return EV_FLAG_NMI | EV_FLAG_HARDIRQ;
	case 'z':
		return EV_FLAG_NMI;
	case 'H':
		return EV_FLAG_HARDIRQ | EV_FLAG_SOFTIRQ;
	case 'h':
		return EV_FLAG_HARDIRQ;
	case 's':
		return EV_FLAG_SOFTIRQ;
	default:
		return 0;
	}
}

static bool is_flag(char c)
{
	return c == '.' || is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '#' || c == '-';
}

/* "d..2.", which kernels without that option leave out: then nothing is taken. */
static void take_flags(const struct text_columns *c, struct span *in, struct text_line *out)
{
	const char *at = in->at;

	while (at < in->end && is_flag(*at))
		at++;
	if (at - in->at < (ptrdiff_t)FLAGS_MIN || at - in->at > (ptrdiff_t)FLAGS_MAX ||
	    at == in->end || *at != ' ')
		return;
	out->has_flags = true;
	out->flags = irq_flags(in->at[c->irq_flag]);
	in->at = at;
}

static bool is_name_byte(char c)
{
	switch (c) {
	case '"':
	case '\'':
	case '(':
	case ')':
	case '{':
	case '}':
	case ';':
	case '|':
	case '\\':
		return false;
	default:
		return (unsigned char)c > ' ';
	}
}

static bool is_name(struct span s)
{
	if (s.at == s.end || span_len(s) > EVENT_NAME_MAX || is_digit(*s.at))
		return false;
	for (; s.at < s.end; s.at++)
		if (!is_name_byte(*s.at))
			return false;
	return true;
}

/* Without the system, "sched:", but with what modifies it, "cycles:u". */
static void drop_system(struct text_line *out)
{
	const char *colon = memchr(out->event.at, ':', span_len(out->event));

	out->has_system = colon && out->event.end - colon > MODIFIERS_MAX + 1;
	if (out->has_system)
		out->event.at = colon + 1;
}

static bool is_before_event(struct span in)
{
	while (in.at < in.end && is_digit(*in.at))
		in.at++;
	return in.at < in.end && *in.at == ' ';
}

/* "event: fields"; lines of the function tracer have "function <-caller". */
static bool take_event(struct span in, struct text_line *out)
{
	static const char function[] = "function", stack[] = "kernel_stack";
	const char *end;

	span_skip_spaces(&in);
	if (SPAN_TAKE(&in, "(+")) { /* how far from the line before */
		end = memchr(in.at, ')', span_len(in));
		in.at = end ? end + 1 : in.end;
		span_skip_spaces(&in);
	}
	out->period = 1;
	out->has_system = false;
	if (out->form == TEXT_PERF && in.at < in.end && is_digit(*in.at) && is_before_event(in)) {
		if (!span_number(&in, &out->period))
			return false;
		span_skip_spaces(&in);
	}
	end = memchr(in.at, ' ', span_len(in));
	out->event = (struct span){ in.at, end ? end : in.end };
	out->fields = (struct span){ out->event.end, in.end };
	span_skip_spaces(&out->fields);
	if (SPAN_BEGINS(in, "<stack trace"))
		out->event = (struct span){ stack, stack + sizeof(stack) - 1 };
	else if (SPAN_BEGINS(out->event, "PERF_RECORD_"))
		return true;
	else if (span_len(out->event) && out->event.end[-1] == ':')
		out->event.end--;
	else if (SPAN_BEGINS(out->fields, "<-"))
		out->event = (struct span){ function, function + sizeof(function) - 1 };
	else
		return false;
	if (out->form == TEXT_PERF)
		drop_system(out);
	return is_name(out->event);
}

/* From behind the CPU on. */
static bool take_rest(const struct text_columns *c, struct span in, struct text_line *out)
{
	out->flags = 0;
	out->has_flags = false;
	span_skip_spaces(&in);
	if (out->form != TEXT_PERF)
		take_flags(c, &in, out);
	span_skip_spaces(&in);
	return take_time(&in, out) && take_event(in, out);
}

static struct span trim(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	while (end > at && end[-1] == ' ')
		end--;
	return (struct span){ at, end };
}

/* A decimal number that ends at *end, which is moved to its begin. */
static bool number_before(const char *begin, const char **end, uint32_t *out)
{
	const char *at = *end;
	struct span s;
	uint64_t value;

	while (at > begin && is_digit(at[-1]))
		at--;
	s = (struct span){ at, *end };
	if (!span_number(&s, &value) || value > INT32_MAX)
		return false;
	*out = (uint32_t)value;
	*end = at;
	return true;
}

/* "(  123)" or "(-------)" before end. */
static bool tgid_before(const char *begin, const char **end, uint32_t *out)
{
	const char *at = *end - 1;

	*out = 0;
	if (at > begin && is_digit(at[-1])) {
		if (!number_before(begin, &at, out))
			return false;
		while (at > begin && at[-1] == ' ')
			at--;
	} else {
		while (at > begin && at[-1] == '-')
			at--;
	}
	if (at == begin || at[-1] != '(')
		return false;
	*end = at - 1;
	return true;
}

/* Names that are not names: "<...>", ":123" of perf. */
static struct span known_name(struct span s)
{
	if (SPAN_BEGINS(s, "<...>") || SPAN_BEGINS(s, "<idle>") || SPAN_BEGINS(s, "<XXX>") ||
	    (span_len(s) > 1 && *s.at == ':' && (is_digit(s.at[1]) || s.at[1] == '-')))
		s.end = s.at;
	return s;
}

/* "-1", which perf prints for a task that has ended: nothing is known of it. */
static bool is_numberless(struct span in, const char *end)
{
	return end - in.at > 3 && memcmp(end - 2, "-1", 2) == 0 &&
	       (end[-3] == ' ' || end[-3] == '/') && end - 2 != in.at + COMM_WIDTH;
}

/* The task, which ends before end: "comm-12 ", "comm-12 (  12) ", "comm 12 ", "comm 12/13 ". */
static bool task_before(struct span in, const char *end, struct text_line *out)
{
	if (end == in.at || end[-1] != ' ')
		return false;
	while (end > in.at && end[-1] == ' ')
		end--;
	out->tgid = 0;
	if (end > in.at && end[-1] == ')' && !tgid_before(in.at, &end, &out->tgid))
		return false;
	while (end > in.at && end[-1] == ' ')
		end--;
	out->has_pid = !is_numberless(in, end);
	if (!number_before(in.at, &end, &out->pid))
		return false;
	if (!out->has_pid) {
		out->pid = 0;
		end--;
	}
	if (out->has_pid && end - in.at > 1 && end[-1] == '-') {
		out->form = TEXT_COLUMNS;
		end--;
		if (end - in.at > COMM_WIDTH)
			in.at = end - COMM_WIDTH;
	} else {
		out->form = TEXT_PERF;
		if (end > in.at && end[-1] == '/') {
			end--;
			if (is_numberless(in, end))
				end -= 2;
			else if (!number_before(in.at, &end, &out->tgid))
				return false;
		}
		if (end > in.at && end[-1] != ' ')
			return false;
	}
	out->comm = known_name(trim(in.at, end));
	return true;
}

/* Lines with the CPU as "[003]", whose task ends there. */
static bool split_at_cpu(const struct text_columns *c, struct span in, struct text_line *out)
{
	const char *limit = span_len(in) > COLUMNS_MAX ? in.at + COLUMNS_MAX : in.end;
	const char *at = in.at;
	uint64_t cpu;
	struct span s;

	/* Where the column of tasks is filled up, what is in the name need not be looked at. */
	if (span_len(in) > COMM_WIDTH + 1 && in.at[COMM_WIDTH] == '-' &&
	    is_digit(in.at[COMM_WIDTH + 1]))
		at += COMM_WIDTH;
	for (; (at = memchr(at, '[', (size_t)(limit - at))); at++) {
		s = (struct span){ at + 1, in.end };
		if (!span_number(&s, &cpu) || s.at - at > CPU_DIGITS_MAX + 1 ||
		    !SPAN_TAKE(&s, "]") || !task_before(in, at, out))
			continue;
		out->cpu = (uint32_t)cpu;
		out->has_cpu = true;
		if (take_rest(c, s, out))
			return true;
	}
	return false;
}

/* From behind the pid on: the CPU, with flags right behind it. */
static bool take_latency(const struct text_columns *c, struct span in, struct text_line *out)
{
	uint64_t cpu;

	if (!SPAN_BEGINS(in, " "))
		return false;
	span_skip_spaces(&in);
	if (!span_number(&in, &cpu) || cpu >= READER_CPUS_MAX || in.at == in.end || *in.at == ' ' ||
	    !is_flag(*in.at))
		return false;
	out->cpu = (uint32_t)cpu;
	out->has_cpu = true;
	return take_rest(c, in, out);
}

static bool split_latency(const struct text_columns *c, struct span in, struct text_line *out)
{
	const char *limit = span_len(in) > COLUMNS_MAX ? in.at + COLUMNS_MAX : in.end;
	const char *from = in.at, *at = in.at;
	uint64_t pid;
	struct span s;

	out->form = TEXT_LATENCY;
	out->has_pid = true;
	out->tgid = 0;
	if (span_len(in) > COMM_WIDTH_LAT + 1 && in.at[COMM_WIDTH_LAT] == '-' &&
	    is_digit(in.at[COMM_WIDTH_LAT + 1]))
		at += COMM_WIDTH_LAT;
	for (; (at = memchr(at, '-', (size_t)(limit - at))); at++) {
		s = (struct span){ at + 1, in.end };
		if (at == in.at || !span_number(&s, &pid) || pid > INT32_MAX)
			continue;
		out->pid = (uint32_t)pid;
		if (!take_latency(c, s, out))
			continue;
		if (at - from > COMM_WIDTH_LAT)
			from = at - COMM_WIDTH_LAT;
		out->comm = known_name(trim(from, at));
		return true;
	}
	return false;
}

/* perf script without CPUs: what comes before the time is the task. */
static bool split_at_time(const struct text_columns *c, struct span in, struct text_line *out)
{
	const char *limit = span_len(in) > COLUMNS_MAX ? in.at + COLUMNS_MAX : in.end;
	const char *at = in.at;
	struct span s;

	out->has_cpu = false;
	for (; (at = memchr(at, ' ', (size_t)(limit - at))); at++) {
		s = (struct span){ at + 1, in.end };
		if (s.at == s.end || !is_digit(*s.at) || !take_time(&s, out) || out->is_count)
			continue;
		if (!task_before(in, at + 1, out) || out->form != TEXT_PERF)
			return false;
		s.at = at;
		return take_rest(c, s, out);
	}
	return false;
}

bool text_line_split(struct text_columns *c, struct span in, struct text_line *out)
{
	bool is_split = c->form == TEXT_LATENCY
	                        ? split_latency(c, in, out) || split_at_cpu(c, in, out)
	                        : split_at_cpu(c, in, out) || split_latency(c, in, out);

	if (!is_split)
		is_split = split_at_time(c, in, out);
	if (is_split)
		c->form = out->form;
	return is_split;
}
