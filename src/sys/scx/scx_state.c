#include "sys/scx/scx_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define FILE_BYTES_MAX 4096U

static bool read_line(const char *root, const char *path, char *out, size_t size)
{
	SCOPED(scoped_free) char *text = NULL;
	char whole[256];

	out[0] = '\0';
	(void)snprintf(whole, sizeof(whole), "%s%s", root, path);
	if (text_read_file(whole, FILE_BYTES_MAX, &text))
		return false;
	text_chomp(text);
	text_printable(out, size, text, strlen(text));
	return true;
}

static int64_t read_number(const char *root, const char *path)
{
	char text[32], *end;
	int64_t value;

	if (!read_line(root, path, text, sizeof(text)))
		return -1;
	errno = 0;
	value = strtoll(text, &end, 10);
	return errno || end == text || *end ? -1 : value;
}

void scx_state_read(const char *root, struct scx_state *out)
{
	*out = (struct scx_state){ 0 };
	out->is_supported = read_line(root, "/sys/kernel/sched_ext/state", out->state,
	                              sizeof(out->state));
	(void)read_line(root, "/sys/kernel/sched_ext/root/ops", out->ops, sizeof(out->ops));
	out->switch_all = read_number(root, "/sys/kernel/sched_ext/switch_all");
	out->nr_rejected = read_number(root, "/sys/kernel/sched_ext/nr_rejected");
	out->hotplug_seq = read_number(root, "/sys/kernel/sched_ext/hotplug_seq");
	out->enable_seq = read_number(root, "/sys/kernel/sched_ext/enable_seq");
	out->is_enabled = strcmp(out->state, "enabled") == 0;
}
