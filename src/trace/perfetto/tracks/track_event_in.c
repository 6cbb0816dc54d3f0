#include "trace/perfetto/tracks/track_event_in.h"

#include <math.h>
#include <string.h>

#include "trace/perfetto/schema.h"
#include "trace/perfetto/tracks/schema_tracks.h"

bool track_text_is(struct track_text text, const char *s)
{
	return text.s && strlen(s) == text.len && memcmp(text.s, s, text.len) == 0;
}

bool track_text_begins(struct track_text text, const char *s)
{
	return text.s && strlen(s) <= text.len && memcmp(text.s, s, strlen(s)) == 0;
}

static bool text_ends(struct track_text text, const char *s)
{
	size_t len = strlen(s);

	return text.len >= len && memcmp(text.s + text.len - len, s, len) == 0;
}

enum track_category track_category_of(struct track_text text)
{
	static const char *const names[] = {
#define X(name) [CATEGORY_##name] = #name,
		TRACK_CATEGORIES(X)
#undef X
	};

	for (unsigned int i = 1; i < CATEGORY_MAX; i++)
		if (track_text_is(text, names[i]))
			return i;
	return CATEGORY_OTHER;
}

enum track_key track_key_of(struct track_text text)
{
	static const char *const names[] = {
#define X(name, text) [KEY_##name] = (text),
		TRACK_KEYS(X)
#undef X
	};

	if (!text.s)
		return KEY_OTHER;
	for (unsigned int i = 1; i < KEY_MAX; i++)
		if (track_text_is(text, names[i]))
			return i;
	if (track_text_begins(text, "pmu:"))
		return KEY_PMU;
	return text_ends(text, "_kilo") ? KEY_KILO : KEY_OTHER;
}

static struct track_text text_of(const struct pb_field *f)
{
	return (struct track_text){ .s = (const char *)f->bytes, .len = (size_t)f->value };
}

/* Repeated numbers come one by one or packed; the first is enough where only one has a meaning. */
static bool first_number(const struct pb_field *f, uint64_t *out)
{
	struct pb_in in;

	if (f->type == PB_VARINT) {
		*out = f->value;
		return true;
	}
	if (f->type != PB_BYTES)
		return false;
	in = pb_in_field(f);
	return pb_varint(&in, out);
}

static void add_flow(struct track_event_in *e, uint64_t id)
{
	if (e->nr_flows < TRACK_FLOWS_MAX)
		e->flows[e->nr_flows++] = id;
}

static void read_flows(struct track_event_in *e, const struct pb_field *f)
{
	struct pb_in in;
	uint64_t id;

	if (f->type != PB_BYTES) {
		add_flow(e, f->value);
		return;
	}
	in = pb_in_field(f);
	while (pb_left(&in) >= 8 && pb_take_fixed(&in, 8, &id))
		add_flow(e, id);
}

static void add_extra(uint64_t *array, uint32_t *nr, uint64_t value)
{
	if (*nr < TRACK_EXTRAS_MAX)
		array[(*nr)++] = value;
}

/* Repeated numbers, each in a field of its own or all in one. */
static void read_extras(uint64_t *array, uint32_t *nr, const struct pb_field *f, bool is_double)
{
	struct pb_in in;
	uint64_t value;

	if (f->type != PB_BYTES) {
		add_extra(array, nr, f->value);
		return;
	}
	in = pb_in_field(f);
	while (pb_left(&in) && (is_double ? pb_take_fixed(&in, 8, &value) : pb_varint(&in, &value)))
		add_extra(array, nr, value);
}

static void read_bytes(struct track_event_in *e, const struct pb_field *f)
{
	switch (f->nr) {
	case TRACK_EVENT_NAME:
		e->name = text_of(f);
		break;
	case TRACK_EVENT_CATEGORIES:
		if (!e->category.s)
			e->category = text_of(f);
		break;
	default:
		break;
	}
}

static void read_time(struct track_event_in *e, const struct pb_field *f)
{
	bool is_absolute = f->nr == TRACK_EVENT_ABSOLUTE_US;

	if (f->type != PB_VARINT || (e->has_absolute_us && !is_absolute))
		return;
	e->time_us = (int64_t)(f->value);
	e->has_absolute_us = is_absolute;
	e->has_delta_us = !is_absolute;
}

