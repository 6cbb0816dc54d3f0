#include "serve/serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "serve/metrics_page.h"

#define MS_NS       1000000ULL
#define FRESH_NS    (100 * MS_NS)  /* so old may sums be that are shown */
#define STEP_NS     (5000 * MS_NS) /* without scrapes, they are read so often */
#define PAGE_BYTES  ((size_t)16 << 20)
#define STATM_BYTES 256U

struct serve {
	struct serve_cfg cfg;
	struct metrics_server_cfg http;
	struct metrics_server *server; /* NULL = none */
	struct serve_source *src;
	struct serve_blame *blame; /* NULL = none */
	struct dumps *dumps;       /* NULL = none */
	struct columns *columns;   /* NULL = none */
	struct sums *sums;
	struct bounds bounds, cgroup_bounds;
	struct exposition pages[FORMATS];
	uint64_t made_ns[FORMATS]; /* of which step each page is; 0 = none */
	uint64_t stepped_ns;       /* boot time; 0 = never */
	uint64_t file_ns;          /* when the file is written next */
	double start_unix_s;
	bool is_failing;      /* the last step */
	bool is_file_failing; /* the last writing of the file */
	int signal_fd;
	bool is_over;
};

static uint64_t own_bytes(void)
{
	SCOPED(scoped_free) char *text = NULL;
	unsigned long long total, resident;

	if (text_read_file("/proc/self/statm", STATM_BYTES, &text) ||
	    sscanf(text, "%llu %llu", &total, &resident) != 2)
		return 0;
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void log_diag(const struct diag *d)
{
	char line[512];

	diag_format(d, line, sizeof(line));
	log_warn("%s", line);
}

/* A failure is logged once, and tried again: the counters in the kernel go on. */
static int step(struct serve *s)
{
	struct diag d = { 0 };
	int err = s->src->ops->step(s->src, s->sums, &d);

	if (err && !s->is_failing)
		log_diag(&d);
	s->is_failing = err;
	if (s->dumps)
		dumps_poll(s->dumps, s->sums);
	s->stepped_ns = clock_boot_ns();
	sums_age(s->sums, s->src->ops->now_ns(s->src));
	return err;
}

static int write_page(struct serve *s, enum metrics_format format)
{
	struct page_facts facts = {
		.version = s->cfg.version,
		.kernel = s->src->kernel,
		.machine = s->src->machine,
		.start_unix_s = s->start_unix_s,
		.own_cpu_s = (double)clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9,
		.own_bytes = own_bytes(),
		.clock_to_unix_s = s->src->clock_to_unix_s,
		.dumps = s->dumps,
		.bounds = &s->bounds,
		.cgroup_bounds = &s->cgroup_bounds,
	};

	return metrics_page_write(s->sums, &facts, &s->pages[format]);
}

/* Of the sums as they are now, or were a moment ago. */
static int page(void *ctx, enum metrics_format format, const void **bytes, size_t *len)
{
	struct serve *s = ctx;
	bool is_old = clock_boot_ns() - s->stepped_ns >= FRESH_NS;
	int err = is_old ? step(s) : s->is_failing ? -EIO : 0;

	if (err)
		return err;
	if (s->made_ns[format] != s->stepped_ns) {
		err = write_page(s, format);
		if (err)
			return err;
		s->made_ns[format] = s->stepped_ns;
	}
	*bytes = s->pages[format].out.buf;
	*len = s->pages[format].out.len;
	return 0;
}

static bool is_ready(void *ctx)
{
	const struct serve *s = ctx;

	return s->stepped_ns && !s->is_failing;
}

static void write_file(struct serve *s)
{
	const void *bytes = NULL;
	struct diag d = { 0 };
	size_t len = 0;
	int err;

	if (page(s, FORMAT_TEXT, &bytes, &len))
		return;
	err = s->cfg.write_file(s->cfg.ctx, bytes, len, &d);
	if (err && !s->is_file_failing)
		log_diag(&d);
	s->is_file_failing = err;
}

static void reload_token(struct serve *s)
{
	struct diag d = { 0 };
	char why[512];

	if (!s->server || !metrics_server_reload(s->server, &d))
		return;
	diag_format(&d, why, sizeof(why));
	log_warn("the token stays what it was: %s", why);
}

static void reload_groups(struct serve *s)
{
	struct stat_groups groups = { 0 };
	struct diag d = { 0 };
	int err;

	if (!s->cfg.groups || !s->src->ops->reload)
		return;
	err = s->cfg.groups(s->cfg.ctx, &groups, &d);
	if (!err)
		err = s->src->ops->reload(s->src, &groups, s->sums, &d);
	if (err)
		log_diag(&d);
	else
		log_info("groups were reloaded");
}

static void take_signals(struct serve *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			reload_token(s);
			reload_groups(s);
		} else {
			s->is_over = true;
		}
	}
}

