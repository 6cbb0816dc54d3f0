#include "sys/bpf/prog_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/worker.h"

struct prog_watch {
	struct worker *worker; /* its lock is that of all below */
	bool is_running;
	uint64_t interval_ms;
	uint64_t nr_samples;
	int stats_fd; /* runs are counted while it is open */
	struct bpf_progs progs;
};

static void read_progs(struct prog_watch *w)
{
	struct diag d = { 0 };

	if (bpf_progs_read(&w->progs, clock_boot_ns(), &d) == 0)
		w->nr_samples++;
}

static void watch(struct worker *worker, void *state)
{
	struct prog_watch *w = state;

	worker_lock(worker);
	while (!worker_is_cancelled(worker)) {
		if (w->is_running)
			read_progs(w);
		worker_wait(worker, w->is_running ? w->interval_ms : WORKER_FOREVER);
	}
	worker_unlock(worker);
}

static void free_state(void *state)
{
	struct prog_watch *w = state;

	if (w->stats_fd >= 0)
		close(w->stats_fd);
	bpf_progs_done(&w->progs);
	free(w);
}

int prog_watch_new(struct diag *d, struct prog_watch **out)
{
	const struct worker_job job = { .run = watch, .free = free_state };
	struct prog_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	w->stats_fd = -1;
	if (worker_start(&job, w, &w->worker)) {
		free(w);
		return diag_set(d, -EAGAIN, NULL, "cannot start a thread");
	}
	*out = w;
	return 0;
}

int prog_watch_start(struct prog_watch *w, uint64_t interval_ms, struct diag *d)
{
	int err = 0;

	worker_lock(w->worker);
	if (w->stats_fd < 0)
		w->stats_fd = bpf_progs_count();
	if (w->stats_fd < 0)
		err = diag_set(d, w->stats_fd, "run as root, or with CAP_SYS_ADMIN",
		               "the kernel does not count runs of BPF programs for us: %s",
		               strerror(-w->stats_fd));
	if (!err) {
		w->interval_ms = interval_ms;
		w->is_running = true;
		worker_signal(w->worker);
	}
	worker_unlock(w->worker);
	return err;
}

void prog_watch_stop(struct prog_watch *w)
{
	worker_lock(w->worker);
	if (w->stats_fd >= 0)
		close(w->stats_fd);
	w->stats_fd = -1;
	w->is_running = false;
	worker_signal(w->worker);
	worker_unlock(w->worker);
}

void prog_watch_free(struct prog_watch *w)
{
	if (w)
		worker_end(w->worker);
}

bool prog_watch_runs(struct prog_watch *w, uint64_t *interval_ms, uint64_t *nr_samples)
{
	bool is_running;

	worker_lock(w->worker);
	is_running = w->is_running;
	*interval_ms = w->interval_ms;
	*nr_samples = w->nr_samples;
	worker_unlock(w->worker);
	return is_running;
}

int prog_watch_lock(struct prog_watch *w, struct diag *d, const struct bpf_progs **out)
{
	int err;

	worker_lock(w->worker);
	err = bpf_progs_read(&w->progs, clock_boot_ns(), d);
	if (err) {
		worker_unlock(w->worker);
		return err;
	}
	w->nr_samples++;
	*out = &w->progs;
	return 0;
}

void prog_watch_unlock(struct prog_watch *w)
{
	worker_unlock(w->worker);
}
