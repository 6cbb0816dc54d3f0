/* Prints reports as JSON lines, each of another shape, for validate_schema.py. */
#include "../unit.h"

#include "../stat/stat_fixture.h"
#include "render/stat/stat_json.h"

static int print(struct stat_fixture *f)
{
	int err = stat_report_build(&f->in, f->mem, &f->diag, &f->report);

	if (!err)
		err = stat_json_print(&f->report, false, stdout);
	stat_fixture_done(f);
	return err;
}

int main(void)
{
	static const enum tally_by keys[] = { TALLY_BY_COMM, TALLY_BY_TID, TALLY_BY_TGID,
		                              TALLY_BY_CGROUP };
	static struct stat_fixture f;
	int err = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !err; i++) {
		fixture_machine(&f, keys[i], FIXTURE_ALL_GROUPS);
		f.in.top = STAT_TOP_ALL;
		f.in.has_bins = keys[i] == TALLY_BY_COMM;
		f.in.view = keys[i] == TALLY_BY_TID ? TALLY_INTERVAL : TALLY_TOTAL;
		err = print(&f);
	}
	fixture_machine(&f, TALLY_BY_COMM, FIXTURE_ALL_GROUPS);
	f.in.wall_ns = 0;
	f.in.own.has_bpf_ns = false;
	f.in.own.has_cpu_pct = false;
	f.in.own.has_bpf_pct = false;
	f.in.ipc[STAT_IPC_KERNEL_CYCLES] = -1;
	f.in.cgroup_name = NULL;
	f.in.elapsed_s = 0.0;
	if (!err)
		err = print(&f);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !err; i++) {
		stat_fixture_init(&f, keys[i], STAT_GROUP_DSQ);
		fixture_dsqs(&f);
		f.in.has_bins = true;
		err = print(&f);
	}
	stat_fixture_init(&f, TALLY_BY_COMM, STAT_GROUP_DSQ | FIXTURE_ALL_GROUPS);
	f.in.scx.is_known = true;
	f.in.open_waits = (struct stat_open_waits){
		.items = (struct stat_open_wait[]){ { .wait = { .ns = 5, .tid = 1 } } }, .nr = 1
	};
	if (!err)
		err = print(&f);
	stat_fixture_init(&f, TALLY_BY_COMM, FIXTURE_ALL_GROUPS);
	if (!err)
		err = print(&f);
	return err ? 1 : 0;
}
