#include "tui/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "tui/app.h"
#include "tui/task_groups.h"
#include "tui/task_matches.h"
#include "tui/term.h"

#define FIRST_REFRESH_NS 100000000ULL
#define MS_NS            1000000ULL

struct loop {
	const struct loop_cfg *cfg;
	struct app app;
	struct terminal *term;
	struct grid grid;
	const struct machine *machine;
	uint64_t next_refresh_ns, next_frame_ns;
	bool is_due;   /* something new is to be drawn, when its time comes */
	bool is_now;   /* a key was pressed: at once */
	bool is_early; /* the next refresh is due early */
	int refresh_error;
	int logged[2]; /* a pipe */
};

static uint64_t now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* Any thread may log: lines are packets of a pipe, and are lost when it is full. */
static void on_log(void *ctx, enum log_level level, const char *line)
{
	const struct loop *l = ctx;
	size_t len = strlen(line);

	(void)level;
	if (len && write(l->logged[1], line, len < APP_LOG_BYTES ? len : APP_LOG_BYTES - 1) < 0)
		return;
}

static void report_logged(struct loop *l)
{
	char line[APP_LOG_BYTES];
	ssize_t nr;

	while ((nr = read(l->logged[0], line, sizeof(line) - 1)) > 0) {
		line[nr] = '\0';
		text_chomp(line);
		app_notify(&l->app, "%s", line);
		l->is_due = true;
	}
}

static void show_messages(struct loop *l)
{
	char text[APP_LOG_BYTES];

	report_logged(l);
	while (l->cfg->message && l->cfg->message(l->cfg->ctx, text, sizeof(text))) {
		app_notify(&l->app, "%s", text);
		l->is_due = true;
	}
}

static void refresh(struct loop *l)
{
	const struct machine *m = NULL;
	struct diag d = { 0 };
	char text[APP_LOG_BYTES];
	struct machine_request request = app_request(&l->app);
	int err;

	player_take(&l->app.player, l->app.screen.tick_ms, l->app.screen.is_frozen, !l->is_early,
	            &request.play);
	err = l->cfg->refresh(l->cfg->ctx, &request, &d, &m);
	if (!err) {
		l->machine = m;
		app_refreshed(&l->app, &request, m);
	} else if (err != l->refresh_error) { /* once, not with every refresh */
		diag_format(&d, text, sizeof(text));
		app_notify(&l->app, "%s", text);
	}
	l->refresh_error = err;
	l->is_due = true;
}

static void save(struct loop *l)
{
	SCOPED(scoped_free) char *settings = NULL;
	char path[PATH_MAX], text[APP_LOG_BYTES];
	struct diag d = { 0 };
	int err = config_write(l->cfg->config, &d, &settings);

	if (!err)
		err = l->cfg->save ? l->cfg->save(l->cfg->ctx, settings, &d, path)
		                   : config_store(settings, &d, path);
	if (err) {
		diag_format(&d, text, sizeof(text));
		app_notify(&l->app, "%s", text);
		return;
	}
	app_notify(&l->app, "settings saved in %s", path);
}

/* One of the two keys of a recorder. */
static void record(struct loop *l, int (*handle)(void *, char *, size_t, struct diag *))
{
	char text[APP_LOG_BYTES];
	struct diag d = { 0 };

	if (!handle) {
		app_notify(&l->app, "not available: there is nothing here to record");
		return;
	}
	if (handle(l->cfg->ctx, text, sizeof(text), &d))
		diag_format(&d, text, sizeof(text));
	app_notify(&l->app, "%s", text);
}

static int draw(struct loop *l)
{
	uint16_t width, height;
	int err;

	term_size(l->term, &width, &height);
	err = grid_reset(&l->grid, width, height);
	if (err)
		return err;
	l->app.recorder.kept_s = 0;
	if (l->cfg->kept)
		l->app.recorder.kept_s = l->cfg->kept(l->cfg->ctx, &l->app.recorder.cpu);
	app_draw(&l->app, l->machine, &l->grid);
	l->is_due = l->is_now = false;
	l->next_frame_ns = now_ns() + l->cfg->config->frame_ms * MS_NS;
	return term_draw(l->term, &l->grid, l->cfg->config->theme);
}

/* How long nothing is to be done but to wait for keys. */
static int wait_ms(const struct loop *l)
{
	uint64_t now = now_ns(), until = l->next_refresh_ns;

	if (l->is_due && l->next_frame_ns < until)
		until = l->next_frame_ns;
	return until > now ? (int)((until - now + MS_NS - 1) / MS_NS) : 0;
}

