/* Events that the kernel, or trace-cmd in its stead, prints in their own way. */
#include "trace/text/text.h"

#define MINOR_BITS 20U

/* What letters mean; the order is that of trace-cmd, for which the place is the bit. */
static const char trace_cmd_letters[] = "SDTtXZxW";

/* The kernel's, of all times; K, W and N modify another one. */
static uint64_t letter(char c)
{
	switch (c) {
	case 'S':
		return EV_STATE_S;
	case 'D':
		return EV_STATE_D;
	case 'T':
		return EV_STATE_STOPPED;
	case 't':
		return EV_STATE_TRACED;
	case 'X':
	case 'x':
		return EV_STATE_DEAD;
	case 'Z':
		return EV_STATE_ZOMBIE;
	case 'P':
		return EV_STATE_PARKED;
	case 'I':
		return EV_STATE_IDLE;
	default:
		return 0;
	}
}

/* The state that letters mean, or a number; false = none. */
static bool state_of(struct span s, bool is_trace_cmd, uint64_t *out)
{
	bool is_no_load = false;
	const char *bit;

	*out = 0;
	if (s.at == s.end)
		return false;
	if (is_digit(*s.at))
		return span_value(&s, out) && s.at == s.end;
	for (; s.at < s.end; s.at++) {
		if (!*s.at || !strchr("RSDTtXxZPIKWN|+", *s.at))
			return false;
		bit = is_trace_cmd ? strchr(trace_cmd_letters, *s.at) : NULL;
		*out |= bit ? 1ULL << (bit - trace_cmd_letters) : letter(*s.at);
		is_no_load |= *s.at == 'N';
		if (*s.at == '+')
			*out = EV_STATE_PREEMPTED;
	}
	if (is_no_load && *out == EV_STATE_D)
		*out = EV_STATE_IDLE;
	return true;
}

static struct span word_of(struct span *in)
{
	const char *end = memchr(in->at, ' ', span_len(*in));
	struct span word = { in->at, end ? end : in->end };

	in->at = word.end;
	return word;
}

static bool take_number(struct span *in, struct ftrace_event_in *e, uint32_t nr)
{
	uint64_t value;

	if (!span_value(in, &value))
		return false;
	text_put_number(e, nr, value);
	return true;
}

static bool take_comm(struct span *in, const char *word, struct ftrace_event_in *e, uint32_t nr)
{
	struct span comm;

	if (!text_take_comm(in, word, strlen(word), &comm))
		return false;
	text_put_text(e, nr, comm);
	return true;
}

static bool switch_keys(struct span in, struct ftrace_event_in *e)
{
	uint64_t state;

	if (!take_comm(&in, " prev_pid=", e, SWITCH_PREV_COMM) ||
	    !take_number(&in, e, SWITCH_PREV_PID) || !SPAN_TAKE(&in, " prev_prio=") ||
	    !take_number(&in, e, SWITCH_PREV_PRIO) || !SPAN_TAKE(&in, " prev_state=") ||
	    !state_of(word_of(&in), false, &state))
		return false;
	text_put_number(e, SWITCH_PREV_STATE, state);
	(void)SPAN_TAKE(&in, " ==>");
	return SPAN_TAKE(&in, " next_comm=") && take_comm(&in, " next_pid=", e, SWITCH_NEXT_COMM) &&
	       take_number(&in, e, SWITCH_NEXT_PID) && SPAN_TAKE(&in, " next_prio=") &&
	       take_number(&in, e, SWITCH_NEXT_PRIO);
}

/* "comm:12 [120]", where the name may hold colons: it ends at the last one that is followed by all of this. */
static bool take_task(struct span *in, struct ftrace_event_in *e, uint32_t comm, uint32_t pid,
                      uint32_t prio)
{
	struct span s;
	uint64_t tid, priority;

	for (size_t i = EV_COMM_LEN; i-- > 0;) {
		if (i >= span_len(*in) || in->at[i] != ':')
			continue;
		s = (struct span){ in->at + i + 1, in->end };
		if (!span_value(&s, &tid) || !SPAN_TAKE(&s, " [") || !span_value(&s, &priority) ||
		    !SPAN_TAKE(&s, "]"))
			continue;
		text_put_text(e, comm, (struct span){ in->at, in->at + i });
		text_put_number(e, pid, tid);
		text_put_number(e, prio, priority);
		*in = s;
		return true;
	}
	return false;
}

