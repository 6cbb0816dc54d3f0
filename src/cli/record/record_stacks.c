#include "cli/record/record_stacks.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "abi/event.h"
#include "base/log.h"
#include "collect/stack_part.h"
#include "record/record_source.h"

const char *const record_stack_names[] = {
	[EV_SAMPLE_CPU] = "cpu", [EV_SAMPLE_OFF_CPU] = "off-cpu", [EV_SAMPLE_WAKER] = "waker", NULL
};

const char *const record_unwind_names[] = {
	[RECORD_UNWIND_AUTO] = "auto",
	[RECORD_UNWIND_FP] = "fp",
	[RECORD_UNWIND_TABLE] = "table",
	NULL,
};

void record_show_remark(struct diag *remark)
{
	char line[600];

	diag_format(remark, line, sizeof(line));
	log_warn("%s", line);
	*remark = (struct diag){ 0 };
}

void record_show_losses(const struct losses *losses)
{
	char line[256];

	for (int i = 0; i < NR_LOSSES; i++)
		if (losses->nr[i])
			log_warn("%s",
			         loss_sentence(line, sizeof(line), (enum loss)i, losses->nr[i]));
}

static int add(const char *word, size_t len, uint32_t *out, struct diag *d)
{
	for (uint32_t i = 0; record_stack_names[i]; i++) {
		if (strlen(record_stack_names[i]) == len &&
		    memcmp(record_stack_names[i], word, len) == 0) {
			*out |= STACK_BIT(i);
			return 0;
		}
	}
	return diag_set(d, -EINVAL, "write cpu, off-cpu, waker, or several separated by commas",
	                "--stacks: '%.*s' is not a kind of stack", len < 60 ? (int)len : 60, word);
}

int record_stacks_parse(const char *list, uint32_t *out, struct diag *d)
{
	int err = 0;

	*out = 0;
	while (!err && list) {
		const char *comma = strchrnul(list, ',');

		err = add(list, (size_t)(comma - list), out, d);
		list = *comma ? comma + 1 : NULL;
	}
	return err;
}
