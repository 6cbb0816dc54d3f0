#include "cli/top_record.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define CHECK_NS 1000000000ULL

/* Its messages must not reach the screen: they come through a pipe. */
static int start(struct top_record *r, enum top_record_run run, struct diag *d)
{
	int ends[2], pid;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return diag_set(d, -errno, NULL, "cannot make a pipe");
	pid = run == TOP_RECORD_KEEP ? top_helper_keep(&r->helper, ends[1])
	                             : top_helper_record(&r->helper, ends[1], r->path);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return diag_set(d, pid, NULL, "cannot start the recorder");
	}
	r->run = run;
	r->pid = pid;
	r->said = ends[0];
	r->len = 0;
	r->signal = 0;
	r->result[0] = '\0';
	r->checked_ns = clock_boot_ns();
	r->cpu_ns = 0;
	r->cpu = NAN;
	return 0;
}

int top_record_open(struct top_record *r, struct diag *d)
{
	int err = top_helper_start(&r->helper, d);

	return err || !r->is_armed_at_start ? err : start(r, TOP_RECORD_KEEP, d);
}

/* A recorder that has not dropped its privileges yet cannot be signalled: tried again with the next message. */
static void send(struct top_record *r, int signal)
{
	r->signal = kill(r->pid, signal) && errno == EPERM ? signal : 0;
}

static void end_of(struct top_record *r)
{
	close(r->said);
	r->run = TOP_RECORD_NONE;
}

/* Whether the process has closed its messages. A child of our own has to be waited for, one of the helper's not. */
static bool has_ended(const struct top_record *r)
{
	struct pollfd said = { .fd = r->said };

	return poll(&said, 1, 0) == 1 && (said.revents & POLLHUP) &&
	       waitpid(r->pid, NULL, WNOHANG) != 0;
}

int top_record_start(struct top_record *r, char *text, size_t size, struct diag *d)
{
	const struct top_helper *h = &r->helper;
	int err;

	if ((r->run == TOP_RECORD_KEEP || r->run == TOP_RECORD_END) && has_ended(r))
		end_of(r);
	switch (r->run) {
	case TOP_RECORD_KEEP:
		send(r, SIGUSR2);
		snprintf(text, size, "writing the last %.1f s and the next %.1f s to %.120s-...",
		         h->keep_ms / 1000.0, h->duration_ms / 1000.0, h->prefix);
		return 0;
	case TOP_RECORD_END:
		snprintf(text, size, "the flight recorder is ending: press the key again");
		return 0;
	case TOP_RECORD_ONCE:
		snprintf(text, size, "still recording to %.150s", r->path);
		return 0;
	case TOP_RECORD_NONE:
		break;
	}
	err = start(r, TOP_RECORD_ONCE, d);
	if (!err)
		snprintf(text, size,
		         "recording %u ms to %.80s from now on: nothing before the key is included",
		         h->duration_ms, r->path);
	return err;
}

int top_record_arm(struct top_record *r, char *text, size_t size, struct diag *d)
{
	int err;

	if (r->run != TOP_RECORD_NONE && has_ended(r))
		end_of(r);
	switch (r->run) {
	case TOP_RECORD_KEEP:
		send(r, SIGINT);
		r->run = TOP_RECORD_END;
		snprintf(text, size, "the flight recorder is off");
		return 0;
	case TOP_RECORD_END:
		snprintf(text, size, "the flight recorder is ending: press the key again");
		return 0;
	case TOP_RECORD_ONCE:
		snprintf(text, size, "still recording to %.80s: arm the flight recorder afterwards",
		         r->path);
		return 0;
	case TOP_RECORD_NONE:
		break;
	}
	err = start(r, TOP_RECORD_KEEP, d);
	if (!err)
		snprintf(text, size,
		         "flight recorder armed: it keeps the last %.1f s; the title line shows "
		         "what it takes of a CPU",
		         r->helper.keep_ms / 1000.0);
	return err;
}

/*
 * Makes a message of a line. Where a single recording went is reported last, when it has ended:
 * warnings that follow it would take its place in the notice line.
 */
static bool take_message(struct top_record *r, char *line, char *text, size_t size)
{
	static const char name[] = "schedscope: ", warning[] = "warning: ";

	if (strncmp(line, name, strlen(name)) == 0) {
		char *advice = strstr(line, "; --keep-mib"); /* the screen has no such option */

		if (advice)
			*advice = '\0';
		line += strlen(name);
		snprintf(text, size, "%s%.180s",
		         strncmp(line, warning, strlen(warning)) == 0 ? "recorder: "
		                                                      : "not recorded: ",
		         line);
		return true;
	}
	if (r->run != TOP_RECORD_ONCE) {
		snprintf(text, size, "recorded %.180s", line);
		return true;
	}
	snprintf(r->result, sizeof(r->result), "recorded %.180s", line);
	return false;
}

/* The next whole line that is a message. */
static bool take_line(struct top_record *r, char *text, size_t size)
{
	char *end;

	while ((end = memchr(r->line, '\n', r->len))) {
		size_t len = (size_t)(end - r->line) + 1;
		bool is_message;

		*end = '\0';
		is_message = take_message(r, r->line, text, size);
		r->len -= len;
		memmove(r->line, r->line + len, r->len);
		if (is_message)
			return true;
	}
	return false;
}

bool top_record_message(struct top_record *r, char *text, size_t size)
{
	ssize_t nr;

	if (r->run == TOP_RECORD_NONE)
		return false;
	if (r->signal)
		send(r, r->signal);
	if (r->len == sizeof(r->line)) /* a line without end */
		r->line[r->len - 1] = '\n';
	if (take_line(r, text, size))
		return true;
	nr = read(r->said, r->line + r->len, sizeof(r->line) - r->len);
	if (nr > 0) {
		r->len += (size_t)nr;
		return take_line(r, text, size);
	}
	if (nr != 0 || !has_ended(r))
		return false;
	end_of(r);
	snprintf(text, size, "%s", r->result);
	return r->result[0];
}

double top_record_kept(struct top_record *r, double *cpu)
{
	uint64_t now_ns = clock_boot_ns(), cpu_ns;
	clockid_t clock;

	if (r->run != TOP_RECORD_KEEP)
		return 0;
	if (now_ns - r->checked_ns >= CHECK_NS && !clock_getcpuclockid(r->pid, &clock)) {
		cpu_ns = clock_read_ns(clock);
		r->cpu = (double)(cpu_ns - r->cpu_ns) / (double)(now_ns - r->checked_ns);
		r->checked_ns = now_ns;
		r->cpu_ns = cpu_ns;
	}
	*cpu = r->cpu;
	return r->helper.keep_ms / 1000.0;
}

void top_record_close(struct top_record *r)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	if (r->run != TOP_RECORD_NONE) {
		send(r, SIGINT);
		for (int i = 0; i < 250 && !has_ended(r); i++) {
			nanosleep(&pause, NULL);
			if (r->signal)
				send(r, r->signal);
		}
		end_of(r);
	}
	top_helper_stop(&r->helper);
}
