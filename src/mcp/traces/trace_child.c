#include "mcp/traces/trace_child.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "mcp/tool.h"
#include "mcp/traces/trace_child_priv.h"
#include "mcp/traces/trace_names.h"
#include "record/recording.h"

#define SECOND_NS  1000000000ULL
#define CPU_NS     (600 * SECOND_NS)
#define WALL_NS    (3600 * SECOND_NS)
#define ANSWER_MAX ((size_t)512 << 20)
#define SPARE_BYTES \
	((uint64_t)1 << 30) /* for the file itself, what is unpacked of it, and stacks of threads */
#define MEMORY_MAX ((uint64_t)1 << 46)

struct trace_child {
	struct sandbox *box;
	uint64_t max_bytes;
	uint64_t nr_bytes, nr_events;
};

int trace_child_new(uint64_t max_bytes, struct diag *d, struct trace_child **out)
{
	struct trace_child *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	c->max_bytes = max_bytes;
	/* Tables are made beside what they are made of. */
	err = sandbox_start(&trace_job,
	                    max_bytes < MEMORY_MAX / 2 ? 2 * max_bytes + SPARE_BYTES : MEMORY_MAX,
	                    d, &c->box);
	if (err) {
		free(c);
		return err;
	}
	*out = c;
	return 0;
}

void trace_child_free(struct trace_child *c)
{
	if (!c)
		return;
	sandbox_end(c->box);
	free(c);
}

void scoped_trace_answer(struct trace_answer *a)
{
	sandbox_msg_done(&a->m);
}

static int explain_death(const struct trace_child *c, int err, struct diag *d)
{
	if (err == -ECANCELED)
		return diag_set(d, err, NULL, "cancelled");
	return diag_set(d, -EIO, "load it again, or another one; the file may be damaged",
	                "the process that held the trace %s", sandbox_why(c->box));
}

static int answered_nonsense(struct diag *d)
{
	return diag_set(d, -EBADMSG, NULL,
	                "the process that held the trace gave an invalid answer");
}

