#include "sys/proc/proc_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/worker.h"
#include "sys/proc/proc_thread.h"

#define HANGS_NS     1000000000ULL
#define HUNG_MAX     3U
#define ROOT_LEN     256
#define CGROUP_BYTES 4096

/* Shared with the reading thread. */
struct reader_job {
	char root[ROOT_LEN];
	enum proc_reader_file file;
	bool is_busy; /* with a question, which is in no list */
	uint32_t questions[PROC_READER_WAITING];
	uint32_t nr_questions;
	struct proc_answer answers[PROC_READER_WAITING];
	uint32_t nr_answers;
};

struct proc_reader {
	char root[ROOT_LEN];
	enum proc_reader_file file;
	struct worker *worker; /* NULL once too many hang */
	struct reader_job *job;
	uint64_t progress_ns; /* when the reader was last seen to be alive */
	uint32_t nr_unanswered;
	uint32_t nr_hung;
};

/* NULs between words become spaces; those at the end go. */
static void join_words(char *text, size_t len)
{
	while (len && (text[len - 1] == '\0' || text[len - 1] == ' '))
		len--;
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	text[len] = '\0';
}

static size_t read_file(const char *path, char *buf, size_t size)
{
	SCOPED(scoped_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, buf, size - 1) : 0;

	buf[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static void take_path(const char *text, struct proc_answer *out)
{
	size_t len = 0;
	const char *path = proc_thread_cgroup_parse(text, &len);

	(void)snprintf(out->text, sizeof(out->text), "%.*s", (int)len, path ? path : "");
}

static void read_one(const struct reader_job *k, uint32_t pid, struct proc_answer *out)
{
	char path[ROOT_LEN + 32], text[CGROUP_BYTES];

	out->pid = pid;
	(void)snprintf(path, sizeof(path), "%s/%u/%s", k->root, pid,
	               k->file == PROC_READER_CMDLINE ? "cmdline" : "cgroup");
	if (k->file == PROC_READER_CMDLINE) {
		join_words(out->text, read_file(path, out->text, sizeof(out->text)));
		return;
	}
	(void)read_file(path, text, sizeof(text));
	take_path(text, out);
}

/* The next question; false when it is over. Called and left with the lock held. */
static bool next_question(struct worker *w, struct reader_job *k, uint32_t *pid)
{
	while (!worker_is_cancelled(w) &&
	       (!k->nr_questions || k->nr_answers == PROC_READER_WAITING))
		worker_wait(w, WORKER_FOREVER);
	if (worker_is_cancelled(w))
		return false;
	*pid = k->questions[--k->nr_questions];
	return true;
}

static void serve(struct worker *w, void *job)
{
	struct reader_job *k = job;
	struct proc_answer answer;
	uint32_t pid;

	worker_lock(w);
	while (next_question(w, k, &pid)) {
		k->is_busy = true;
		worker_unlock(w);
		read_one(k, pid, &answer);
		worker_lock(w);
		k->is_busy = false;
		k->answers[k->nr_answers++] = answer;
	}
	worker_unlock(w);
}

static int start(struct proc_reader *r)
{
	const struct worker_job job = { .run = serve, .free = free };
	struct reader_job *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	memcpy(k->root, r->root, sizeof(k->root));
	k->file = r->file;
	err = worker_start(&job, k, &r->worker);
	if (err) {
		free(k);
		return err;
	}
	r->job = k;
	r->nr_unanswered = 0;
	return 0;
}

int proc_reader_open(const char *proc_root, enum proc_reader_file file, struct proc_reader **out)
{
	struct proc_reader *r;
	int err;

	if (strlen(proc_root) >= ROOT_LEN)
		return -ENAMETOOLONG;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	memcpy(r->root, proc_root, strlen(proc_root));
	r->file = file;
	err = start(r);
	if (err) {
		free(r);
		return err;
	}
	*out = r;
	return 0;
}

void proc_reader_close(struct proc_reader *r)
{
	if (!r)
		return;
	worker_abandon(r->worker);
	free(r);
}

/* What is queued at the abandoned job is passed to the next one; both have the same room. */
static void pass_on(struct proc_reader *r, const uint32_t *questions, uint32_t nr)
{
	worker_lock(r->worker);
	memcpy(r->job->questions, questions, nr * sizeof(*questions));
	r->job->nr_questions = nr;
	worker_signal(r->worker);
	worker_unlock(r->worker);
	r->nr_unanswered = nr;
}

/* A reader that has been silent for too long is left with its process, and another one takes its place. */
static void replace_hung(struct proc_reader *r, uint64_t now_ns)
{
	uint32_t questions[PROC_READER_WAITING], nr;
	bool is_busy;

	if (!r->nr_unanswered || now_ns < r->progress_ns + HANGS_NS)
		return;
	worker_lock(r->worker);
	is_busy = r->job->is_busy && !r->job->nr_answers;
	nr = r->job->nr_questions;
	memcpy(questions, r->job->questions, nr * sizeof(*questions));
	worker_unlock(r->worker);
	if (!is_busy)
		return;
	r->nr_hung++;
	worker_abandon(r->worker);
	r->worker = NULL;
	if (r->nr_hung >= HUNG_MAX || start(r))
		return;
	pass_on(r, questions, nr);
	r->progress_ns = now_ns;
}

bool proc_reader_ask(struct proc_reader *r, uint32_t pid, uint64_t now_ns)
{
	bool is_taken;

	if (r->worker)
		replace_hung(r, now_ns);
	if (!r->worker)
		return false;
	worker_lock(r->worker);
	is_taken = r->job->nr_questions < PROC_READER_WAITING;
	if (is_taken)
		r->job->questions[r->job->nr_questions++] = pid;
	worker_signal(r->worker);
	worker_unlock(r->worker);
	if (is_taken && !r->nr_unanswered++)
		r->progress_ns = now_ns;
	return is_taken;
}

bool proc_reader_take(struct proc_reader *r, uint64_t now_ns, struct proc_answer *out)
{
	bool has_one;

	if (!r->worker || !r->nr_unanswered)
		return false;
	worker_lock(r->worker);
	has_one = r->job->nr_answers > 0;
	if (has_one)
		*out = r->job->answers[--r->job->nr_answers];
	worker_signal(r->worker);
	worker_unlock(r->worker);
	r->nr_unanswered -= has_one;
	if (has_one)
		r->progress_ns = now_ns;
	else
		replace_hung(r, now_ns);
	return has_one;
}

uint32_t proc_reader_nr_hung(const struct proc_reader *r)
{
	return r->nr_hung;
}
