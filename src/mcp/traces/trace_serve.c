/* The process that holds a trace: it loads what it is handed and runs tools on it. It has no rights (sys/rights/sandbox). */
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/socket.h>

#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/outgoing.h"
#include "mcp/tool.h"
#include "mcp/traces/trace_child_priv.h"
#include "mcp/traces/trace_names.h"
#include "record/frame_query.h"
#include "record/recording.h"

#define TRACES_MAX  2U
#define PROGRESS_NS 50000000ULL
#define REPLY_MAX   (2 * TRACE_NAMES_BYTES)

struct trace_serve {
	struct sandbox_wire wire;
	struct recording *traces[TRACES_MAX];
	size_t nr;
	uint64_t reported_ns;
	struct sandbox_msg in, out, progress, question, reply;
};

/* Between a request and its answer the server says nothing but this. */
bool trace_serve_is_cancelled(struct trace_serve *s)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };

	return recvmsg(s->wire.fd, &h, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static void put_double(struct sandbox_msg *m, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	sandbox_put_u64(m, bits);
}

void trace_serve_progress(struct trace_serve *s, double done, double total, const char *message)
{
	uint64_t now_ns = clock_boot_ns();

	if (s->reported_ns && now_ns - s->reported_ns < PROGRESS_NS)
		return;
	s->reported_ns = now_ns;
	sandbox_msg_begin(&s->progress, TRACE_PROGRESS);
	put_double(&s->progress, done);
	put_double(&s->progress, total);
	sandbox_put_text(&s->progress, message);
	if (sandbox_msg_send(&s->wire, &s->progress))
		_exit(0); /* there is no server any more */
}

/* What all answers begin with. */
static void put_state(struct trace_serve *s, int err, const struct diag *d)
{
	uint64_t nr_bytes = 0, nr_events = 0;

	for (size_t i = 0; i < s->nr; i++) {
		nr_bytes += recording_bytes(s->traces[i]);
		nr_events += recording_source(s->traces[i])->facts->nr_events;
	}
	sandbox_msg_begin(&s->out, TRACE_ANSWER);
	sandbox_put_u64(&s->out, (uint64_t)-err);
	sandbox_put_text(&s->out, d->what);
	sandbox_put_text(&s->out, d->hint);
	sandbox_put_u64(&s->out, nr_bytes);
	sandbox_put_u64(&s->out, nr_events);
}

static bool on_progress(void *ctx, uint64_t done, uint64_t total)
{
	trace_serve_progress(ctx, (double)done, (double)total, NULL);
	return true;
}

/* What only the server can do, while it waits for our answer. */
static int ask(struct trace_serve *s, uint32_t kind)
{
	int err = sandbox_msg_send(&s->wire, &s->question);

	if (!err)
		err = sandbox_msg_receive(&s->wire, REPLY_MAX, &s->reply);
	if (err == -EPIPE)
		_exit(0); /* there is no server any more */
	return err ? err : s->reply.kind == kind ? 0 : -EBADMSG;
}

static int open_part(void *ctx, unsigned int nr)
{
	struct trace_serve *s = ctx;
	uint64_t code;
	int err;

	(void)nr; /* they come in order */
	sandbox_msg_begin(&s->question, TRACE_NEXT);
	err = ask(s, TRACE_PART);
	if (err)
		return err;
	code = sandbox_get_u64(&s->reply);
	if (s->reply.error || code > INT16_MAX)
		return -EBADMSG;
	return code ? -(int)code : sandbox_take_fd(&s->reply, 0);
}

/* Without an answer the functions have no names. */
static int find_names(void *ctx, const struct frame_query *q, struct frame_names **out)
{
	struct trace_serve *s = ctx;
	int err;

	trace_names_put_query(&s->question, q);
	err = ask(s, TRACE_NAMES);
	if (!err)
		err = trace_names_get(&s->reply, q->nr_places, out);
	return err == -ENOMEM ? err : 0;
}

static void load(struct trace_serve *s)
{
	const char *name = sandbox_get_text(&s->in);
	uint64_t max_bytes = sandbox_get_u64(&s->in);
	bool is_folder = sandbox_get_u64(&s->in) != 0;
	SCOPED(scoped_close) int fd = sandbox_take_fd(&s->in, 0);
	struct recording_cfg cfg = { .name = name,
		                     .fd = fd,
		                     .open_part = is_folder ? open_part : NULL,
		                     .part_ctx = s,
		                     .namer = { .find = find_names, .ctx = s },
		                     .max_bytes = max_bytes,
		                     .max_hint = "start the server with a larger --max-trace-mib, "
		                                 "or free memory",
		                     .progress = on_progress,
		                     .progress_ctx = s };
	struct diag d = { 0 };
	int err = -EINVAL;

	if (name && fd > 0 && s->nr < TRACES_MAX)
		err = recording_open(name, &cfg, &d, &s->traces[s->nr]);
	s->nr += err == 0;
	put_state(s, err, &d);
}

static const struct tool *find_tool(const char *name)
{
	for (size_t i = 0; name && i < nr_tools; i++)
		if (strcmp(tools[i]->name, name) == 0 && tools[i]->read)
			return tools[i];
	return NULL;
}

static const struct source *source_of(const struct trace_serve *s, size_t at)
{
	return at < s->nr ? recording_source(s->traces[at]) : NULL;
}

/* What a tool wrote before it failed is dropped. */
static void run_call(struct trace_serve *s, struct tool_call *call)
{
	struct outgoing o = { 0 }, file = { 0 };
	int err = outgoing_begin(&o);

	if (!err)
		err = outgoing_begin(&file);
	if (!err) {
		jw_begin_object(&o.w, NULL);
		call->out = &o.w;
		call->file = &file;
		err = call->tool->read(call);
		jw_end_object(&o.w);
	}
	if (!err && outgoing_end(&o))
		err = diag_set(call->d, -E2BIG, "ask for less", "the answer could not be written");
	if (!err)
		err = file.w.has_value[0] ? outgoing_end(&file) : outgoing_end_text(&file);
	put_state(s, err, call->d);
	sandbox_put_bytes(&s->out, o.text, err ? 0 : o.len);
	sandbox_put_bytes(&s->out, file.text, err ? 0 : file.len);
	outgoing_done(&o);
	outgoing_done(&file);
}

static void run(struct trace_serve *s)
{
	const struct tool *tool = find_tool(sandbox_get_text(&s->in));
	const char *id = sandbox_get_text(&s->in);
	const char *args = sandbox_get_text(&s->in), *given = sandbox_get_text(&s->in);
	json_t *args_value = args ? json_loads(args, 0, NULL) : NULL;
	json_t *given_value = given ? json_loads(given, 0, NULL) : NULL;
	struct diag d = { 0 };
	struct tool_call call = { .tool = tool,
		                  .args = args_value,
		                  .given = given_value,
		                  .d = &d,
		                  .serve = s,
		                  .trace_id = id,
		                  .s = source_of(s, 0),
		                  .other = source_of(s, 1) };

	s->reported_ns = 0;
	if (tool && args_value && call.s)
		run_call(s, &call);
	else
		put_state(s, -EINVAL, &d);
	json_decref(args_value);
	json_decref(given_value);
}

static void serve(int fd)
{
	struct trace_serve s = { .wire = { .fd = fd } };

	while (sandbox_msg_receive(&s.wire, 2 * TRACE_REQUEST_MAX, &s.in) == 0) {
		if (s.in.kind == TRACE_LOAD)
			load(&s);
		else if (s.in.kind == TRACE_RUN)
			run(&s);
		else
			continue; /* a cancellation that came too late */
		if (sandbox_msg_send(&s.wire, &s.out))
			break;
	}
}

const struct sandbox_job trace_job = { .name = "traces", .serve = serve, .has_threads = true };
SANDBOX_JOB(trace_job)
