/* Events as 'trace-cmd report -R' prints them: every field by the name that the kernel has for it. */
#include "trace/text/text.h"

static bool is_word(char c)
{
	return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z');
}

/* The name of the field that begins here, empty if none does. */
static struct span name_at(const char *at, const char *end)
{
	struct span name = { at, at };

	while (name.end < end && is_word(*name.end))
		name.end++;
	if (name.end == end || *name.end != '=')
		name.end = at;
	return name;
}

/* The value of a field, which may hold blanks: it ends where another field begins, as no field has a name of one letter. */
static struct span take_value(struct span *in)
{
	struct span value = { in->at, in->end };

	for (const char *at = in->at; at < in->end; at++) {
		struct span name = *at == ' ' ? name_at(at + 1, in->end) : (struct span){ at, at };

		if (span_len(name) > 1) {
			value.end = at;
			break;
		}
	}
	in->at = value.end;
	span_skip_spaces(in);
	return value;
}

static bool ends_with(struct span name, const char *word)
{
	size_t len = strlen(word);

	return span_len(name) >= len && memcmp(name.end - len, word, len) == 0;
}

static bool is_text(struct span name)
{
	static const char *const words[] = { "comm", "name", "rwbs", "action", "buf" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (ends_with(name, words[i]))
			return true;
	return false;
}

/* Decimal, or hexadecimal with or without 0x; each from the beginning. */
static bool is_number(struct span value, uint64_t *number)
{
	struct span hex = value;

	return (span_value(&value, number) && value.at == value.end) ||
	       (span_hex(&hex, number) && hex.at == hex.end);
}

static void put(struct ftrace_event_in *e, uint32_t nr, struct span name, struct span value)
{
	uint64_t number;

	if (is_text(name))
		text_put_text(e, nr, value);
	else if (ends_with(name, "function") || ends_with(name, "caller"))
		text_put_symbol(e, nr, value);
	else if (is_number(value, &number))
		text_put_number(e, nr, number);
}

bool text_read_raw(const struct text_event *ev, struct span in, struct ftrace_event_in *e)
{
	uint32_t all = ftrace_fields(ev->member), nr;

	e->has = e->texts = 0;
	while (in.at < in.end) {
		struct span name = name_at(in.at, in.end), value;

		if (!span_len(name))
			return false;
		nr = ftrace_field(ev->member, name.at, span_len(name));
		in.at = name.end + 1;
		value = take_value(&in);
		if (nr && nr < EVENT_FIELDS)
			put(e, nr, name, value);
	}
	return all && (e->has & all) == all;
}
