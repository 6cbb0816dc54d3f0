/* Fields that are printed as "key=value", in the order in which the kernel prints them. */
#include "trace/text/text.h"

enum spec_kind {
	SPEC_NUMBER,
	SPEC_HEX,
	SPEC_COMM,   /* ends where the next key begins */
	SPEC_PATH,   /* the same, and may be long: ends at the last of them */
	SPEC_WORD,   /* ends at a space */
	SPEC_REST,   /* ends with the line */
	SPEC_SYMBOL, /* a function's name, "name+0x12/0x34"; or its address */
	SPEC_HANDLED,
	SPEC_MASK, /* of CPUs: "0000,00000003" */
};

struct spec {
	const char *key;  /* with the space before it, unless it is the first */
	const char *name; /* of the field */
	uint8_t kind;
	bool is_optional;
};

struct text_spec {
	uint32_t member;
	struct spec fields[TEXT_SPECS_MAX];
};

static const struct text_spec specs[] = {
	{ FTRACE_SCHED_MIGRATE_TASK,
	  { { "comm=", "comm", SPEC_COMM, 0 },
	    { " pid=", "pid", SPEC_NUMBER, 0 },
	    { " prio=", "prio", SPEC_NUMBER, 0 },
	    { " orig_cpu=", "orig_cpu", SPEC_NUMBER, 0 },
	    { " dest_cpu=", "dest_cpu", SPEC_NUMBER, 0 } } },
	{ FTRACE_SCHED_PROCESS_EXIT,
	  { { "comm=", "comm", SPEC_COMM, 0 },
	    { " pid=", "pid", SPEC_NUMBER, 0 },
	    { " prio=", "prio", SPEC_NUMBER, 0 } } },
	{ FTRACE_SCHED_PROCESS_FREE,
	  { { "comm=", "comm", SPEC_COMM, 0 },
	    { " pid=", "pid", SPEC_NUMBER, 0 },
	    { " prio=", "prio", SPEC_NUMBER, 0 } } },
	{ FTRACE_SCHED_PROCESS_WAIT,
	  { { "comm=", "comm", SPEC_COMM, 0 },
	    { " pid=", "pid", SPEC_NUMBER, 0 },
	    { " prio=", "prio", SPEC_NUMBER, 0 } } },
	{ FTRACE_SCHED_PROCESS_HANG,
	  { { "comm=", "comm", SPEC_COMM, 0 }, { " pid=", "pid", SPEC_NUMBER, 0 } } },
	{ FTRACE_SCHED_PROCESS_FORK,
	  { { "comm=", "parent_comm", SPEC_COMM, 0 },
	    { " pid=", "parent_pid", SPEC_NUMBER, 0 },
	    { " child_comm=", "child_comm", SPEC_COMM, 0 },
	    { " child_pid=", "child_pid", SPEC_NUMBER, 0 } } },
	{ FTRACE_SCHED_PROCESS_EXEC,
	  { { "filename=", "filename", SPEC_PATH, 0 },
	    { " pid=", "pid", SPEC_NUMBER, 0 },
	    { " old_pid=", "old_pid", SPEC_NUMBER, 1 } } },
	{ FTRACE_TASK_NEWTASK,
	  { { "pid=", "pid", SPEC_NUMBER, 0 },
	    { " comm=", "comm", SPEC_COMM, 0 },
	    { " clone_flags=", "clone_flags", SPEC_HEX, 0 } } },
	{ FTRACE_TASK_RENAME,
	  { { "pid=", "pid", SPEC_NUMBER, 0 },
	    { " oldcomm=", "oldcomm", SPEC_COMM, 0 },
	    { " newcomm=", "newcomm", SPEC_COMM, 0 },
	    { " oom_score_adj=", "oom_score_adj", SPEC_NUMBER, 1 } } },
	{ FTRACE_SCHED_BLOCKED_REASON,
	  { { "pid=", "pid", SPEC_NUMBER, 0 },
	    { " iowait=", "io_wait", SPEC_NUMBER, 1 },
	    { " caller=", "caller", SPEC_SYMBOL, 1 } } },
	{ FTRACE_IRQ_HANDLER_ENTRY,
	  { { "irq=", "irq", SPEC_NUMBER, 0 }, { " name=", "name", SPEC_REST, 1 } } },
	{ FTRACE_IRQ_HANDLER_EXIT,
	  { { "irq=", "irq", SPEC_NUMBER, 0 }, { " ret=", "ret", SPEC_HANDLED, 1 } } },
	{ FTRACE_SOFTIRQ_ENTRY, { { "vec=", "vec", SPEC_NUMBER, 0 } } },
	{ FTRACE_SOFTIRQ_EXIT, { { "vec=", "vec", SPEC_NUMBER, 0 } } },
	{ FTRACE_IPI_RAISE, { { "target_mask=", "target_cpus", SPEC_MASK, 0 } } },
	{ FTRACE_CPU_IDLE,
	  { { "state=", "state", SPEC_NUMBER, 0 }, { " cpu_id=", "cpu_id", SPEC_NUMBER, 0 } } },
	{ FTRACE_CPU_FREQUENCY,
	  { { "state=", "state", SPEC_NUMBER, 0 }, { " cpu_id=", "cpu_id", SPEC_NUMBER, 0 } } },
	{ FTRACE_CPUHP_ENTER,
	  { { "cpu: ", "cpu", SPEC_NUMBER, 0 },
	    { " target: ", "target", SPEC_NUMBER, 0 },
	    { " step: ", "idx", SPEC_NUMBER, 0 } } },
	{ FTRACE_CPUHP_EXIT,
	  { { "cpu: ", "cpu", SPEC_NUMBER, 0 },
	    { " state: ", "state", SPEC_NUMBER, 0 },
	    { " step: ", "idx", SPEC_NUMBER, 0 },
	    { " ret: ", "ret", SPEC_NUMBER, 0 } } },
	{ FTRACE_GPU_MEM_TOTAL,
	  { { "gpu_id=", "gpu_id", SPEC_NUMBER, 0 },
	    { " pid=", "pid", SPEC_NUMBER, 0 },
	    { " size=", "size", SPEC_NUMBER, 0 } } },
	{ FTRACE_NETIF_RECEIVE_SKB,
	  { { "dev=", "name", SPEC_WORD, 0 }, { " len=", "len", SPEC_NUMBER, 0 } } },
	{ FTRACE_NET_DEV_XMIT,
	  { { "dev=", "name", SPEC_WORD, 0 }, { " len=", "len", SPEC_NUMBER, 0 } } },
	{ FTRACE_MM_PAGE_ALLOC, { { " order=", "order", SPEC_NUMBER, 0 } } },
	{ FTRACE_MM_PAGE_FREE, { { " order=", "order", SPEC_NUMBER, 0 } } },
	{ FTRACE_DIRECT_RECLAIM_BEGIN, { { "order=", "order", SPEC_NUMBER, 0 } } },
};

