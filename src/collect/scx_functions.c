#include "collect/scx_functions.h"

#include <bpf/btf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

#define SYMBOLS_BYTES_MAX (256U << 20)
#define SWITCH_BYTES_MAX  16U

/* A line is "address type name", and for modules a tab and their name. */
static bool has_symbol(struct scx_functions *f, const char *name)
{
	size_t len = strlen(name);

	if (!f->is_read && text_read_file("/proc/kallsyms", SYMBOLS_BYTES_MAX, &f->symbols))
		f->symbols = NULL;
	f->is_read = true;
	if (!f->symbols || !f->symbols[0])
		return true;
	for (const char *at = f->symbols; (at = strstr(at, name)); at += len)
		if (at > f->symbols && at[-1] == ' ' && strchr("\t\n", at[len]))
			return true;
	return false;
}

/* Where it is off, programs attach to functions and are never called. */
static bool is_tracing_off(void)
{
	SCOPED(scoped_free) char *text = NULL;

	return text_read_file("/proc/sys/kernel/ftrace_enabled", SWITCH_BYTES_MAX, &text) == 0 &&
	       text[0] == '0';
}

/* Type information alone is not proof: it may list functions that exist only as copies under another name. */
bool scx_functions_find(void *ctx, const char *name, struct scx_function *out)
{
	struct scx_functions *f = ctx;
	int id = btf__find_by_name_kind(f->vmlinux, name, BTF_KIND_FUNC);
	const struct btf_type *type = id > 0 ? btf__type_by_id(f->vmlinux, (__u32)id) : NULL;
	const struct btf_param *params;

	type = type ? btf__type_by_id(f->vmlinux, type->type) : NULL;
	if (!type || btf_vlen(type) > SCX_FUNCTION_PARAMS || is_tracing_off() ||
	    !has_symbol(f, name))
		return false;
	params = btf_params(type);
	out->nr_params = btf_vlen(type);
	for (unsigned int i = 0; i < out->nr_params; i++)
		out->params[i] = btf__name_by_offset(f->vmlinux, params[i].name_off);
	return true;
}

void scx_functions_done(struct scx_functions *f)
{
	free(f->symbols);
	*f = (struct scx_functions){ 0 };
}

void scx_functions_plan(uint64_t kinds, enum scx_way way, struct scx_plan *out)
{
	struct btf *vmlinux = NULL;
	struct scx_functions f;

	*out = (struct scx_plan){ 0 };
	if (access("/sys/kernel/sched_ext", F_OK) == 0)
		vmlinux = btf__load_vmlinux_btf();
	if (!vmlinux)
		return;
	f = (struct scx_functions){ .vmlinux = vmlinux };
	scx_plan_make(kinds, way, scx_functions_find, &f, out);
	scx_functions_done(&f);
	btf__free(vmlinux);
}