static struct columns_now both_clocks(void)
{
	return (struct columns_now){ .boot_ns = clock_boot_ns(),
		                     .unix_ns = clock_read_ns(CLOCK_REALTIME) };
}

/* Of the sums as they are now: pages that were made before are older. */
static void write_columns(struct serve *s)
{
	struct columns_now now;

	(void)!step(s);
	now = both_clocks();
	columns_write(s->columns, &now);
}

static void do_due(struct serve *s)
{
	uint64_t now_ns = clock_boot_ns();

	if (now_ns - s->stepped_ns >= STEP_NS)
		(void)!step(s);
	if (s->columns && now_ns >= columns_due_ns(s->columns))
		write_columns(s);
	if (!s->cfg.write_file || now_ns < s->file_ns)
		return;
	write_file(s);
	s->file_ns = now_ns + s->cfg.file_ns;
}

static int earlier(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

static int ms_until(uint64_t then_ns)
{
	uint64_t now_ns = clock_boot_ns();

	return then_ns <= now_ns ? 0 : (int)((then_ns - now_ns) / MS_NS) + 1;
}

static int wait_ms(const struct serve *s)
{
	int ms = ms_until(s->stepped_ns + STEP_NS);

	if (s->blame)
		ms = earlier(ms, SERVE_BLAME_POLL_MS);
	if (s->cfg.write_file)
		ms = earlier(ms, ms_until(s->file_ns));
	if (s->columns)
		ms = earlier(ms, ms_until(columns_due_ns(s->columns)));
	return s->server ? earlier(ms, metrics_server_wait_ms(s->server)) : ms;
}

/* Without it the other metrics are still good. */
static void poll_blame(struct serve *s)
{
	struct diag d = { 0 };

	if (!s->blame || !serve_blame_poll(s->blame, s->sums, &d))
		return;
	log_diag(&d);
	log_warn("who kept whom waiting is not counted any more");
	s->blame = NULL;
}

static void turn(struct serve *s)
{
	struct pollfd fds[] = {
		{ .fd = s->signal_fd, .events = POLLIN },
		{ .fd = s->src->ops->fd(s->src), .events = POLLIN },
		{ .fd = s->server ? metrics_server_fd(s->server) : -1, .events = POLLIN },
		{ .fd = s->blame ? serve_blame_fd(s->blame) : -1, .events = POLLIN },
	};

	(void)poll(fds, sizeof(fds) / sizeof(fds[0]), wait_ms(s));
	if (fds[0].revents)
		take_signals(s);
	if (fds[1].revents && !s->is_failing)
		(void)!step(s);
	poll_blame(s);
	if (s->server)
		metrics_server_run(s->server);
	do_due(s);
}

static void begin_columns(struct serve *s)
{
	struct columns_now now = both_clocks();

	if (s->columns)
		columns_begin(s->columns, s->src, s->sums, s->dumps, &now);
}

int serve_run(struct serve *s, const struct serve_input *in, struct diag *d)
{
	int err;

	s->src = in->source;
	s->sums = in->sums;
	s->blame = in->blame;
	s->dumps = in->dumps;
	s->columns = in->columns;
	begin_columns(s);
	if (s->dumps)
		dumps_poll(s->dumps, s->sums); /* what is there already is not new */
	s->start_unix_s = (double)clock_read_ns(CLOCK_REALTIME) / 1e9;
	err = s->src->ops->step(s->src, s->sums, d);
	s->stepped_ns = clock_boot_ns();
	s->file_ns = s->stepped_ns;
	while (!err && !s->is_over)
		turn(s);
	if (!err && s->columns)
		write_columns(s); /* what is left */
	return err;
}

/* Before anything is started: what ends us later must not strike halfway. */
static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int serve_open(const struct serve_cfg *cfg, struct diag *d, struct serve **out)
{
	struct serve *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	s->cfg = *cfg;
	bounds_init(&s->bounds, cfg->has_all_buckets);
	bounds_init(&s->cgroup_bounds, false);
	for (int i = 0; i < FORMATS; i++)
		exposition_init(&s->pages[i], (enum metrics_format)i, PAGE_BYTES);
	s->signal_fd = open_signals();
	if (s->signal_fd < 0)
		err = diag_set(d, -errno, NULL, "cannot watch for signals");
	if (!err && cfg->http) {
		s->http = *cfg->http;
		s->http.page = page;
		s->http.is_ready = is_ready;
		s->http.ctx = s;
		err = metrics_server_open(&s->http, d, &s->server);
	}
	if (err) {
		serve_close(s);
		return err;
	}
	*out = s;
	return 0;
}

void serve_close(struct serve *s)
{
	if (!s)
		return;
	metrics_server_close(s->server);
	if (s->signal_fd >= 0)
		close(s->signal_fd);
	for (int i = 0; i < FORMATS; i++)
		exposition_done(&s->pages[i]);
	free(s);
}

const char *serve_url(const struct serve *s)
{
	return s->server ? metrics_server_url(s->server) : NULL;
}