static void read_number(struct track_event_in *e, const struct pb_field *f)
{
	switch (f->nr) {
	case TRACK_EVENT_TYPE:
		e->type = f->value <= UINT8_MAX ? (uint8_t)f->value : 0;
		break;
	case TRACK_EVENT_TRACK_UUID:
		e->uuid = f->value;
		e->has_uuid = true;
		break;
	case TRACK_EVENT_NAME_IID:
		e->name_iid = f->value;
		break;
	case TRACK_EVENT_COUNTER_VALUE:
		e->counter = (int64_t)(f->value);
		e->has_counter = true;
		break;
	case TRACK_EVENT_DOUBLE_COUNTER_VALUE:
		e->double_counter = pb_to_double(f->value);
		e->has_double = f->type == PB_FIXED64;
		break;
	case TRACK_EVENT_CALLSTACK_IID:
		e->callstack_iid = f->value;
		break;
	default:
		break;
	}
}

static void read_field(struct track_event_in *e, const struct pb_field *f)
{
	switch (f->nr) {
	case TRACK_EVENT_CATEGORY_IIDS:
		if (!e->category_iid && !first_number(f, &e->category_iid))
			e->is_bad = true;
		return;
	case TRACK_EVENT_FLOW_IDS:
	case TRACK_EVENT_TERMINATING_FLOW_IDS:
	case TRACK_EVENT_OLD_FLOW_IDS:
	case TRACK_EVENT_OLD_TERMINATING:
		read_flows(e, f);
		return;
	case TRACK_EVENT_DELTA_US:
	case TRACK_EVENT_ABSOLUTE_US:
		read_time(e, f);
		return;
	case TRACK_EVENT_EXTRA_COUNTER_UUIDS:
		read_extras(e->extra.uuids, &e->extra.nr_uuids, f, false);
		return;
	case TRACK_EVENT_EXTRA_COUNTER_VALUES:
		read_extras(e->extra.values, &e->extra.nr_values, f, false);
		return;
	case TRACK_EVENT_EXTRA_DOUBLE_UUIDS:
		read_extras(e->extra_double.uuids, &e->extra_double.nr_uuids, f, false);
		return;
	case TRACK_EVENT_EXTRA_DOUBLE_VALUES:
		read_extras(e->extra_double.values, &e->extra_double.nr_values, f, true);
		return;
	default:
		break;
	}
	if (f->type == PB_BYTES)
		read_bytes(e, f);
	else
		read_number(e, f);
}

/* Only what is asked before it is set: the values of keys stay as they were. */
static void clear(struct track_event_in *e, struct track_strings strings)
{
	memset(e, 0, offsetof(struct track_event_in, values));
	e->strings = strings;
}

void track_event_head(struct track_event_in *e, struct pb_in in)
{
	struct pb_field f;

	clear(e, (struct track_strings){ 0 });
	while (pb_next(&in, &f))
		if (f.nr != TRACK_EVENT_ANNOTATIONS)
			read_field(e, &f);
	e->is_bad |= in.is_bad;
}

static bool lookup(const struct track_event_in *e, uint32_t field, uint64_t iid,
                   struct track_text *out)
{
	uint32_t id;

	return iid && e->strings.find && e->strings.find(e->strings.ctx, field, iid, out, &id);
}

/* By the number of the text, so that few are ever compared. */
static enum track_key lookup_key(const struct track_event_in *e, uint64_t iid,
                                 struct track_text *text)
{
	const struct track_strings *s = &e->strings;
	uint32_t id;

	if (!iid || !s->find || !s->find(s->ctx, INTERNED_ANNOTATION_NAMES, iid, text, &id))
		return KEY_OTHER;
	return s->keys && id < s->nr_keys ? s->keys[id] : track_key_of(*text);
}