/* False = the end. */
static bool handle(struct loop *l, struct app_input in)
{
	unsigned int effects;

	if (in.key == KEY_NONE)
		return true;
	/* A paste may be long: not a frame for each of its letters. */
	l->is_due = true;
	l->is_now = l->is_now || !in.is_pasted;
	if (in.key == KEY_OF_RESIZE)
		return true;
	effects = app_press(&l->app, l->machine, in);
	if (effects & APP_SAVE)
		save(l);
	if (effects & APP_RECORD)
		record(l, l->cfg->record);
	if (effects & APP_REPORT)
		record(l, l->cfg->report);
	if (effects & APP_ARM)
		record(l, l->cfg->arm);
	if (effects & APP_SUSPEND)
		term_suspend(l->term);
	return !(effects & APP_QUIT);
}

static uint64_t period_ns(const struct loop *l)
{
	if (l->machine && l->machine->play)
		return player_period_ns(&l->app.player, l->app.screen.tick_ms);
	return l->app.screen.tick_ms * MS_NS;
}

static void tick(struct loop *l)
{
	if (now_ns() < l->next_refresh_ns)
		return;
	/* A paused recording can be refreshed, a live machine cannot. */
	if (!l->app.screen.is_frozen || (l->machine && l->machine->play))
		refresh(l);
	l->is_early = false;
	show_messages(l);
	l->next_refresh_ns = now_ns() + period_ns(l);
}

/* Whether the user wants to be elsewhere in a recording, or faster. */
static bool is_asked(const struct loop *l, const struct player *before)
{
	return l->app.player.steps != before->steps || l->app.player.speed != before->speed ||
	       l->app.player.step != before->step;
}

static int run(struct loop *l)
{
	bool goes_on = true;
	int err = draw(l);

	/* The first figures are shown before a whole tick has passed. */
	l->next_refresh_ns = now_ns() + FIRST_REFRESH_NS;
	l->next_frame_ns = l->next_refresh_ns;
	while (!err && goes_on) {
		const struct view *view = l->app.view;
		uint32_t tick_ms = l->app.screen.tick_ms;
		char event[EVENT_WORD_BYTES];
		struct player player;

		memcpy(event, l->app.screen.event, sizeof(event));

		tick(l);
		player = l->app.player;
		if (l->is_now || (l->is_due && now_ns() >= l->next_frame_ns))
			err = draw(l);
		goes_on = handle(l, term_read(l->term, wait_ms(l)));
		/* Another view or event may need what was not collected, and another tick begins now. */
		if (l->app.view != view || l->app.screen.tick_ms != tick_ms ||
		    strcmp(l->app.screen.event, event) != 0 || is_asked(l, &player)) {
			l->next_refresh_ns = now_ns();
			l->is_early = true;
		}
	}
	return err;
}

static int open_and_run(struct loop *l, struct diag *d)
{
	int err = grid_init(&l->grid, 1, 1);

	if (err)
		return err;
	if (pipe2(l->logged, O_CLOEXEC | O_NONBLOCK | O_DIRECT))
		return -errno;
	err = term_open(d, &l->term);
	if (!err) {
		log_set_sink(on_log, l);
		err = run(l);
		log_set_sink(NULL, NULL);
	}
	close(l->logged[0]);
	close(l->logged[1]);
	return err;
}

int loop_run(const struct loop_cfg *cfg, struct diag *d)
{
	struct loop *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	l->cfg = cfg;
	app_init(&l->app, cfg->config);
	if (cfg->filter)
		snprintf(l->app.screen.filter, sizeof(l->app.screen.filter), "%s", cfg->filter);
	/* Without memory for them, filters cost more, and processes are shown one by one. */
	if (task_matches_new(&l->app.screen.matches))
		l->app.screen.matches = NULL;
	if (task_groups_new(&l->app.screen.groups))
		l->app.screen.groups = NULL;
	if (cfg->first_message)
		app_notify(&l->app, "%s", cfg->first_message);
	err = open_and_run(l, d);
	term_close(l->term);
	grid_done(&l->grid);
	task_matches_free(l->app.screen.matches);
	task_groups_free(l->app.screen.groups);
	free(l);
	return err ? diag_set(d, err, NULL, "cannot draw on the terminal") : 0;
}
