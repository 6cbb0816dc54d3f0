#include "sys/proc_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/thread.h"
#include "sys/proc_thread.h"

#define HANGS_NS     1000000000ULL
#define HUNG_MAX     3U
#define ROOT_LEN     256
#define CGROUP_BYTES 4096

/*
 * Shared with the thread that reads. When that one hangs, it alone keeps it: whoever of the two leaves last frees it.
 */
struct desk {
	pthread_mutex_t lock;
	pthread_cond_t asked;
	char root[ROOT_LEN];
	enum proc_reader_file file;
	bool is_over; /* the other side has left */
	bool is_busy; /* with a question, which is in no list */
	uint32_t questions[PROC_READER_WAITING];
	uint32_t nr_questions;
	struct proc_answer answers[PROC_READER_WAITING];
	uint32_t nr_answers;
};

struct proc_reader {
	char root[ROOT_LEN];
	enum proc_reader_file file;
	struct desk *desk;    /* NULL once too many hang */
	uint64_t progress_ns; /* when the reader was last seen to be alive */
	uint32_t nr_unanswered;
	uint32_t nr_hung;
};

static void free_desk(struct desk *k)
{
	pthread_cond_destroy(&k->asked);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

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

static void read_one(const struct desk *k, uint32_t pid, struct proc_answer *out)
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
static bool next_question(struct desk *k, uint32_t *pid)
{
	while (!k->is_over && (!k->nr_questions || k->nr_answers == PROC_READER_WAITING))
		pthread_cond_wait(&k->asked, &k->lock);
	if (k->is_over)
		return false;
	*pid = k->questions[--k->nr_questions];
	return true;
}

static void *serve(void *desk)
{
	struct desk *k = desk;
	struct proc_answer answer;
	uint32_t pid;

	pthread_mutex_lock(&k->lock);
	while (next_question(k, &pid)) {
		k->is_busy = true;
		pthread_mutex_unlock(&k->lock);
		read_one(k, pid, &answer);
		pthread_mutex_lock(&k->lock);
		k->is_busy = false;
		k->answers[k->nr_answers++] = answer;
	}
	pthread_mutex_unlock(&k->lock);
	free_desk(k);
	return NULL;
}

static int start(struct proc_reader *r)
{
	struct desk *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->asked, NULL);
	memcpy(k->root, r->root, sizeof(k->root));
	k->file = r->file;
	err = thread_start_detached(serve, k);
	if (err) {
		free_desk(k);
		return err;
	}
	r->desk = k;
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

/* The thread frees the desk: at once, or whenever its process lets it go. */
static void leave(struct proc_reader *r)
{
	pthread_mutex_lock(&r->desk->lock);
	r->desk->is_over = true;
	pthread_cond_signal(&r->desk->asked);
	pthread_mutex_unlock(&r->desk->lock);
	r->desk = NULL;
}

void proc_reader_close(struct proc_reader *r)
{
	if (!r)
		return;
	if (r->desk)
		leave(r);
	free(r);
}

/* What waits at the desk that is left goes on to the next one; both have room for as much. */
static void pass_on(struct proc_reader *r, const uint32_t *questions, uint32_t nr)
{
	pthread_mutex_lock(&r->desk->lock);
	memcpy(r->desk->questions, questions, nr * sizeof(*questions));
	r->desk->nr_questions = nr;
	pthread_cond_signal(&r->desk->asked);
	pthread_mutex_unlock(&r->desk->lock);
	r->nr_unanswered = nr;
}

/* A reader that has been silent for too long is left with its process, and another one takes its place. */
static void replace_hung(struct proc_reader *r, uint64_t now_ns)
{
	uint32_t questions[PROC_READER_WAITING], nr;
	bool is_busy;

	if (!r->nr_unanswered || now_ns < r->progress_ns + HANGS_NS)
		return;
	pthread_mutex_lock(&r->desk->lock);
	is_busy = r->desk->is_busy && !r->desk->nr_answers;
	nr = r->desk->nr_questions;
	memcpy(questions, r->desk->questions, nr * sizeof(*questions));
	pthread_mutex_unlock(&r->desk->lock);
	if (!is_busy)
		return;
	r->nr_hung++;
	leave(r);
	if (r->nr_hung >= HUNG_MAX || start(r))
		return;
	pass_on(r, questions, nr);
	r->progress_ns = now_ns;
}

bool proc_reader_ask(struct proc_reader *r, uint32_t pid, uint64_t now_ns)
{
	bool is_taken;

	if (r->desk)
		replace_hung(r, now_ns);
	if (!r->desk)
		return false;
	pthread_mutex_lock(&r->desk->lock);
	is_taken = r->desk->nr_questions < PROC_READER_WAITING;
	if (is_taken)
		r->desk->questions[r->desk->nr_questions++] = pid;
	pthread_cond_signal(&r->desk->asked);
	pthread_mutex_unlock(&r->desk->lock);
	if (is_taken && !r->nr_unanswered++)
		r->progress_ns = now_ns;
	return is_taken;
}

bool proc_reader_take(struct proc_reader *r, uint64_t now_ns, struct proc_answer *out)
{
	bool has_one;

	if (!r->desk || !r->nr_unanswered)
		return false;
	pthread_mutex_lock(&r->desk->lock);
	has_one = r->desk->nr_answers > 0;
	if (has_one)
		*out = r->desk->answers[--r->desk->nr_answers];
	pthread_cond_signal(&r->desk->asked);
	pthread_mutex_unlock(&r->desk->lock);
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
