#include "sys/scx/scx_stats.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "sys/rights/broker.h"

#define ANSWER_MAX (1U << 20)
#define NS_PER_MS  1000000ULL

static int broken(struct diag *d, const char *why)
{
	return diag_set(d, -EPROTO, NULL, "the scheduler's statistics server %s", why);
}

static int refuse(const json_t *number, const json_t *resp, struct diag *d)
{
	const char *text = json_string_value(resp);

	return diag_set(d, -EREMOTEIO, NULL, "the scheduler refused (error %lld): %.100s",
	                (long long)json_integer_value(number), text ? text : "without a word");
}

int scx_stats_parse(const char *line, size_t len, struct diag *d, char **out)
{
	json_t *whole = json_loadb(line, len, 0, NULL);
	const json_t *number = json_object_get(whole, "errno");
	const json_t *resp = json_object_get(json_object_get(whole, "args"), "resp");
	int err = 0;

	if (!json_is_object(whole) || !json_is_integer(number))
		err = broken(d, "does not follow the protocol");
	else if (json_integer_value(number))
		err = refuse(number, resp, d);
	else if (!resp)
		err = broken(d, "sent a reply without a result");
	if (!err) {
		*out = json_dumps(resp, JSON_COMPACT | JSON_ENCODE_ANY);
		if (!*out)
			err = diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	json_decref(whole);
	return err;
}

static int wait_for(int fd, short what, uint64_t until_ns)
{
	struct pollfd p = { .fd = fd, .events = what };
	uint64_t now_ns = clock_boot_ns();
	int got;

	if (now_ns >= until_ns)
		return -ETIMEDOUT;
	got = poll(&p, 1, (int)((until_ns - now_ns) / NS_PER_MS) + 1);
	if (got < 0)
		return errno == EINTR ? 0 : -errno;
	return got ? 0 : -ETIMEDOUT;
}

static int send_all(int fd, const char *text, size_t len, uint64_t until_ns)
{
	int err = 0;

	while (len && !err) {
		ssize_t put = send(fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (put < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (put > 0) {
			text += put;
			len -= (size_t)put;
		} else {
			err = wait_for(fd, POLLOUT, until_ns);
		}
	}
	return err;
}

/* Up to the first end of a line, which is not part of it. */
static int read_line(int fd, uint64_t until_ns, char *buf, size_t *len)
{
	*len = 0;
	for (;;) {
		int err = wait_for(fd, POLLIN, until_ns);
		ssize_t got;
		char *end;

		if (err)
			return err;
		got = recv(fd, buf + *len, ANSWER_MAX - *len, MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -ECONNRESET;
		end = memchr(buf + *len, '\n', (size_t)got);
		*len += (size_t)got;
		if (end) {
			*len = (size_t)(end - buf);
			return 0;
		}
		if (*len == ANSWER_MAX)
			return -E2BIG;
	}
}

int scx_stats_connect(const char *path, struct diag *d, int *out)
{
	int fd = broker_connect(path);

	if (fd == -ENAMETOOLONG)
		return diag_set(d, -ENOTCONN, NULL,
		                "the path of the statistics socket is too long");
	if (fd < 0)
		return diag_set(
			d, -ENOTCONN,
			"only schedulers of the scx project serve it; see --stats-socket-path",
			"no scheduler serves statistics at %.90s", path);
	*out = fd;
	return 0;
}

int scx_stats_ask_on(int fd, const char *request, unsigned int timeout_ms, struct diag *d,
                     char **out)
{
	uint64_t until_ns = clock_boot_ns() + timeout_ms * NS_PER_MS;
	SCOPED(scoped_free) char *buf = malloc(ANSWER_MAX);
	char question[128];
	size_t len = 0;
	int err;

	if (!buf)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	(void)snprintf(question, sizeof(question), "{\"req\":\"%.32s\",\"args\":{}}\n", request);
	err = send_all(fd, question, strlen(question), until_ns);
	if (!err)
		err = read_line(fd, until_ns, buf, &len);
	if (err == -ETIMEDOUT)
		return diag_set(d, err, NULL, "the scheduler did not answer within %u ms",
		                timeout_ms);
	if (err)
		return diag_set(d, err, NULL, "cannot talk to the scheduler: %s", strerror(-err));
	return scx_stats_parse(buf, len, d, out);
}

int scx_stats_ask(const char *path, const char *request, unsigned int timeout_ms, struct diag *d,
                  char **out)
{
	SCOPED(scoped_close) int fd = -1;
	int err = scx_stats_connect(path, d, &fd);

	return err ? err : scx_stats_ask_on(fd, request, timeout_ms, d, out);
}

char *scx_stats_pretty(const char *json)
{
	json_t *whole = json_loads(json, JSON_DECODE_ANY, NULL);
	char *text = whole ? json_dumps(whole, JSON_INDENT(2) | JSON_ENCODE_ANY) : NULL;

	json_decref(whole);
	return text;
}
