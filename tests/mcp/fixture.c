#include "fixture.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "mcp/prompt.h"
#include "mcp/resource.h"
#include "mcp/tool.h"
#include "mcp/world.h"

#define BIG_MAX 3000000

static atomic_int nr_watching, nr_cancelled, nr_reads;

int fixture_nr_reads(void)
{
	return atomic_load(&nr_reads);
}

int fixture_nr_watching(void)
{
	return atomic_load(&nr_watching);
}

int fixture_nr_cancelled(void)
{
	return atomic_load(&nr_cancelled);
}

int mcp_world_open(struct mcp_world *w, const struct mcp_cfg *cfg, struct diag *d)
{
	(void)d;
	w->cfg = *cfg;
	return 0;
}

void mcp_world_forget(struct mcp_world *w, uint64_t owner)
{
	(void)w;
	(void)owner;
}

bool mcp_world_works_for(const struct mcp_world *w, uint64_t owner)
{
	(void)w;
	(void)owner;
	return false;
}

void mcp_world_close(struct mcp_world *w)
{
	(void)w;
}

static void nap_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

static int echo(struct tool_call *c)
{
	jw_string(c->out, "text", call_string(c, "text"));
	return 0;
}

static int fail(struct tool_call *c)
{
	jw_string(c->out, "text", "half");
	return diag_set(c->d, -EIO, "try echo instead", "this tool always fails");
}

static int wait_long(struct tool_call *c)
{
	uint64_t ms = call_u64(c, "ms"), start_ns = clock_boot_ns(), passed_ms = 0;

	while (passed_ms < ms && !call_is_cancelled(c)) {
		nap_ms(5);
		passed_ms = (clock_boot_ns() - start_ns) / 1000000;
		/* Not shortly before the answer: the official client takes a notification that comes with it for a stray. */
		if (passed_ms + 100 < ms)
			call_progress(c, (double)passed_ms, (double)ms, "waiting");
	}
	if (call_is_cancelled(c)) {
		atomic_fetch_add(&nr_cancelled, 1);
		return -ECANCELED;
	}
	jw_string(c->out, "text", "done");
	return 0;
}

static int big(struct tool_call *c)
{
	size_t len = (size_t)call_u64(c, "bytes");
	char *text = malloc(len + 1);

	if (!text)
		return diag_set(c->d, -ENOMEM, NULL, "out of memory");
	memset(text, 'x', len);
	jw_bytes(c->out, "text", text, len);
	free(text);
	return 0;
}

static int choose(struct tool_call *c)
{
	static const char *const fruits[] = { "apple", "pear", "plum" };
	const struct call_question q = { "fruit", "Which fruit?", fruits, 3 };
	const char *fruit = NULL;

	switch (call_answer(c, "fruit", &fruit)) {
	case CALL_DECLINED:
		return diag_set(c->d, -EINVAL, NULL, "no fruit was chosen");
	case CALL_NOT_ASKED:
		return call_can_ask(c) ? call_ask(c, &q)
		                       : diag_set(c->d, -EINVAL, "apple, pear, plum",
		                                  "there are several fruits");
	case CALL_ANSWERED:
		break;
	}
	for (size_t i = 0; i < 3; i++) {
		if (strcmp(fruits[i], fruit) != 0)
			continue;
		jw_string(c->out, "text", fruits[i]);
		return 0;
	}
	return call_ask(c, &q);
}

static int talk(struct tool_call *c)
{
	for (int level = MCP_DEBUG; level <= MCP_WARNING; level++)
		call_log(c, (enum mcp_level)level, "level %d", level);
	jw_u64(c->out, "owner", c->owner);
	jw_string(c->out, "text", "said");
	return 0;
}

