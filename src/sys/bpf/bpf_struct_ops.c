#include "sys/bpf/bpf_struct_ops.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "sys/rights/broker.h"

#define VALUE_PREFIX "bpf_struct_ops_"
#define VALUE_MAX    (1U << 20)
#define DEPTH_MAX    8 /* of typedefs and qualifiers */

struct bpf_struct_ops {
	struct btf *btf; /* NULL = there is none */
	bool has_tried;
	struct bpf_op ops[BPF_OPS_MAX];
	size_t nr;
};

int bpf_struct_ops_new(struct bpf_struct_ops **out)
{
	struct bpf_struct_ops *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	*out = s;
	return 0;
}

void bpf_struct_ops_free(struct bpf_struct_ops *s)
{
	if (!s)
		return;
	btf__free(s->btf);
	free(s);
}

static const struct btf_type *plain_type(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	for (int i = 0; t && i < DEPTH_MAX && (btf_is_typedef(t) || btf_is_mod(t)); i++)
		t = btf__type_by_id(btf, t->type);
	return t;
}

static bool is_function_pointer(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = plain_type(btf, id);

	t = t && btf_is_ptr(t) ? plain_type(btf, t->type) : NULL;
	return t && btf_is_func_proto(t);
}

/* The operations themselves follow the common beginning of all such values. */
static const struct btf_member *data_of(const struct btf *btf, const struct btf_type *value)
{
	const struct btf_member *m = btf_members(value);

	for (uint16_t i = 0; i < btf_vlen(value); i++)
		if (strcmp(btf__name_by_offset(btf, m[i].name_off), "data") == 0)
			return &m[i];
	return NULL;
}

static void copy_name(const struct bpf_ops_value *v, size_t at, char out[static BPF_OPS_NAME])
{
	size_t room = v->size - at < BPF_OPS_NAME - 1 ? v->size - at : BPF_OPS_NAME - 1;

	memcpy(out, (const char *)v->bytes + at, room);
	out[strnlen(out, room)] = '\0';
}

/* What is at a member of the struct, in bytes; SIZE_MAX if it is not in the value. */
static size_t place_of(const struct btf_type *t, uint16_t i, size_t base,
                       const struct bpf_ops_value *v)
{
	size_t at = base + btf_member_bit_offset(t, i) / 8;

	return at + sizeof(uint64_t) <= v->size ? at : SIZE_MAX;
}

static void find_name(const struct btf *btf, const struct btf_type *t, size_t base,
                      const struct bpf_ops_value *v, char out[static BPF_OPS_NAME])
{
	const struct btf_member *m = btf_members(t);

	out[0] = '\0';
	for (uint16_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_type *type = plain_type(btf, m[i].type);
		size_t at = place_of(t, i, base, v);

		if (type && btf_is_array(type) && at != SIZE_MAX &&
		    strcmp(btf__name_by_offset(btf, m[i].name_off), "name") == 0)
			copy_name(v, at, out);
	}
}

size_t bpf_ops_of_value(const struct btf *btf, const struct bpf_ops_value *v, struct bpf_op *out,
                        size_t cap)
{
	const struct btf_type *value = btf__type_by_id(btf, v->type_id), *t;
	const struct btf_member *data, *m;
	char name[BPF_OPS_NAME];
	size_t base, nr = 0;

	if (!value || !btf_is_struct(value) ||
	    strncmp(btf__name_by_offset(btf, value->name_off), VALUE_PREFIX,
	            strlen(VALUE_PREFIX)) != 0)
		return 0;
	data = data_of(btf, value);
	t = data ? plain_type(btf, data->type) : NULL;
	if (!t || !btf_is_struct(t))
		return 0;
	base = data->offset / 8;
	find_name(btf, t, base, v, name);
	m = btf_members(t);
	for (uint16_t i = 0; i < btf_vlen(t); i++) {
		size_t at = place_of(t, i, base, v);
		uint64_t id;

		if (at == SIZE_MAX || !is_function_pointer(btf, m[i].type))
			continue;
		memcpy(&id, (const char *)v->bytes + at, sizeof(id));
		if (!id || id > UINT32_MAX)
			continue;
		if (nr < cap) {
			out[nr] = (struct bpf_op){
				.prog_id = (uint32_t)id,
				.map_id = v->map_id,
				.struct_name = btf__name_by_offset(btf, t->name_off),
				.op = btf__name_by_offset(btf, m[i].name_off),
			};
			memcpy(out[nr].name, name, sizeof(name));
		}
		nr++;
	}
	return nr;
}

static void read_map(struct bpf_struct_ops *s, uint32_t id)
{
	SCOPED(scoped_close) int fd = broker_bpf_open(BROKER_BPF_MAP, id);
	SCOPED(scoped_free) void *bytes = NULL;
	struct bpf_map_info info = { 0 };
	__u32 len = sizeof(info), key = 0;
	struct bpf_ops_value value;
	size_t nr;

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len) ||
	    info.type != BPF_MAP_TYPE_STRUCT_OPS || info.value_size > VALUE_MAX)
		return;
	bytes = calloc(1, info.value_size);
	if (!bytes || bpf_map_lookup_elem(fd, &key, bytes))
		return;
	value = (struct bpf_ops_value){ id, info.btf_vmlinux_value_type_id, bytes,
		                        info.value_size };
	nr = bpf_ops_of_value(s->btf, &value, s->ops + s->nr, BPF_OPS_MAX - s->nr);
	s->nr += nr < BPF_OPS_MAX - s->nr ? nr : BPF_OPS_MAX - s->nr;
}

void bpf_struct_ops_read(struct bpf_struct_ops *s)
{
	uint32_t id = 0;

	if (!s->has_tried) {
		s->btf = btf__load_vmlinux_btf();
		s->has_tried = true;
	}
	s->nr = 0;
	while (s->btf && broker_bpf_next(BROKER_BPF_MAP, id, &id) == 0)
		read_map(s, id);
}

const struct bpf_op *bpf_struct_ops_find(const struct bpf_struct_ops *s, uint32_t prog_id)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->ops[i].prog_id == prog_id)
			return &s->ops[i];
	return NULL;
}

const char *bpf_struct_ops_struct(const struct bpf_struct_ops *s, uint32_t attach_btf_id)
{
	const struct btf_type *t = s->btf && attach_btf_id ? btf__type_by_id(s->btf, attach_btf_id)
	                                                   : NULL;

	return t && btf_is_struct(t) ? btf__name_by_offset(s->btf, t->name_off) : NULL;
}
