#include "trace/perfetto/write/packets.h"

#include "trace/perfetto/schema.h"

struct pb_mark packet_begin(struct pb *w, const struct packet_head *head)
{
	struct pb_mark mark = pb_begin(w, TRACE_PACKET), part;

	if (head->has_ts)
		pb_uint(w, PACKET_TIMESTAMP, head->ts_ns);
	pb_uint(w, PACKET_SEQUENCE_ID, head->seq);
	if (head->seq_flags)
		pb_uint(w, PACKET_SEQUENCE_FLAGS, head->seq_flags);
	if (head->interned && head->interned->len) {
		part = pb_begin(w, PACKET_INTERNED_DATA);
		pb_raw(w, head->interned->buf, head->interned->len);
		pb_end(w, part);
	}
	if (head->defaults && head->defaults->len) {
		part = pb_begin(w, PACKET_DEFAULTS);
		pb_raw(w, head->defaults->buf, head->defaults->len);
		pb_end(w, part);
	}
	return mark;
}

void packet_end(struct pb *w, struct pb_mark mark)
{
	pb_end(w, mark);
}

static struct pb_mark begin_meta(struct pb *w)
{
	return packet_begin(w, &(struct packet_head){ .seq = SEQ_META });
}

static void put_clock(struct pb *w, uint32_t id, uint64_t ns)
{
	struct pb_mark clock = pb_begin(w, CLOCK_SNAPSHOT_CLOCKS);

	pb_uint(w, CLOCK_ID, id);
	pb_uint(w, CLOCK_TIMESTAMP, ns);
	pb_end(w, clock);
}

void packet_clock_snapshot(struct pb *w, const struct trace_clocks *clocks)
{
	struct pb_mark packet = begin_meta(w);
	struct pb_mark snapshot = pb_begin(w, PACKET_CLOCK_SNAPSHOT);

	put_clock(w, CLOCK_ID_BOOTTIME, clocks->boot_ns);
	if (clocks->mono_ns)
		put_clock(w, CLOCK_ID_MONOTONIC, clocks->mono_ns);
	if (clocks->real_ns)
		put_clock(w, CLOCK_ID_REALTIME, clocks->real_ns);
	if (clocks->raw_ns)
		put_clock(w, CLOCK_ID_MONOTONIC_RAW, clocks->raw_ns);
	pb_uint(w, CLOCK_SNAPSHOT_PRIMARY, CLOCK_ID_BOOTTIME);
	pb_end(w, snapshot);
	packet_end(w, packet);
}

static void put_known(struct pb *w, uint32_t field, uint64_t value)
{
	if (value)
		pb_uint(w, field, value);
}

void packet_system_info(struct pb *w, const struct trace_system *system, const char *tool)
{
	struct pb_mark packet = begin_meta(w);
	struct pb_mark info = pb_begin(w, PACKET_SYSTEM_INFO);
	struct pb_mark uts = pb_begin(w, SYSTEM_UTSNAME);

	pb_string(w, UTSNAME_SYSNAME, system->sysname);
	pb_string(w, UTSNAME_VERSION, system->version);
	pb_string(w, UTSNAME_RELEASE, system->release);
	pb_string(w, UTSNAME_MACHINE, system->machine);
	pb_end(w, uts);
	put_known(w, SYSTEM_HZ, system->hz);
	pb_string(w, SYSTEM_SERVICE_VERSION, tool);
	put_known(w, SYSTEM_PAGE_SIZE, system->page_bytes);
	put_known(w, SYSTEM_NUM_CPUS, system->nr_cpus);
	put_known(w, SYSTEM_RAM_BYTES, system->ram_bytes);
	pb_string(w, SYSTEM_MACHINE_NAME, system->machine_name);
	pb_end(w, info);
	packet_end(w, packet);
}

void packet_uuid(struct pb *w, const struct trace_uuid *uuid)
{
	struct pb_mark packet = begin_meta(w);
	struct pb_mark body = pb_begin(w, PACKET_TRACE_UUID);

	pb_uint(w, UUID_MSB, uuid->msb);
	pb_uint(w, UUID_LSB, uuid->lsb);
	pb_end(w, body);
	packet_end(w, packet);
}

void packet_attributes(struct pb *w, const struct trace_attr *attrs, size_t nr)
{
	struct pb_mark packet = begin_meta(w);
	struct pb_mark body = pb_begin(w, PACKET_TRACE_ATTRIBUTES), attr;

	for (size_t i = 0; i < nr; i++) {
		attr = pb_begin(w, ATTRIBUTES_ATTRIBUTE);
		pb_string(w, ATTRIBUTE_KEY, attrs[i].key);
		if (attrs[i].text)
			pb_string(w, ATTRIBUTE_STRING, attrs[i].text);
		else
			pb_int(w, ATTRIBUTE_LONG, attrs[i].number);
		pb_end(w, attr);
	}
	pb_end(w, body);
	packet_end(w, packet);
}

void packet_cpu_info(struct pb *w, const struct trace_cpu *cpus, size_t nr)
{
	struct pb_mark packet = begin_meta(w);
	struct pb_mark body = pb_begin(w, PACKET_CPU_INFO), cpu;

	for (size_t i = 0; i < nr; i++) {
		cpu = pb_begin(w, CPU_INFO_CPUS);
		pb_string(w, CPU_PROCESSOR, cpus[i].processor);
		for (size_t k = 0; k < cpus[i].nr_khz; k++)
			pb_uint(w, CPU_FREQUENCIES, cpus[i].khz[k]);
		put_known(w, CPU_CAPACITY, cpus[i].capacity);
		pb_end(w, cpu);
	}
	pb_end(w, body);
	packet_end(w, packet);
}