static const struct arg echo_args[] = {
	{ .name = "text",
	  .type = ARG_STRING,
	  .description = "what to say",
	  .fallback = "\"hello\"" },
	{ 0 },
};
static const struct arg wait_args[] = {
	{ .name = "ms",
	  .type = ARG_INTEGER,
	  .description = "how long",
	  .min = 0,
	  .max = 600000,
	  .fallback = "1" },
	{ 0 },
};
static const struct arg big_args[] = {
	{ .name = "bytes",
	  .type = ARG_INTEGER,
	  .description = "how much",
	  .min = 0,
	  .max = BIG_MAX,
	  .fallback = "10" },
	{ 0 },
};
static const struct out_field text_output[] = { { "text", "string", NULL }, { 0 } };

static const struct tool tool_echo = { .name = "echo",
	                               .title = "Echo",
	                               .description = "says it back",
	                               .set = TOOLSET_CORE,
	                               .args = echo_args,
	                               .output = text_output,
	                               .run = echo };
static const struct tool tool_fail = { .name = "fail",
	                               .title = "Fail",
	                               .description = "fails",
	                               .set = TOOLSET_CORE,
	                               .args = echo_args,
	                               .output = text_output,
	                               .run = fail };
static const struct tool tool_wait = { .name = "wait",
	                               .title = "Wait",
	                               .description = "takes long",
	                               .set = TOOLSET_CORE,
	                               .args = wait_args,
	                               .output = text_output,
	                               .run = wait_long };
static const struct tool tool_big = { .name = "big",
	                              .title = "Big",
	                              .description = "much text",
	                              .set = TOOLSET_TRACE,
	                              .args = big_args,
	                              .output = text_output,
	                              .run = big };

static const struct tool tool_choose = { .name = "choose",
	                                 .title = "Choose",
	                                 .description = "asks which",
	                                 .set = TOOLSET_CORE,
	                                 .output = text_output,
	                                 .run = choose };
static const struct tool tool_talk = { .name = "talk",
	                               .title = "Talk",
	                               .description = "sends messages",
	                               .set = TOOLSET_CORE,
	                               .output = text_output,
	                               .run = talk };

#define TEN(t)     t, t, t, t, t, t, t, t, t, t
#define HUNDRED(t) TEN(t), TEN(t), TEN(t), TEN(t), TEN(t), TEN(t), TEN(t), TEN(t), TEN(t), TEN(t)

const struct tool *const tools[] = { &tool_echo,          &tool_fail,      &tool_wait,
	                             &tool_big,           &tool_choose,    &tool_talk,
	                             HUNDRED(&tool_echo), TEN(&tool_echo), TEN(&tool_echo),
	                             TEN(&tool_echo) };
const size_t nr_tools = sizeof(tools) / sizeof(tools[0]);

static int read_clock(struct mcp_world *w, const char *query, struct json_writer *out,
                      struct diag *d)
{
	(void)w;
	(void)query;
	(void)d;
	jw_u64(out, "now_ns", clock_boot_ns());
	return 0;
}

static int begin_clock(struct mcp_world *w, const char *query, struct diag *d)
{
	(void)w;
	if (strcmp(query, "broken=1") == 0)
		return diag_set(d, -EIO, "ask for another", "this one cannot be watched");
	atomic_fetch_add(&nr_watching, 1);
	return 0;
}

static void end_clock(struct mcp_world *w, const char *query)
{
	(void)w;
	(void)query;
	atomic_fetch_sub(&nr_watching, 1);
}

static uint64_t clock_revision(struct mcp_world *w, const char *query)
{
	(void)w;
	(void)query;
	return clock_boot_ns() / 100000000;
}

static const struct resource resource_clock = { .uri = "fake://clock",
	                                        .name = "clock",
	                                        .title = "Clock",
	                                        .description = "changes all the time",
	                                        .set = TOOLSET_LIVE,
	                                        .read = read_clock,
	                                        .begin = begin_clock,
	                                        .end = end_clock,
	                                        .revision = clock_revision };
static int read_still(struct mcp_world *w, const char *query, struct json_writer *out,
                      struct diag *d)
{
	uint64_t number = 0;