/* As trace-cmd prints it: "sh:12 [120] S ==> perl:13 [120]". */
static bool switch_short(struct span in, struct ftrace_event_in *e)
{
	uint64_t state;

	if (!take_task(&in, e, SWITCH_PREV_COMM, SWITCH_PREV_PID, SWITCH_PREV_PRIO) ||
	    !SPAN_TAKE(&in, " ") || !state_of(word_of(&in), true, &state))
		return false;
	text_put_number(e, SWITCH_PREV_STATE, state);
	return SPAN_TAKE(&in, " ==> ") &&
	       take_task(&in, e, SWITCH_NEXT_COMM, SWITCH_NEXT_PID, SWITCH_NEXT_PRIO);
}

static bool read_switch(const struct text_event *ev, struct span in, struct ftrace_event_in *e)
{
	(void)ev;
	return SPAN_TAKE(&in, "prev_comm=") ? switch_keys(in, e) : switch_short(in, e);
}

/* "sh:12 [120] success=1 CPU:001", of which old kernels print one more and some print less. */
static bool wake_short(struct span in, struct ftrace_event_in *e)
{
	if (!take_task(&in, e, WAKE_COMM, WAKE_PID, WAKE_PRIO))
		return false;
	if (SPAN_TAKE(&in, " success="))
		(void)word_of(&in);
	if (SPAN_TAKE(&in, " CPU:"))
		return take_number(&in, e, WAKE_TARGET_CPU);
	return in.at == in.end || *in.at == ' ';
}

static bool read_wake(const struct text_event *ev, struct span in, struct ftrace_event_in *e)
{
	static const char target[] = " target_cpu=";
	const char *at;

	(void)ev;
	if (!SPAN_TAKE(&in, "comm="))
		return wake_short(in, e);
	if (!take_comm(&in, " pid=", e, WAKE_COMM) || !take_number(&in, e, WAKE_PID) ||
	    !SPAN_TAKE(&in, " prio=") || !take_number(&in, e, WAKE_PRIO))
		return false;
	if (SPAN_TAKE(&in, " target_cpu="))
		return take_number(&in, e, WAKE_TARGET_CPU);
	at = span_find(in, target, sizeof(target) - 1);
	if (!at)
		return false;
	in.at = at + sizeof(target) - 1;
	return take_number(&in, e, WAKE_TARGET_CPU);
}

/* "8,0": of struct block devices, as the kernel numbers them. */
static bool take_device(struct span *in, struct ftrace_event_in *e, uint32_t nr)
{
	uint64_t major, minor;

	if (!span_number(in, &major) || !SPAN_TAKE(in, ",") || !span_number(in, &minor) ||
	    major > UINT32_MAX || minor >= 1U << MINOR_BITS)
		return false;
	text_put_number(e, nr, major << MINOR_BITS | minor);
	return true;
}

/* What raw output has: "dev=8388608 sector=123 nr_sector=8 ... rwbs=WS". */
static bool block_keys(struct span in, struct ftrace_event_in *e)
{
	static const struct {
		const char *key;
		uint32_t nr;
	} keys[] = { { "dev=", BLOCK_DEV },
		     { " sector=", BLOCK_SECTOR },
		     { " nr_sector=", BLOCK_NR_SECTOR },
		     { " rwbs=", BLOCK_RWBS } };
	struct span at;
	const char *hit;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		hit = span_find(in, keys[i].key, strlen(keys[i].key));
		if (!hit)
			return false;
		at = (struct span){ hit + strlen(keys[i].key), in.end };
		if (keys[i].nr == BLOCK_RWBS)
			text_put_text(e, BLOCK_RWBS, word_of(&at));
		else if (!take_number(&at, e, keys[i].nr))
			return false;
	}
	return true;
}

/* "8,0 WS 4096 () 123 + 8 be,0,4 [sh]": bytes are not printed where it completes, the priority by new kernels. */
static bool read_block(const struct text_event *ev, struct span in, struct ftrace_event_in *e)
{
	const char *command;

	(void)ev;
	if (SPAN_BEGINS(in, "dev="))
		return block_keys(in, e);
	if (!take_device(&in, e, BLOCK_DEV) || !SPAN_TAKE(&in, " "))
		return false;
	text_put_text(e, BLOCK_RWBS, word_of(&in));
	command = span_find(in, ") ", 2);
	if (!command)
		return false;
	in.at = command + 2;
	return take_number(&in, e, BLOCK_SECTOR) && SPAN_TAKE(&in, " + ") &&
	       take_number(&in, e, BLOCK_NR_SECTOR);
}