static bool is_number_next(const char *at, const char *end)
{
	return at < end && (is_digit(*at) || *at == '-');
}

bool text_take_comm(struct span *in, const char *word, size_t len, struct span *comm)
{
	const char *at = NULL;

	for (size_t i = EV_COMM_LEN; i-- > 0;)
		if (span_len(*in) >= i + len && in->at[i] == *word &&
		    memcmp(in->at + i, word, len) == 0) {
			at = in->at + i;
			break;
		}
	if (!at)
		at = span_find(*in, word, len);
	if (!at)
		return false;
	*comm = (struct span){ in->at, at };
	in->at = at + len;
	return true;
}

/* The last place where the word is followed by a number. */
static bool take_path(struct span *in, const char *word, struct span *path)
{
	size_t len = strlen(word);
	const char *at = in->end, *hit = NULL;

	while (!hit && (at = memrchr(in->at, *word, (size_t)(at - in->at))))
		if ((size_t)(in->end - at) > len && memcmp(at, word, len) == 0 &&
		    is_number_next(at + len, in->end))
			hit = at;
	if (!hit)
		return false;
	*path = (struct span){ in->at, hit };
	in->at = hit;
	return true;
}

static struct span take_word(struct span *in)
{
	const char *end = memchr(in->at, ' ', span_len(*in));
	struct span word = { in->at, end ? end : in->end };

