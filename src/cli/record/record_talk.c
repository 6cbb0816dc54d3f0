#include "cli/record/record_talk.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/event_check.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/text.h"
#include "cli/record/record_stacks.h"
#include "render/wrap.h"

#define MAX_TITLE   30
#define SIGNAL_EXIT 128 /* as shells say which signal ended a command */

void record_talk_until(const struct record_source_cfg *source, char *buf, size_t size)
{
	char name[64], time[32];
	size_t len = 0;

	buf[0] = '\0';
	if (source->duration_ns)
		len = (size_t)snprintf(buf, size, " for %s",
		                       opt_duration_text(time, sizeof(time), source->duration_ns));
	if (source->command && len < size)
		len += (size_t)snprintf(
			buf + len, size - len, "%s '%s' ends", len ? ", or until" : " until",
			text_printable(name, sizeof(name), source->command[0], SIZE_MAX));
	if (source->tgid && len < size)
		len += (size_t)snprintf(buf + len, size - len, "%s process %u ends",
		                        len ? ", or until" : " until", source->tgid);
	if (len < size)
		snprintf(buf + len, size - len, " (Ctrl-C ends%s)", len ? " it before" : "");
}

void record_talk_ready(void *ctx)
{
	const struct record_talk *talk = ctx;
	char until[160];

	record_talk_until(talk->source, until, sizeof(until));
	if (!talk->is_quiet)
		fprintf(stderr, "recording to %s%s\n", talk->path, until);
}

bool record_talk_progress(void *ctx, const struct recorder_stats *s)
{
	char rate[32];

	(void)ctx;
	fprintf(stderr, "\r%6.1f s  %llu events  %s/s  %.1f MB  %llu lost ",
	        (double)s->totals.elapsed_ns / 1e9, (unsigned long long)s->totals.events,
	        text_rate(rate, sizeof(rate),
	                  (double)s->totals.events * 1e9 / (double)s->totals.elapsed_ns),
	        (double)s->bytes / 1e6, (unsigned long long)s->totals.lost);
	return true;
}

/* Each cause of a loss, with what to do about it. */
static void show_losses(const struct record_totals *t)
{
	uint64_t no_room = t->lost - t->skipped - t->damaged;
	char kinds[160] = "";
	size_t len = 0;

	for (unsigned int kind = 1; kind < EV_KIND_MAX && len < sizeof(kinds); kind++)
		if (t->lost_of[kind])
			len += (size_t)snprintf(kinds + len, sizeof(kinds) - len, "%s%s %llu",
			                        len ? ", " : "", ev_kind_name(kind),
			                        (unsigned long long)t->lost_of[kind]);
	if (no_room)
		log_warn("%llu events were dropped because the ring buffers were full (%s): enlarge them with "
		         "--ring-kib, or record less",
		         (unsigned long long)no_room, kinds);
	if (t->skipped)
		log_warn(
			"%llu events came while a BPF program was already running on the CPU, and the kernel skipped them",
			(unsigned long long)t->skipped);
	if (t->damaged)
		log_warn("%llu records were damaged", (unsigned long long)t->damaged);
}