/* "dev 8,0 ino 12 parent 2 datasync 0" */
static bool read_fsync(const struct text_event *ev, struct span in, struct ftrace_event_in *e)
{
	(void)ev;
	return SPAN_TAKE(&in, "dev ") && take_device(&in, e, SYNC_FILE_DEV) &&
	       SPAN_TAKE(&in, " ino ") && take_number(&in, e, SYNC_FILE_INO);
}

/* "work struct 00000000e3fedeb7: function foo"; old kernels print no function where it ends. */
static bool read_work(const struct text_event *ev, struct span in, struct ftrace_event_in *e)
{
	uint64_t value;
	struct span name;

	(void)ev;
	if (!SPAN_TAKE(&in, "work struct") || in.at == in.end)
		return false;
	in.at++; /* a space, or the sign of raw output */
	(void)SPAN_TAKE(&in, "0x");
	if (!span_hex(&in, &value))
		return false;
	text_put_number(e, WORK_WORK, value);
	if (!SPAN_TAKE(&in, ": function ") && !SPAN_TAKE(&in, " function="))
		return true;
	name = word_of(&in);
	if (SPAN_TAKE(&name, "0x")) {
		if (span_hex(&name, &value))
			text_put_number(e, WORK_FUNCTION, value);
	} else {
		text_put_text(e, WORK_FUNCTION, name);
	}
	return true;
}

/* "(Rescheduling interrupts)" */
static bool read_ipi(const struct text_event *ev, struct span in, struct ftrace_event_in *e)
{
	(void)ev;
	if (!SPAN_TAKE(&in, "(") || in.at == in.end)
		return false;
	while (in.end > in.at && in.end[-1] == ' ')
		in.end--;
	if (in.end > in.at && in.end[-1] == ')')
		in.end--;
	text_put_text(e, IPI_REASON, in);
	return true;
}

/* "syscore_resume[0] begin" */
static bool read_suspend(const struct text_event *ev, struct span in, struct ftrace_event_in *e)
{
	const char *bracket = memchr(in.at, '[', span_len(in));

	(void)ev;
	if (!bracket)
		return false;
	text_put_text(e, SUSPEND_ACTION, (struct span){ in.at, bracket });
	in.at = bracket + 1;
	if (!take_number(&in, e, SUSPEND_VAL) || !SPAN_TAKE(&in, "] "))
		return false;
	text_put_number(e, SUSPEND_START, SPAN_BEGINS(in, "begin"));
	return true;
}

/* Of trace_marker: as it was written, perhaps behind the function that wrote it. */
static bool read_mark(const struct text_event *ev, struct span in, struct ftrace_event_in *e)
{
	(void)ev;
	text_put_text(e, MARK_TEXT, in);
	return true;
}

text_read_fn *text_form_of(uint32_t member)
{
	switch (member) {
	case FTRACE_PRINT:
	case FTRACE_MARK:
		return read_mark;
	case FTRACE_SCHED_SWITCH:
		return read_switch;
	case FTRACE_SCHED_WAKING:
	case FTRACE_SCHED_WAKEUP:
	case FTRACE_SCHED_WAKEUP_NEW:
		return read_wake;
	case FTRACE_BLOCK_RQ_INSERT:
	case FTRACE_BLOCK_RQ_ISSUE:
	case FTRACE_BLOCK_RQ_COMPLETE:
		return read_block;
	case FTRACE_EXT4_SYNC_FILE_ENTER:
	case FTRACE_EXT4_SYNC_FILE_EXIT:
		return read_fsync;
	case FTRACE_WORKQUEUE_EXECUTE_START:
	case FTRACE_WORKQUEUE_EXECUTE_END:
		return read_work;
	case FTRACE_IPI_ENTRY:
	case FTRACE_IPI_EXIT:
		return read_ipi;
	case FTRACE_SUSPEND_RESUME:
		return read_suspend;
	default:
		return NULL;
	}
}
