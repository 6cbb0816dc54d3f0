#include "collect/scx_functions.h"

#include <bpf/btf.h>
#include <stddef.h>
#include <unistd.h>

#include "collect/events_part.h"
#include "collect/scx_plan.h"

/* Type information alone is no proof: it may tell of functions that exist only as copies of another name. */
bool scx_functions_find(void *vmlinux, const char *name, struct scx_function *out)
{
	const struct btf *btf = vmlinux;
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;
	const struct btf_param *params;

	type = type ? btf__type_by_id(btf, type->type) : NULL;
	if (!type || btf_vlen(type) > SCX_FUNCTION_PARAMS || !events_part_has_function(name))
		return false;
	params = btf_params(type);
	out->nr_params = btf_vlen(type);
	for (unsigned int i = 0; i < out->nr_params; i++)
		out->params[i] = btf__name_by_offset(btf, params[i].name_off);
	return true;
}

void scx_functions_plan(uint64_t kinds, struct scx_plan *out)
{
	struct btf *vmlinux = NULL;

	*out = (struct scx_plan){ 0 };
	if (access("/sys/kernel/sched_ext", F_OK) == 0)
		vmlinux = btf__load_vmlinux_btf();
	if (vmlinux)
		scx_plan_make(kinds, scx_functions_find, vmlinux, out);
	btf__free(vmlinux);
}
