#include "cli/record/record_pmu.h"

#include <errno.h>
#include <string.h>

static int add_pmu(struct record_pmu *p, const char *name, struct diag *d)
{
	for (size_t i = 0; i < p->nr; i++)
		if (strcmp(p->names[i], name) == 0)
			return 0;
	if (!name[0])
		return diag_set(d, -EINVAL, "leave the comma out", "--pmu has a name missing");
	if (strlen(name) >= PMU_NAME_MAX)
		return diag_set(d, -EINVAL, NULL, "'%.60s...' is too long for an event", name);
	if (p->nr == EV_PMU_MAX)
		return diag_set(d, -EINVAL, "record the others in a second run",
		                "'%s' is one event too many: %d at a time", name, EV_PMU_MAX);
	memcpy(p->names[p->nr], name, strlen(name) + 1);
	p->words[p->nr] = p->names[p->nr];
	p->nr++;
	return 0;
}

int record_pmu_parse(const struct opt_list *list, struct record_pmu *out, struct diag *d)
{
	char name[2 * PMU_NAME_MAX];
	int err = 0;

	for (size_t i = 0; i < list->nr; i++) {
		for (const char *at = list->items[i]; !err && at;) {
			at = pmu_next_name(at, name, sizeof(name));
			err = add_pmu(out, name, d);
		}
	}
	return err;
}
