/*
 * What programs write into trace_marker: "B|20|draw" begins an interval of the task that writes it, "E|20" or "E" ends the
 * last one; "S|20|load|7" and "F|20|load|7" begin and end one of a process, told apart by its number; "I|20|click" is a
 * moment; "C|20|queue|3" is a value of a process from then on, of which only whole numbers have a record.
 */
#include <stdio.h>
#include <string.h>

#include "trace/ftrace/events.h"
#include "trace/ftrace/fields.h"

struct text {
	const char *at, *end;
};

static bool is_mark(struct text t)
{
	static const char letters[] = { 'B', 'E', 'S', 'F', 'I', 'C' };

	return t.at < t.end && memchr(letters, *t.at, sizeof(letters)) &&
	       (t.end - t.at == 1 || t.at[1] == '|');
}

/* Where it is printed, the function that wrote it may stand before it. */
static bool find_mark(struct text *t)
{
	const char *colon;

	while (t->end > t->at && (t->end[-1] == '\n' || t->end[-1] == ' '))
		t->end--;
	if (is_mark(*t))
		return true;
	colon = t->at < t->end ? memmem(t->at, (size_t)(t->end - t->at), ": ", 2) : NULL;
	t->at = colon ? colon + 2 : t->end;
	return is_mark(*t);
}

/* "|20|draw": the process, and the name behind it; false if there is none. */
static bool take_process(struct text *t, uint32_t *out)
{
	uint64_t pid = 0;
	const char *at = t->at + 1;

	for (; at < t->end && *at >= '0' && *at <= '9' && pid <= INT32_MAX; at++)
		pid = pid * 10 + (uint64_t)(*at - '0');
	if (pid > INT32_MAX || at >= t->end || *at != '|')
		return false;
	*out = (uint32_t)pid;
	t->at = at + 1;
	return true;
}

static void put(struct ftrace_cpu *on, const struct ftrace_event_in *e, struct in_mark mark)
{
	struct in_mark *rec;

	decoder_see_tid(on->dec, e->ts_ns, mark.tid);
	rec = rec_add(on->dec->out, IN_MARK, sizeof(*rec), on->cpu, e->ts_ns);
	mark.hdr = rec->hdr;
	*rec = mark;
}

/* Up to the next bar, which is passed over, or to the end. */
static struct text take_part(struct text *t)
{
	const char *bar = t->at < t->end ? memchr(t->at, '|', (size_t)(t->end - t->at)) : NULL;
	struct text part = { t->at, bar ? bar : t->end };

	t->at = bar ? bar + 1 : t->end;
	return part;
}

static bool to_number(struct text t, int64_t *out)
{
	bool is_negative = t.at < t.end && *t.at == '-';
	int64_t value = 0;

	t.at += is_negative;
	if (t.at == t.end)
		return false;
	for (; t.at < t.end; t.at++)
		if (*t.at < '0' || *t.at > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *t.at - '0', &value))
			return false;
	*out = is_negative ? -value : value;
	return true;
}

static void put_counter(struct ftrace_cpu *on, const struct ftrace_event_in *e, uint32_t tgid,
                        struct text name, int64_t value)
{
	size_t len = (size_t)(name.end - name.at);
	struct ev_counter *rec;

	decoder_see_tid(on->dec, e->ts_ns, e->pid);
	rec = rec_add(on->dec->out, EV_COUNTER, sizeof(*rec), on->cpu, e->ts_ns);
	rec->value = value;
	rec->tid = e->pid;
	rec->tgid = tgid;
	memset(rec->name, 0, sizeof(rec->name));
	memcpy(rec->name, name.at, len < sizeof(rec->name) ? len : sizeof(rec->name) - 1);
}

/* "queue|3"; what may stand behind the value says nothing of it. */
static void put_value(struct ftrace_cpu *on, const struct ftrace_event_in *e, uint32_t pid,
                      struct text t)
{
	struct text name = take_part(&t), number = take_part(&t);
	int64_t value;

	if (name.at < name.end && to_number(number, &value))
		put_counter(on, e, pid, name, value);
}

static void put_text(struct ftrace_cpu *on, const struct ftrace_event_in *e, struct text t)
{
	struct in_mark mark = { .tid = e->pid, .kind = (uint32_t)*t.at, .key = MARK_OF_TASK };
	const char *number;
	uint32_t pid;

	t.at++;
	if (mark.kind == 'E') {
		put(on, e, mark);
		return;
	}
	if (!take_process(&t, &pid))
		return;
	if (mark.kind == 'C') {
		put_value(on, e, pid, t);
		return;
	}
	if (mark.kind == 'S' || mark.kind == 'F') {
		mark.tid = pid;
		mark.key = decoder_text(on->dec, t.at, (size_t)(t.end - t.at));
		number = t.at < t.end ? memrchr(t.at, '|', (size_t)(t.end - t.at)) : NULL;
		t.end = number ? number : t.end;
	}
	mark.name = decoder_text(on->dec, t.at, (size_t)(t.end - t.at));
	put(on, e, mark);
}

void ftrace_on_mark(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	const char *s = e->texts & 1U << MARK_TEXT ? (const char *)e->bytes[MARK_TEXT] : NULL;
	struct text t = { s, s ? s + e->values[MARK_TEXT] : NULL };

	if (s && e->has & 1U << MARK_BEGINS)
		put(on, e,
		    (struct in_mark){
			    .tid = e->pid,
			    .key = MARK_OF_TASK,
			    .kind = e->values[MARK_BEGINS] ? 'B' : 'E',
			    .name = decoder_text(on->dec, t.at, (size_t)(t.end - t.at)) });
	else if (s && find_mark(&t))
		put_text(on, e, t);
}

void ftrace_on_cpu_util(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	static const struct {
		uint32_t field;
		const char *name;
	} values[] = {
		{ CPU_UTIL_CAPACITY, "capacity" },
		{ CPU_UTIL_UTIL, "utilization" },
		{ CPU_UTIL_NR_RUNNING, "running tasks" },
	};
	char name[sizeof(((struct ev_counter *)NULL)->name)];
	int len;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (!(e->has & 1U << values[i].field))
			continue;
		len = snprintf(name, sizeof(name), "CPU %u %s", (uint32_t)num(e, CPU_UTIL_CPU),
		               values[i].name);
		put_counter(on, e, 0, (struct text){ name, name + len },
		            (int64_t)num(e, values[i].field));
	}
}
