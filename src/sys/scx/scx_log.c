#include "sys/scx/scx_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "sys/rights/broker.h"

#define RECORD_BYTES 8192U
#define RECORDS_MAX  1024 /* per call */
#define PREFIX       "sched_ext: "
#define END          "BPF scheduler \""

int scx_log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC), err = -errno;

	if (fd < 0)
		fd = broker_fetch("/dev/kmsg");
	if (fd < 0)
		return err;
	(void)lseek(fd, 0, SEEK_END);
	return fd;
}

static void copy(char *to, size_t size, const char *from, size_t len)
{
	text_printable(to, size, from, len);
}

/* BPF scheduler "name" disabled (reason) */
static bool parse_end(const char *text, struct scx_log_end *out)
{
	const char *name = text + strlen(END), *quote = strchr(name, '"');
	const char *open, *close;

	if (!quote || strncmp(quote, "\" disabled (", strlen("\" disabled (")) != 0)
		return false;
	open = strchr(quote, '(') + 1;
	close = strrchr(open, ')');
	if (!close)
		return false;
	*out = (struct scx_log_end){ 0 };
	copy(out->scheduler, sizeof(out->scheduler), name, (size_t)(quote - name));
	copy(out->reason, sizeof(out->reason), open, (size_t)(close - open));
	return true;
}

/* name: what happened. Only the first such line counts: a trace of calls follows. */
static bool parse_more(const char *text, struct scx_log_end *out)
{
	size_t len = strlen(out->scheduler), used = strlen(out->reason);
	char more[sizeof(out->reason)];

	if (!len || strchr(out->reason, ':') || strncmp(text, out->scheduler, len) != 0 ||
	    strncmp(text + len, ": ", 2) != 0)
		return false;
	text += len + 2;
	copy(more, sizeof(more), text, strcspn(text, "\n"));
	(void)snprintf(out->reason + used, sizeof(out->reason) - used, ": %s", more);
	return true;
}

bool scx_log_parse(const char *record, struct scx_log_end *out)
{
	const char *text = strchr(record, ';'); /* level, number, time and flags come first */

	if (!text || strncmp(text + 1, PREFIX, strlen(PREFIX)) != 0)
		return false;
	text += 1 + strlen(PREFIX);
	return strncmp(text, END, strlen(END)) == 0 ? parse_end(text, out) : parse_more(text, out);
}

bool scx_log_read(int fd, struct scx_log_end *out)
{
	char record[RECORD_BYTES];
	bool has_any = false;

	for (int i = 0; i < RECORDS_MAX; i++) {
		ssize_t len = read(fd, record, sizeof(record) - 1);

		if (len < 0 &&
		    (errno == EPIPE || errno == EINTR)) /* overwritten: the next is there */
			continue;
		if (len <= 0)
			break;
		record[len] = '\0';
		has_any = scx_log_parse(record, out) || has_any;
	}
	return has_any;
}