	(void)w;
	atomic_fetch_add(&nr_reads, 1);
	jw_string(out, "text", "always the same");
	return resource_query_u64(query, "number", 1, 9, &number, d);
}

static const struct resource resource_ticks = { .uri = "fake://ticks",
	                                        .name = "ticks",
	                                        .title = "Ticks",
	                                        .description = "has no revision, but changes",
	                                        .set = TOOLSET_LIVE,
	                                        .read = read_clock };
static const struct resource resource_still = { .uri = "fake://still",
	                                        .name = "still",
	                                        .title = "Still",
	                                        .description = "never changes",
	                                        .set = TOOLSET_TRACE,
	                                        .read = read_still,
	                                        .poll_ms = 200 };

const struct resource *const resources[] = { &resource_clock, &resource_still, &resource_ticks };
const size_t nr_resources = 3;
const struct resource_template resource_templates[] = { { "fake://clock{?zone}", "zoned", "Zoned",
	                                                  "a clock elsewhere" } };
const size_t nr_resource_templates = 1;

static const char *const names[] = { "world", "wonder", "nobody", NULL };
static const struct prompt_arg greet_args[] = { { "name", "who", names }, { 0 } };

static int greet(const struct prompt_values *v, FILE *out, struct diag *d)
{
	if (v->values[0] && strcmp(v->values[0], "nobody") == 0)
		return diag_set(d, -EINVAL, NULL, "\"name\" must be somebody");
	fprintf(out, "Greet %s.", v->values[0] ? v->values[0] : "all");
	return 0;
}

static const struct prompt prompt_greet = { .name = "greet",
	                                    .title = "Greet",
	                                    .description = "a greeting",
	                                    .args = greet_args,
	                                    .write = greet };

const struct prompt *const prompts[] = { &prompt_greet };
const size_t nr_prompts = 1;

static bool is_rpc(const json_t *value)
{
	const char *version = json_string_value(json_object_get(value, "jsonrpc"));

	if (json_is_array(value)) {
		size_t i;
		json_t *one;

		json_array_foreach((json_t *)value, i, one) if (!is_rpc(one)) return false;
		return json_array_size(value) > 0;
	}
	return version && strcmp(version, "2.0") == 0 &&
	       (json_object_get(value, "method") || json_object_get(value, "result") ||
	        json_object_get(value, "error"));
}

static void keep(void *ctx, void *exchange, const char *text, size_t len, enum mcp_end end)
{
	json_t *value = len ? json_loadb(text, len, 0, NULL) : NULL;
	struct fake_link *l = ctx;

	pthread_mutex_lock(&l->lock);
	if (len && !is_rpc(value))
		l->nr_bad++;
	if (l->nr == l->size) {
		l->size = l->size ? 2 * l->size : 64;
		l->sent = realloc(l->sent, l->size * sizeof(*l->sent));
		if (!l->sent)
			abort();
	}
	l->sent[l->nr++] = (struct sent){ exchange, value, end != MCP_MORE, end };
	pthread_cond_broadcast(&l->has_more);
	pthread_mutex_unlock(&l->lock);
}

void fake_link_init(struct fake_link *l)
{
	*l = (struct fake_link){ .lock = PTHREAD_MUTEX_INITIALIZER,
		                 .has_more = PTHREAD_COND_INITIALIZER };
}

void fake_link_clear(struct fake_link *l)
{
	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < l->nr; i++)
		json_decref(l->sent[i].value);
	l->nr = 0;
	pthread_mutex_unlock(&l->lock);
}

void fake_link_done(struct fake_link *l)
{
	fake_link_clear(l);
	free(l->sent);
}

struct mcp_link fake_link_use(struct fake_link *l)
{
	return (struct mcp_link){ keep, l };
}

bool fake_link_wait(struct fake_link *l, size_t nr)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	pthread_mutex_lock(&l->lock);
	while (!err && l->nr < nr)
		err = pthread_cond_timedwait(&l->has_more, &l->lock, &until);
	pthread_mutex_unlock(&l->lock);
	return !err;
}
