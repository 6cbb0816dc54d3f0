#include "collect/run_losses.h"

#include "collect/stat_filter.h"

static uint64_t read_cgroups_cut(const struct run_losses_of *of)
{
	return of->filter ? stat_filter_is_cut(of->filter) : 0;
}

static uint64_t read_searches_aborted(const struct run_losses_of *of)
{
	return of->filter ? stat_filter_nr_aborted(of->filter) : 0;
}

static uint64_t read_trigger_calls(const struct run_losses_of *of)
{
	return of->trigger_calls;
}

static uint64_t read_mapped_files(const struct run_losses_of *of)
{
	return of->mapped_files;
}

void run_losses(const struct run_losses_of *of, struct losses *out)
{
	static uint64_t (*const readers[NR_LOSSES])(const struct run_losses_of *of) = {
#define X(name, what) [LOSS_##name] = read_##name,
		LOSSES_OF_RUN(X)
#undef X
	};

	for (int i = 0; i < NR_LOSSES; i++)
		out->nr[i] = readers[i] ? readers[i](of) : 0;
}