/* Columns of the terminal; 0: it is none. */
static size_t width_of(int fd)
{
	struct winsize size;

	return isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

void record_talk_summary(const struct recorder_stats *s, const char *path, bool has_progress)
{
	const struct record_totals *t = &s->totals;
	char text[512], title[PATH_MAX + 4], shown[PATH_MAX + 1];
	size_t len;

	if (has_progress)
		fputs("\r\033[K", stderr);
	len = (size_t)snprintf(
		text, sizeof(text),
		"%.1f s, %llu events (%llu switches, %llu wakings), %llu lost, %.1f MB",
		(double)t->elapsed_ns / 1e9, (unsigned long long)t->events,
		(unsigned long long)t->switches, (unsigned long long)t->wakings,
		(unsigned long long)t->lost, (double)s->bytes / 1e6);
	if (t->hits)
		len += (size_t)snprintf(text + len, sizeof(text) - len, ", %llu probe hits",
		                        (unsigned long long)t->hits);
	if (t->stacks)
		len += (size_t)snprintf(text + len, sizeof(text) - len, ", %llu stacks",
		                        (unsigned long long)t->stacks);
	if (t->one_in > 1)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		                        ", one wakeup in %llu sampled",
		                        (unsigned long long)t->one_in);
	if (s->written)
		snprintf(text + len, sizeof(text) - len, ", %.1f bytes per event",
		         (double)s->bytes / (double)s->written);
	text_printable(shown, sizeof(shown), path, SIZE_MAX);
	snprintf(title, sizeof(title), "%s: ", shown);
	/* Below a long name there is no room. */
	if (strlen(title) > MAX_TITLE) {
		fputs(title, stderr);
		title[0] = '\0';
	}
	wrap_print(stderr, title, text, *title ? width_of(STDERR_FILENO) : 0);
	show_losses(&s->totals);
	for (unsigned int kind = 1; kind < EV_KIND_MAX; kind++)
		if (s->totals.missing & EV_BIT(kind))
			log_info("this kernel has no tracepoint for %s", ev_kind_name(kind));
	record_show_losses(&s->totals.losses);
	/* On some virtual machines in every run; the recording has each gap, and analyses say what they make of it. */
	if (s->breaks && !s->totals.is_filtered)
		log_info(
			"%llu context switches are missing from the kernel's event stream; short gaps are marked unknown",
			(unsigned long long)s->breaks);
}

int record_talk_command(const struct record_totals *t, const char *command)
{
	char name[64];
	int status = t->command_status;

	if (!command)
		return 0;
	text_printable(name, sizeof(name), command, SIZE_MAX);
	if (t->command_pid) {
		fprintf(stderr, "'%s' (process %u) goes on: only the recording has ended\n", name,
		        t->command_pid);
		return 0;
	}
	if (WIFSIGNALED(status)) {
		log_warn("the command was ended by signal %d (%s)", WTERMSIG(status),
		         strsignal(WTERMSIG(status)));
		return SIGNAL_EXIT + WTERMSIG(status);
	}
	if (WEXITSTATUS(status))
		log_warn("the command ended with %d", WEXITSTATUS(status));
	return WEXITSTATUS(status);
}

/* In single quotes, unless the shell finds nothing special in it. */
static void put_word(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "/._-+:,@%=";

	if (word[strspn(word, plain)] == '\0') {
		fputs(word, stderr);
		return;
	}
	fputc('\'', stderr);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", stderr);
		else
			fputc(*word, stderr);
	fputc('\'', stderr);
}

/* A name that has control bytes would not arrive as it was written. */
static bool is_writable(const char *path)
{
	char shown[4096];

	return strlen(path) < sizeof(shown) &&
	       strcmp(text_printable(shown, sizeof(shown), path, SIZE_MAX), path) == 0;
}

void record_talk_next(const char *path)
{
	static const char devices[] = "/dev/";

	if (!is_writable(path) || strncmp(path, devices, strlen(devices)) == 0)
		return;
	fputs("next: schedscope analyze ", stderr);
	put_word(path);
	fputc('\n', stderr);
}

static bool has_agreed(const char *path, off_t bytes)
{
	char answer[16] = "";

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return false;
	fprintf(stderr, "%s exists (%.1f MB). Replace it? [y/N] ", path, (double)bytes / 1e6);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

int record_talk_may_write(const char *path, bool may_replace, struct diag *d)
{
	struct stat st;

	/* What is empty, such as a file of mktemp, is nothing to lose; links and devices are judged where the file is made. */
	if (may_replace || lstat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size ||
	    has_agreed(path, st.st_size))
		return 0;
	return diag_set(d, -EEXIST, "add --force to replace it, or name another file with -o",
	                "cannot write '%s'", path);
}
