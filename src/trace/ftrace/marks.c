/*
 * What programs write into trace_marker: "B|20|draw" begins an interval of the task that writes it, "E|20" or "E" ends the
 * last one; "S|20|load|7" and "F|20|load|7" begin and end one of a process, told apart by its number; "I|20|click" is a
 * moment. Values ("C|20|queue|3") have no record.
 */
#include <string.h>

#include "trace/ftrace/events.h"

struct text {
	const char *at, *end;
};

static bool is_mark(struct text t)
{
	static const char letters[] = { 'B', 'E', 'S', 'F', 'I' };

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
