/*
 * A process that holds a trace, taken over by the file that it has read: what it may ask of the server, and how often.
 *
 * This program is that process, too: its job stands in for the one of the server.
 */
#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "mcp/traces/trace_child.h"
#include "mcp/traces/trace_child_priv.h"
#include "mcp/traces/trace_names.h"
#include "record/frame_query.h"

#define MEMORY ((uint64_t)64 << 20)

/* In the process. */
struct hostile {
	struct sandbox_wire wire;
	struct sandbox_msg in, out;
};

bool trace_serve_is_cancelled(struct trace_serve *s)
{
	(void)s;
	return false;
}

void trace_serve_progress(struct trace_serve *s, double done, double total, const char *message)
{
	(void)s;
	(void)done;
	(void)total;
	(void)message;
}

static uint32_t ask(struct hostile *h)
{
	if (sandbox_msg_send(&h->wire, &h->out) ||
	    sandbox_msg_receive(&h->wire, TRACE_NAMES_BYTES, &h->in))
		_exit(0);
	return h->in.kind;
}

static bool ask_names(struct hostile *h)
{
	struct frame_place place = { .file = 0 };
	struct frame_file file = { .path = "/nowhere/x", .nr_build_id = 1 };
	const struct frame_query q = {
		.files = &file, .nr_files = 1, .places = &place, .nr_places = 1
	};

	trace_names_put_query(&h->out, &q);
	return ask(h) == TRACE_NAMES;
}

/* How many files it gets until it is told that there are no more. */
static uint64_t ask_parts(struct hostile *h)
{
	for (uint64_t nr = 0;; nr++) {
		sandbox_msg_begin(&h->out, TRACE_NEXT);
		if (ask(h) != TRACE_PART || sandbox_get_u64(&h->in))
			return nr;
		close(sandbox_take_fd(&h->in, 0));
	}
}

static uint64_t behave(struct hostile *h, const char *how)
{
	if (strcmp(how, "names") == 0)
		return ask_names(h);
	if (strcmp(how, "twice") == 0)
		return ask_names(h) && ask_names(h);
	if (strcmp(how, "parts") == 0)
		return ask_parts(h);
	sandbox_msg_begin(&h->out, strcmp(how, "empty") == 0 ? TRACE_PLACES : 99);
	return ask(h);
}

static void serve(int fd)
{
	struct hostile h = { .wire = { .fd = fd } };

	while (sandbox_msg_receive(&h.wire, TRACE_REQUEST_MAX, &h.in) == 0) {
		const char *name = sandbox_get_text(&h.in);
		char how[16] = "";
		uint64_t nr;

		if (name)
			strncpy(how, name, sizeof(how) - 1);
		nr = behave(&h, how);
		sandbox_msg_begin(&h.out, TRACE_ANSWER);
		sandbox_put_u64(&h.out, 0);
		sandbox_put_text(&h.out, "");
		sandbox_put_text(&h.out, "");
		sandbox_put_u64(&h.out, 0);
		sandbox_put_u64(&h.out, nr); /* as the number of events */
		if (sandbox_msg_send(&h.wire, &h.out))
			break;
	}
}

const struct sandbox_job trace_job = { .name = "traces", .serve = serve };
SANDBOX_JOB(trace_job)

/* In the server. */
struct parts {
	unsigned int nr, asked;
	bool is_in_order;
};

static int open_part(void *ctx, unsigned int nr)
{
	struct parts *p = ctx;

	p->is_in_order &= nr == p->asked;
	p->asked++;
	return nr < p->nr ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -ENOENT;
}

static int load(const char *how, struct parts *p, uint64_t *nr)
{
	struct trace_child_load what = { .name = how };
	struct trace_child *c = NULL;
	struct diag d = { 0 };
	int err;

	what.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (p) {
		what.open_part = open_part;
		what.part_ctx = p;
	}
	assert_int_equal(trace_child_new(MEMORY, &d, &c), 0);
	err = trace_child_load(c, &what, &d);
	*nr = trace_child_events(c);
	if (err)
		assert_string_equal(d.what,
		                    "the process that held the trace gave an invalid answer");
	trace_child_free(c);
	close(what.fd);
	return err;
}

static void names_can_be_asked_for_once(void **state)
{
	uint64_t nr;

	(void)state;
	expect_eq(load("names", NULL, &nr), 0);
	expect_eq(nr, 1);
	expect_eq(load("twice", NULL, &nr), -EBADMSG);
}

static void questions_of_no_known_kind_end_it(void **state)
{
	uint64_t nr;

	(void)state;
	expect_eq(load("odd", NULL, &nr), -EBADMSG);
	expect_eq(load("empty", NULL, &nr), -EBADMSG);
}

static void files_of_a_folder_come_in_order(void **state)
{
	struct parts p = { .nr = 5, .is_in_order = true };
	uint64_t nr;

	(void)state;
	expect_eq(load("parts", &p, &nr), 0);
	expect_eq(nr, 5);
	expect_eq(p.asked, 6);
	assert_true(p.is_in_order);
}

static void of_a_file_there_are_no_others(void **state)
{
	uint64_t nr;

	(void)state;
	expect_eq(load("parts", NULL, &nr), 0);
	expect_eq(nr, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_can_be_asked_for_once),
		cmocka_unit_test(questions_of_no_known_kind_end_it),
		cmocka_unit_test(files_of_a_folder_come_in_order),
		cmocka_unit_test(of_a_file_there_are_no_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