	in->at = word.end;
	return word;
}

/* Words of 32 bits with commas between them; only the last two count. */
static bool take_mask(struct span *in, uint64_t *out)
{
	uint64_t word;

	*out = 0;
	do {
		if (!span_hex(in, &word) || word > UINT32_MAX)
			return false;
		*out = *out << 32 | word;
	} while (SPAN_TAKE(in, ","));
	return true;
}

void text_put_symbol(struct ftrace_event_in *e, uint32_t nr, struct span word)
{
	struct span number = word;
	const char *plus = memchr(word.at, '+', span_len(word));
	uint64_t value;

	if (SPAN_BEGINS(word, "0x") && span_value(&number, &value)) {
		text_put_number(e, nr, value);
		return;
	}
	if (plus)
		word.end = plus;
	text_put_text(e, nr, word);
}

/* The value of one field; in is moved behind it. next: the key of the one behind it, NULL = it is the last. */
static bool take_value(const struct spec *spec, const char *next, uint32_t nr, struct span *in,
                       struct ftrace_event_in *e)
{
	struct span text = { 0 };
	uint64_t value = 0;
	bool is_text = false, is_good = true;

	switch ((enum spec_kind)spec->kind) {
	case SPEC_COMM:
		is_text = true;
		is_good = next && text_take_comm(in, next, strlen(next), &text);
		if (is_good)
			in->at = text.end;
		break;
	case SPEC_PATH:
		is_text = true;
		is_good = next && take_path(in, next, &text);
		break;
	case SPEC_WORD:
	case SPEC_SYMBOL:
		is_text = true;
		text = take_word(in);
		break;
	case SPEC_REST:
		is_text = true;
		text = *in;
		in->at = in->end;
		break;
	case SPEC_HANDLED:
		if (!SPAN_TAKE(in, "handled"))
			(void)span_number(in, &value); /* where fields are raw */
		else
			value = 1;
		break;
	case SPEC_HEX:
		(void)SPAN_TAKE(in, "0x");
		is_good = span_hex(in, &value);
		break;
	case SPEC_MASK:
		is_good = take_mask(in, &value);
		break;
	case SPEC_NUMBER:
		span_skip_spaces(in);
		is_good = span_value(in, &value);
		break;
	}
	if (!is_good || !nr)
		return is_good;
	if (spec->kind == SPEC_SYMBOL)
		text_put_symbol(e, nr, text);
	else if (is_text)
		text_put_text(e, nr, text);
	else
		text_put_number(e, nr, value);
	return true;
}

/* Behind the key, which is here, or further on where something else is printed between. */
static bool take_key(struct span *in, const char *key)
{
	size_t len = strlen(key);
	const char *at;

	if (span_take(in, key, len))
		return true;
	at = span_find(*in, key, len);
	if (!at)
		return false;
	in->at = at + len;
	return true;
}

static bool read_keys(const struct text_event *ev, struct span in, struct ftrace_event_in *e)
{
	const struct spec *f = ev->spec->fields;

	for (uint32_t i = 0; i < TEXT_SPECS_MAX && f[i].key; i++) {
		const char *next = i + 1 < TEXT_SPECS_MAX ? f[i + 1].key : NULL;

		if (!take_key(&in, f[i].key) || !take_value(&f[i], next, ev->fields[i], &in, e)) {
			if (f[i].is_optional)
				continue;
			return false;
		}
	}
	return true;
}

static const struct text_spec *spec_of(uint32_t member)
{
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		if (specs[i].member == member)
			return &specs[i];
	return NULL;
}

void text_event_find(struct text_event *ev)
{
	const struct spec *f;

	ev->read = text_form_of(ev->member);
	ev->spec = ev->read ? NULL : spec_of(ev->member);
	if (!ev->spec)
		return;
	ev->read = read_keys;
	f = ev->spec->fields;
	for (uint32_t i = 0; i < TEXT_SPECS_MAX && f[i].key; i++)
		ev->fields[i] = (uint8_t)ftrace_field(ev->member, f[i].name, strlen(f[i].name));
}