static bool read_value(const struct pb_field *f, struct track_value *value)
{
	switch (f->nr) {
	case ANNOTATION_BOOL:
	case ANNOTATION_UINT:
	case ANNOTATION_INT:
	case ANNOTATION_POINTER:
		*value = (struct track_value){ .type = VALUE_INT, .i = (int64_t)(f->value) };
		return f->type == PB_VARINT;
	case ANNOTATION_DOUBLE:
		*value = (struct track_value){ .type = VALUE_DOUBLE, .d = pb_to_double(f->value) };
		return f->type == PB_FIXED64;
	case ANNOTATION_STRING:
		*value = (struct track_value){ .type = VALUE_TEXT };
		if (f->type == PB_BYTES)
			value->text = text_of(f);
		return f->type == PB_BYTES;
	case ANNOTATION_STRING_IID:
		*value = (struct track_value){ .type = VALUE_TEXT_IID, .iid = f->value };
		return f->type == PB_VARINT;
	default:
		return false;
	}
}

static void add_count(struct track_event_in *e, struct track_text key, double scale,
                      const struct track_value *value)
{
	double number = value->type == VALUE_INT ? (double)value->i : value->d;

	if (value->type > VALUE_DOUBLE || e->nr_counts == TRACK_COUNTS_MAX)
		return;
	e->counts[e->nr_counts++] = (struct track_pmu_value){ .key = key, .value = number * scale };
}

static void read_annotation(struct track_event_in *e, struct pb_in in)
{
	struct track_text key = { 0 };
	struct track_value value, last;
	enum track_key id = KEY_OTHER;
	bool has_value = false;
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.nr == ANNOTATION_NAME_IID && f.type == PB_VARINT) {
			id = lookup_key(e, f.value, &key);
		} else if (f.nr == ANNOTATION_NAME && f.type == PB_BYTES) {
			key = text_of(&f);
			id = track_key_of(key);
		} else if (read_value(&f, &value)) {
			last = value;
			has_value = true;
		}
	}
	e->is_bad |= in.is_bad;
	if (!has_value)
		return;
	if (id == KEY_PMU || id == KEY_KILO) {
		add_count(e, key, id == KEY_KILO ? 1000.0 : 1.0, &last);
	} else if (id != KEY_OTHER) {
		e->values[id] = last;
		e->has_keys |= 1ULL << id;
	}
}

void track_event_read(struct track_event_in *e, struct pb_in in, struct track_strings strings)
{
	struct pb_field f;

	clear(e, strings);
	while (pb_next(&in, &f)) {
		if (f.nr != TRACK_EVENT_ANNOTATIONS)
			read_field(e, &f);
		else if (f.type == PB_BYTES)
			read_annotation(e, pb_in_field(&f));
	}
	e->is_bad |= in.is_bad;
}

struct track_text track_event_name(const struct track_event_in *e)
{
	struct track_text text = e->name;

	if (!text.s)
		(void)lookup(e, INTERNED_EVENT_NAMES, e->name_iid, &text);
	return text;
}

struct track_text track_event_category_text(const struct track_event_in *e)
{
	struct track_text text = e->category;

	if (!text.s)
		(void)lookup(e, INTERNED_EVENT_CATEGORIES, e->category_iid, &text);
	return text;
}

static const struct track_value *value_of(const struct track_event_in *e, enum track_key key)
{
	return e->has_keys & 1ULL << key ? &e->values[key] : NULL;
}

bool track_arg_int(const struct track_event_in *e, enum track_key key, int64_t *out)
{
	const struct track_value *value = value_of(e, key);

	if (!value || value->type > VALUE_DOUBLE)
		return false;
	if (value->type == VALUE_INT) {
		*out = value->i;
		return true;
	}
	if (!(fabs(value->d) < 9.0e18))
		return false;
	*out = (int64_t)value->d;
	return true;
}

bool track_arg_text(const struct track_event_in *e, enum track_key key, struct track_text *out)
{
	const struct track_value *value = value_of(e, key);

	if (!value || value->type < VALUE_TEXT)
		return false;
	if (value->type == VALUE_TEXT) {
		*out = value->text;
		return true;
	}
	return lookup(e, INTERNED_ANNOTATION_STRINGS, value->iid, out);
}

uint32_t track_arg_u32(const struct track_event_in *e, enum track_key key, uint32_t otherwise)
{
	int64_t value;

	if (!track_arg_int(e, key, &value) || value < 0 || value > UINT32_MAX)
		return otherwise;
	return (uint32_t)value;
}
