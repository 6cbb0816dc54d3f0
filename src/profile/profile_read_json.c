#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "profile/profile_read_priv.h"

#define JSON_CAP ((size_t)128 << 20) /* a tree of it takes many times as much memory */

static void scoped_json(json_t *const *root)
{
	json_decref(*root);
}

static uint64_t number_at(const json_t *obj, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(obj, key));

	return value > 0 ? (uint64_t)value : 0;
}

static uint32_t small_at(const json_t *obj, const char *key)
{
	uint64_t value = number_at(obj, key);

	return value < UINT32_MAX ? (uint32_t)value : 0;
}

static const char *text_at(const json_t *obj, const char *key)
{
	return json_string_value(json_object_get(obj, key));
}

/* What a symbol's stacks contain, and what remains. */
struct reading {
	struct profile_reader *r;
	uint32_t *frames;
	size_t nr_frames;
	size_t symbol; /* its number, for messages */
};

static int wrong(const struct reading *in, const char *what)
{
	return diag_set(in->r->d, -EINVAL, PROFILE_READ_HINT, "symbols[%zu] of '%s' %s", in->symbol,
	                in->r->name, what);
}

static int take_frame(struct reading *in, const json_t *from, bool is_kernel)
{
	struct profile_frame frame = { .symbol = text_at(from, "symbol"),
		                       .module = text_at(from, "module"),
		                       .file = text_at(from, "file"),
		                       .line = small_at(from, "line"),
		                       .is_inlined = json_is_true(
					       json_object_get(from, "is_inlined")),
		                       .is_kernel = is_kernel };
	const char *address = text_at(from, "address");
	int err;

	if (!frame.symbol)
		return wrong(in, "has a frame without 'symbol'");
	if (address && !text_to_u64(address, &frame.address))
		return wrong(in, "has an address that is not a number");
	if (in->nr_frames == PROFILE_MAX_DEPTH)
		return wrong(in, "has a stack that is too deep");
	err = profile_add_frame(in->r->p, &frame, &in->frames[in->nr_frames++]);
	return err ? profile_read_failed(in->r, err) : 0;
}

static int take_frames(struct reading *in, const json_t *stack, bool is_kernel)
{
	size_t i;
	json_t *frame;
	int err;

	json_array_foreach(stack, i, frame)
	{
		err = take_frame(in, frame, is_kernel);
		if (err)
			return err;
	}
	return 0;
}

static int take_stack(struct reading *in, const json_t *symbol, const json_t *from)
{
	struct profile_task task = { .layer = PROFILE_NO_LAYER,
		                     .tgid = small_at(from, "pid"),
		                     .process = text_at(from, "process") };
	struct profile_stack stack = { .frames = in->frames, .cpu = small_at(symbol, "cpu_id") };
	int err;

	in->nr_frames = 0;
	err = take_frames(in, json_object_get(from, "kernel_stack"), true);
	if (!err)
		err = take_frames(in, json_object_get(from, "user_stack"), false);
	if (err)
		return err;
	stack.nr = in->nr_frames;
	stack.count = number_at(from, "count");
	stack.value = json_object_get(from, "value") ? number_at(from, "value") : stack.count;
	task.comm = task.process;
	task.tid = task.tgid;
	err = profile_add_task(in->r->p, &task, &stack.task);
	if (!err)
		err = profile_add_stack(in->r->p, &stack);
	return err ? profile_read_failed(in->r, err) : 0;
}

static int take_symbol(struct reading *in, const json_t *symbol)
{
	const json_t *stacks = json_object_get(symbol, "stack_traces");
	json_t *stack;
	size_t i;
	int err;

	if (!json_is_array(stacks))
		return wrong(in, "has no 'stack_traces'");
	json_array_foreach(stacks, i, stack)
	{
		err = take_stack(in, symbol, stack);
		if (err)
			return err;
	}
	return 0;
}

/* Shares stay those of the whole: what the list left out is there, without a name. */
static int take_rest(const struct profile_reader *r, const json_t *root)
{
	uint64_t count = number_at(root, "total_samples"), value = number_at(root, "total_count");
	struct profile_task task = { .process = PROFILE_NOT_LISTED, .layer = PROFILE_NO_LAYER };
	struct profile_stack stack = { 0 };
	int err;

	if (count <= profile_count(r->p) || value < profile_value(r->p))
		return 0;
	stack.count = count - profile_count(r->p);
	stack.value = value - profile_value(r->p);
	task.comm = task.process;
	err = profile_add_task(r->p, &task, &stack.task);
	if (!err)
		err = profile_add_stack(r->p, &stack);
	return err ? profile_read_failed(r, err) : 0;
}

static int take_facts(const struct profile_reader *r, const json_t *root)
{
	struct profile_facts facts = { .event = text_at(root, "event"),
		                       .unit = text_at(root, "unit"),
		                       .frequency = number_at(root, "frequency"),
		                       .period = number_at(root, "period"),
		                       .duration_ns = number_at(root, "duration_ns"),
		                       .start_real_ns = number_at(root, "start_real_ns"),
		                       .lost = number_at(root, "lost"),
		                       .broken = number_at(root, "broken_stacks") };
	int err = profile_set_facts(r->p, &facts);

	return err ? profile_read_failed(r, err) : 0;
}

static int take_symbols(struct profile_reader *r, const json_t *symbols)
{
	SCOPED(scoped_free) uint32_t *frames = calloc(PROFILE_MAX_DEPTH, sizeof(*frames));
	struct reading in = { .r = r, .frames = frames };
	json_t *symbol;
	int err;

	if (!frames)
		return profile_read_failed(r, -ENOMEM);
	json_array_foreach(symbols, in.symbol, symbol)
	{
		err = take_symbol(&in, symbol);
		if (err)
			return err;
	}
	return 0;
}

int profile_read_json(struct profile_reader *r, const char *text)
{
	SCOPED(scoped_json) json_t *root = NULL;
	char why[JSON_ERROR_TEXT_LENGTH];
	const json_t *symbols;
	json_error_t error;
	int err;

	if (strnlen(text, JSON_CAP + 1) > JSON_CAP)
		return diag_set(r->d, -EFBIG, "write the older profile with --folded",
		                "the JSON of '%s' is too large", r->name);
	root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		return diag_set(r->d, -EINVAL, PROFILE_READ_HINT,
		                "'%s' is not valid JSON (line %d: %s)", r->name, error.line,
		                text_printable(why, sizeof(why), error.text, strlen(error.text)));
	symbols = json_object_get(root, "symbols");
	if (!json_is_array(symbols))
		return diag_set(r->d, -EINVAL, PROFILE_READ_HINT, "'%s' has no list 'symbols'",
		                r->name);
	err = take_facts(r, root);
	if (!err)
		err = take_symbols(r, symbols);
	return err ? err : take_rest(r, root);
}