void packet_config(struct pb *w, const char *const *events, size_t nr)
{
	struct pb_mark packet = begin_meta(w);
	struct pb_mark body = pb_begin(w, PACKET_TRACE_CONFIG);
	struct pb_mark source = pb_begin(w, CONFIG_DATA_SOURCES);
	struct pb_mark config = pb_begin(w, DATA_SOURCE_CONFIG), ftrace;

	pb_string(w, SOURCE_CONFIG_NAME, "linux.ftrace");
	ftrace = pb_begin(w, SOURCE_CONFIG_FTRACE);
	for (size_t i = 0; i < nr; i++)
		pb_string(w, FTRACE_CONFIG_EVENTS, events[i]);
	pb_end(w, ftrace);
	pb_end(w, config);
	pb_end(w, source);
	pb_end(w, body);
	packet_end(w, packet);
}

static void put_thread(struct pb *w, const struct track_desc *desc)
{
	struct pb_mark thread = pb_begin(w, TRACK_THREAD);

	pb_uint(w, THREAD_DESC_PID, desc->tgid);
	pb_uint(w, THREAD_DESC_TID, desc->tid);
	pb_string(w, THREAD_DESC_NAME, desc->name);
	pb_end(w, thread);
}

static void put_counter(struct pb *w, const struct track_desc *desc)
{
	struct pb_mark counter = pb_begin(w, TRACK_COUNTER);

	if (desc->unit)
		pb_string(w, COUNTER_UNIT_NAME, desc->unit);
	else
		pb_uint(w, COUNTER_UNIT, desc->is_time ? COUNTER_UNIT_TIME_NS : COUNTER_UNIT_COUNT);
	pb_end(w, counter);
}

void packet_track(struct pb *w, const struct track_desc *desc)
{
	struct packet_head head = { .has_ts = true, .ts_ns = desc->ts_ns, .seq = SEQ_TRACKS };
	struct pb_mark packet = packet_begin(w, &head);
	struct pb_mark track = pb_begin(w, PACKET_TRACK_DESCRIPTOR);

	pb_uint(w, TRACK_UUID, desc->uuid);
	if (desc->kind == TRACK_OF_THREAD)
		put_thread(w, desc);
	else
		pb_string(w, TRACK_NAME, desc->name);
	if (desc->kind == TRACK_PLAIN && desc->tid)
		pb_uint(w, TRACK_OWN_TID, desc->tid);
	if (desc->parent_uuid)
		pb_uint(w, TRACK_PARENT_UUID, desc->parent_uuid);
	if (desc->kind == TRACK_OF_COUNTER)
		put_counter(w, desc);
	else if (desc->kind == TRACK_PLAIN)
		pb_uint(w, TRACK_SIBLING_MERGE, TRACK_SIBLING_MERGE_NONE);
	if (desc->has_ranks)
		pb_uint(w, TRACK_CHILD_ORDERING, TRACK_CHILDREN_BY_RANK);
	if (desc->rank)
		pb_int(w, TRACK_RANK, desc->rank);
	pb_end(w, track);
	packet_end(w, packet);
}

static void put_arg(struct pb *w, const struct track_arg *arg)
{
	struct pb_mark mark = pb_begin(w, TRACK_EVENT_ANNOTATIONS);

	pb_uint(w, ANNOTATION_NAME_IID, arg->name_iid);
	switch (arg->type) {
	case ARG_INT:
		pb_int(w, ANNOTATION_INT, arg->i);
		break;
	case ARG_UINT:
		pb_uint(w, ANNOTATION_UINT, arg->u);
		break;
	case ARG_DOUBLE:
		pb_double(w, ANNOTATION_DOUBLE, arg->d);
		break;
	case ARG_POINTER:
		pb_uint(w, ANNOTATION_POINTER, arg->u);
		break;
	case ARG_TEXT:
		pb_string(w, ANNOTATION_STRING, arg->text);
		break;
	}
	pb_end(w, mark);
}

void packet_track_event(struct pb *w, const struct track_event *event)
{
	struct pb_mark packet = packet_begin(w, &event->head);
	struct pb_mark body = pb_begin(w, PACKET_TRACK_EVENT);

	pb_uint(w, TRACK_EVENT_TYPE, event->type);
	pb_uint(w, TRACK_EVENT_TRACK_UUID, event->track_uuid);
	put_known(w, TRACK_EVENT_NAME_IID, event->name_iid);
	put_known(w, TRACK_EVENT_CATEGORY_IIDS, event->category_iid);
	if (event->type == TRACK_COUNTER_VALUE)
		pb_int(w, TRACK_EVENT_COUNTER_VALUE, event->value);
	for (size_t i = 0; i < event->nr_args; i++)
		put_arg(w, &event->args[i]);
	for (size_t i = 0; i < event->nr_flows; i++)
		pb_fixed64(w, TRACK_EVENT_FLOW_IDS, event->flows[i]);
	for (size_t i = 0; i < event->nr_last_flows; i++)
		pb_fixed64(w, TRACK_EVENT_TERMINATING_FLOW_IDS, event->last_flows[i]);
	pb_end(w, body);
	packet_end(w, packet);
}