static double get_double(struct sandbox_msg *m)
{
	uint64_t bits = sandbox_get_u64(m);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Error, memory and events, which all answers begin with. */
static int read_answer(struct trace_child *c, struct sandbox_msg *m, struct diag *d)
{
	uint64_t code = sandbox_get_u64(m);
	const char *what = sandbox_get_text(m), *hint = sandbox_get_text(m);
	uint64_t nr_bytes = sandbox_get_u64(m), nr_events = sandbox_get_u64(m);

	if (m->error || code > INT16_MAX)
		return answered_nonsense(d);
	c->nr_bytes = nr_bytes;
	c->nr_events = nr_events;
	if (!code)
		return 0;
	return diag_set(d, -(int)code, hint, "%s", what ? what : "the trace cannot be read");
}

struct loading {
	const struct trace_child_load *load;
	uint64_t done, total;
	unsigned int nr_parts; /* handed over */
	bool has_names;        /* were asked for */
	bool is_unwanted;
};

static bool is_unwanted(void *ctx)
{
	struct loading *l = ctx;

	if (!l->is_unwanted && l->load->progress)
		l->is_unwanted = !l->load->progress(l->load->ctx, l->done, l->total);
	return l->is_unwanted;
}

/* The next file of the folder, as long as there are some: it cannot choose which. */
static int hand_part(struct trace_child *c, struct loading *l)
{
	const struct trace_child_load *load = l->load;
	SCOPED(sandbox_msg_done) struct sandbox_msg m = { .kind = TRACE_PART };
	SCOPED(scoped_close)
	int fd = load->open_part && l->nr_parts < RECORDING_PARTS_MAX
	                 ? load->open_part(load->part_ctx, l->nr_parts++)
	                 : -ENOENT;

	sandbox_put_u64(&m, fd < 0 ? (uint64_t)-fd : 0);
	if (fd >= 0)
		sandbox_put_fd(&m, fd);
	return sandbox_reply(c->box, &m);
}

/* Once for each trace. */
static int hand_names(struct trace_child *c, struct loading *l, struct sandbox_msg *question)
{
	SCOPED(sandbox_msg_done) struct sandbox_msg m = { 0 };
	const struct frame_limits limits = { .wall_ns = TRACE_NAMES_WALL_NS,
		                             .max_files = TRACE_NAMES_FILES,
		                             .should_stop = is_unwanted,
		                             .ctx = l };
	int err = l->has_names ? -EBADMSG : trace_names_answer(question, &limits, &m);

	l->has_names = true;
	if (err == -ENOMEM) { /* the trace is worth more than its names */
		sandbox_msg_done(&m);
		m = (struct sandbox_msg){ .kind = TRACE_NAMES };
		sandbox_put_u64(&m, 0);
		err = 0;
	}
	return err ? err : sandbox_reply(c->box, &m);
}

static int await_load(struct trace_child *c, struct loading *l, struct sandbox_msg *m)
{
	int err;

	while (!(err = sandbox_answer(c->box, m)) && m->kind != TRACE_ANSWER) {
		if (m->kind == TRACE_PROGRESS) {
			l->done = (uint64_t)get_double(m);
			l->total = (uint64_t)get_double(m);
		} else if (m->kind == TRACE_NEXT) {
			err = hand_part(c, l);
		} else {
			err = m->kind == TRACE_PLACES ? hand_names(c, l, m) : -EBADMSG;
		}
		if (err)
			return err;
		if (is_unwanted(l))
			return -ECANCELED;
	}
	return err;
}

int trace_child_load(struct trace_child *c, const struct trace_child_load *load, struct diag *d)
{
	SCOPED(sandbox_msg_done) struct sandbox_msg m = { .kind = TRACE_LOAD };
	struct loading l = { .load = load };
	const struct sandbox_limits limits = { .cpu_ns = CPU_NS,
		                               .wall_ns = WALL_NS,
		                               .max_bytes = ANSWER_MAX,
		                               .should_stop = is_unwanted,
		                               .ctx = &l };
	int err;

	sandbox_put_text(&m, load->name);
	sandbox_put_u64(&m, recording_limit(c->max_bytes)); /* the child cannot check */
	sandbox_put_u64(&m, load->open_part != NULL);
	sandbox_put_fd(&m, load->fd);
	err = sandbox_ask(c->box, &m, &limits);
	if (!err)
		err = await_load(c, &l, &m);
	if (err == -ECANCELED)
		return diag_set(d, err, NULL, "loading '%s' was cancelled", load->name);
	if (err == -EBADMSG && !sandbox_is_dead(c->box))
		return answered_nonsense(d);
	return err ? explain_death(c, err, d) : read_answer(c, &m, d);
}

/* It goes into our own answers as it is: one object, in one line. */
static bool is_object(const char *json, size_t len)
{
	json_t *value;
	bool is_good;

	for (size_t i = 0; i < len; i++)
		if ((unsigned char)json[i] < 0x20)
			return false;
	if (len < 2 || json[0] != '{' || json[len - 1] != '}')
		return false;
	value = json_loadb(json, len, JSON_DECODE_INT_AS_REAL, NULL);
	is_good = json_is_object(value);
	json_decref(value);
	return is_good;
}

struct running {
	struct trace_child *child;
	struct tool_call *call;
	bool has_cancelled;
};

/* The analysis checks between two steps: the trace is kept. */
static bool pass_on_cancel(void *ctx)
{
	struct running *r = ctx;

	if (!r->has_cancelled && call_is_cancelled(r->call)) {
		r->has_cancelled = true;
		sandbox_notify(r->child->box, TRACE_CANCEL);
	}
	return false;
}

static int await_answer(struct trace_child *c, struct tool_call *call, struct sandbox_msg *m)
{
	int err;

	while (!(err = sandbox_answer(c->box, m)) && m->kind == TRACE_PROGRESS) {
		double done = get_double(m), total = get_double(m);

		call_progress(call, done, total, sandbox_get_text(m));
	}
	return err;
}

static char *as_text(const json_t *value)
{
	return value ? json_dumps(value, JSON_COMPACT) : NULL;
}

static int ask(struct trace_child *c, struct running *r, const char *id, struct sandbox_msg *m)
{
	SCOPED(scoped_free) char *args = as_text(r->call->args);
	SCOPED(scoped_free) char *given = as_text(r->call->given);
	const struct sandbox_limits limits = { .cpu_ns = CPU_NS,
		                               .wall_ns = WALL_NS,
		                               .max_bytes = ANSWER_MAX,
		                               .should_stop = pass_on_cancel,
		                               .ctx = r };

	sandbox_msg_begin(m, TRACE_RUN);
	sandbox_put_text(m, r->call->tool->name);
	sandbox_put_text(m, id);
	sandbox_put_text(m, args);
	sandbox_put_text(m, given);
	if (m->len > TRACE_REQUEST_MAX)
		return -E2BIG;
	return sandbox_ask(c->box, m, &limits);
}

int trace_child_run(struct trace_child *c, struct tool_call *call, const char *id,
                    struct trace_answer *out)
{
	struct running r = { .child = c, .call = call };
	int err = ask(c, &r, id, &out->m);

	if (err == -E2BIG)
		return diag_set(call->d, err, "ask for less", "the arguments are too long");
	if (!err)
		err = await_answer(c, call, &out->m);
	if (err)
		return explain_death(c, err, call->d);
	err = read_answer(c, &out->m, call->d);
	if (err)
		return err;
	out->json = sandbox_get_bytes(&out->m, &out->len);
	out->file = sandbox_get_bytes(&out->m, &out->file_len);
	if (out->m.error || !out->json || !is_object(out->json, out->len))
		return answered_nonsense(call->d);
	return 0;
}

bool trace_child_is_dead(const struct trace_child *c)
{
	return sandbox_is_dead(c->box);
}

uint64_t trace_child_bytes(const struct trace_child *c)
{
	return c->nr_bytes;
}

uint64_t trace_child_events(const struct trace_child *c)
{
	return c->nr_events;
}
