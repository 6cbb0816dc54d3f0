/* Frames as they come into a machine, from a real queue. */
#include "../unit.h"

#include "machine_files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>

#include "machine/machine_game.h"

#define NEEDS ((uint32_t)(MACHINE_CPUS | MACHINE_TASKS | MACHINE_GAME))

struct raw {
	long type;
	unsigned char text[85];
};

struct game {
	struct machine_files f;
	char path[128];
	int id;
};

static void put_le(unsigned char *at, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> (8 * i));
}

static void send_frame(const struct game *g, uint32_t pid, uint64_t frame_ns, uint64_t latency_ns)
{
	struct raw m = { .type = 1 };

	put_le(m.text, 1, 4);
	put_le(m.text + 4, pid, 4);
	put_le(m.text + 8, frame_ns, 8);
	put_le(m.text + 18, frame_ns + 1, 8);
	put_le(m.text + 26, latency_ns, 8);
	put_le(m.text + 34, 1920, 4);
	put_le(m.text + 38, 1080, 4);
	put_le(m.text + 42, 60, 2);
	m.text[44] = 1;
	memcpy(m.text + 45, "vkd3d", 6);
	expect_eq(msgsnd(g->id, &m, sizeof(m.text), IPC_NOWAIT), 0);
}

static void start(struct game *g)
{
	machine_files_init(&g->f, "0-1", NULL);
	tree_write(&g->f.t, "queue", "");
	tree_write(&g->f.t, "proc/10/task/10/schedstat", "1000 0 1");
	tree_write(
		&g->f.t, "proc/10/task/10/stat",
		"10 (portal) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0");
	snprintf(g->path, sizeof(g->path), "%s/queue", g->f.t.root);
	g->f.cfg.mango_path = g->path;
	g->f.cfg.mango_poll_ms = 500;
	g->id = msgget(ftok(g->path, 65), IPC_CREAT | IPC_EXCL | 0600);
	assert_true(g->id >= 0);
	machine_files_open(&g->f);
}

static void stop(struct game *g)
{
	machine_files_done(&g->f);
	(void)msgctl(g->id, IPC_RMID, NULL);
}

static void frames_of_the_game_are_shown(void **state)
{
	const struct machine_game *game;
	struct game g;

	(void)state;
	start(&g);
	send_frame(&g, 10, 10000000, 31000000);
	send_frame(&g, 10, 30000000, UINT64_MAX);
	game = machine_files_refresh(&g.f, NEEDS)->game;
	assert_null(game->reason);
	expect_eq(game->pid, 10);
	assert_string_equal(game->comm, "portal");
	assert_string_equal(game->engine, "vkd3d");
	expect_eq(game->width, 1920);
	expect_eq(game->height, 1080);
	expect_eq(game->refresh_hz, 60);
	assert_true(game->has_hdr);
	assert_true(game->frame_ns == 30000000 && game->visible_ns == 30000001);
	assert_true(isnan(game->latency_ns));     /* not reported is not a long latency */
	assert_true(fabs(game->fps - 50) < 1e-9); /* two in 40 ms */
	expect_eq(game->frames.nr, 2);
	assert_true(game->frames.values[0] == 10000000);
	expect_eq(game->latencies.nr, 1);
	expect_eq(game->rates.nr, 1);
	expect_eq(game->nr_frames, 2);
	stop(&g);
}

static void the_queue_is_read_as_often_as_asked(void **state)
{
	const struct machine_game *game;
	struct game g;

	(void)state;
	start(&g);
	send_frame(&g, 10, 10000000, 1);
	machine_files_refresh(&g.f, NEEDS);
	send_frame(&g, 10, 20000000, 1);
	machine_files_pass(0.4);
	game = machine_files_refresh(&g.f, NEEDS)->game;
	expect_eq(game->nr_frames, 1);
	assert_true(fabs(game->age_s - 0.4) < 1e-9);
	machine_files_pass(0.1);
	game = machine_files_refresh(&g.f, NEEDS)->game;
	expect_eq(game->nr_frames, 2);
	assert_true(game->age_s == 0);
	stop(&g);
}

static void another_game_begins_anew(void **state)
{
	const struct machine_game *game;
	struct game g;

	(void)state;
	start(&g);
	send_frame(&g, 10, 10000000, 1);
	send_frame(&g, 11, 25000000, 1);
	game = machine_files_refresh(&g.f, NEEDS)->game;
	expect_eq(game->pid, 11);
	assert_null(game->comm);
	expect_eq(game->nr_frames, 1);
	expect_eq(game->frames.nr, 1);
	assert_true(fabs(game->fps - 40) < 1e-9);
	stop(&g);
}

static void messages_of_another_version_are_reported(void **state)
{
	const struct machine_game *game;
	struct raw m = { .type = 1, .text = { 2 } };
	struct game g;

	(void)state;
	start(&g);
	expect_eq(msgsnd(g.id, &m, sizeof(m.text), IPC_NOWAIT), 0);
	expect_eq(msgsnd(g.id, &m, 3, IPC_NOWAIT), 0);
	game = machine_files_refresh(&g.f, NEEDS)->game;
	assert_non_null(strstr(game->reason, "2 messages in mangoapp's queue are not"));
	send_frame(&g, 10, 10000000, 1);
	expect_eq(msgsnd(g.id, &m, 3, IPC_NOWAIT), 0);
	machine_files_pass(1);
	game = machine_files_refresh(&g.f, NEEDS)->game;
	assert_null(game->reason);
	assert_non_null(strstr(game->note, "1 messages have another version"));
	stop(&g);
}

static void without_frames_the_reason_is_reported(void **state)
{
	const struct machine_game *game;
	struct game g;

	(void)state;
	start(&g);
	game = machine_files_refresh(&g.f, NEEDS)->game;
	assert_non_null(strstr(game->reason, "no frame yet"));
	expect_eq(msgctl(g.id, IPC_RMID, NULL), 0);
	machine_files_pass(1);
	game = machine_files_refresh(&g.f, NEEDS)->game;
	assert_non_null(strstr(game->reason, "mangoapp not available"));
	assert_null(machine_files_refresh(&g.f, MACHINE_CPUS)->game);
	stop(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_the_game_are_shown),
		cmocka_unit_test(the_queue_is_read_as_often_as_asked),
		cmocka_unit_test(another_game_begins_anew),
		cmocka_unit_test(messages_of_another_version_are_reported),
		cmocka_unit_test(without_frames_the_reason_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
