/* Against a real queue of System V, which the test fills as a compositor would. */
#include "../unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/sensors/mango.h"
#include "tree.h"

#ifndef MSG_COPY
#define MSG_COPY 040000
#endif

#define VERSION_1 85U /* bytes after the type */

struct raw {
	long type;
	unsigned char text[600];
};

struct queue {
	struct tree t;
	char path[128];
	int id;
};

static void queue_init(struct queue *q)
{
	tree_init(&q->t);
	tree_write(&q->t, "mangoapp", "");
	snprintf(q->path, sizeof(q->path), "%s/mangoapp", q->t.root);
	q->id = msgget(ftok(q->path, 65), IPC_CREAT | IPC_EXCL | 0600);
	assert_true(q->id >= 0);
}

static void queue_done(struct queue *q)
{
	expect_eq(msgctl(q->id, IPC_RMID, NULL), 0);
	tree_done(&q->t);
}

/* Byte by byte, so that it shares nothing with what is tested. */
static void put_le(unsigned char *at, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> (8 * i));
}

static struct raw frame_of(uint32_t nr)
{
	struct raw m = { .type = 1 };

	put_le(m.text, 1, 4);
	put_le(m.text + 4, 4242, 4);
	put_le(m.text + 8, 16000000 + nr, 8);
	m.text[16] = 2;
	m.text[17] = 5;
	put_le(m.text + 18, 17000000 + nr, 8);
	put_le(m.text + 26, 30000000 + nr, 8);
	put_le(m.text + 34, 2560, 4);
	put_le(m.text + 38, 1440, 4);
	put_le(m.text + 42, 144, 2);
	m.text[44] = 2;
	memset(m.text + 45, 'E', 40);
	return m;
}

static void send_bytes(const struct queue *q, uint32_t nr, size_t bytes)
{
	struct raw m = frame_of(nr);

	expect_eq(msgsnd(q->id, &m, bytes, IPC_NOWAIT), 0);
}

static struct mango *start(const struct queue *q)
{
	struct mango *m = NULL;

	expect_eq(mango_open(q->path, &m), 0);
	return m;
}

static struct mango_frames read_frames(struct mango *m)
{
	struct mango_frames l = { 0 };

	expect_eq(mango_read(m, &l), 0);
	return l;
}

static void fields_are_where_the_compositor_puts_them(void **state)
{
	struct mango_frames l;
	struct mango *m;
	struct queue q;

	(void)state;
	queue_init(&q);
	m = start(&q);
	send_bytes(&q, 7, VERSION_1);
	l = read_frames(m);
	expect_eq(l.nr, 1);
	expect_eq(l.frames[0].pid, 4242);
	expect_eq(l.frames[0].app_ns, 16000007);
	expect_eq(l.frames[0].visible_ns, 17000007);
	expect_eq(l.frames[0].latency_ns, 30000007);
	expect_eq(l.frames[0].width, 2560);
	expect_eq(l.frames[0].height, 1440);
	expect_eq(l.frames[0].refresh_hz, 144);
	expect_eq(l.frames[0].upscale, 2);
	expect_eq(l.frames[0].sharpness, 5);
	assert_false(l.frames[0].has_hdr);
	assert_true(l.frames[0].is_steam_focused);
	expect_eq(strlen(l.frames[0].engine), 40); /* ended, though the sender did not */
	assert_true(l.sent_s > 0);
	mango_close(m);
	queue_done(&q);
}

static void no_queue_is_reported(void **state)
{
	struct mango_frames l;
	struct mango *m;
	struct queue q;

	(void)state;
	queue_init(&q);
	m = start(&q);
	expect_eq(msgctl(q.id, IPC_RMID, NULL), 0);
	assert_int_equal(mango_read(m, &l), -ENOENT);
	q.id = msgget(ftok(q.path, 65), IPC_CREAT | IPC_EXCL | 0600);
	expect_eq(read_frames(m).nr, 0); /* it may come later */
	mango_close(m);
	mango_close(NULL);
	queue_done(&q);
}

static void odd_messages_are_counted_not_read(void **state)
{
	struct mango_frames l;
	struct mango *m;
	struct queue q;
	struct raw version_2 = frame_of(9);

	(void)state;
	queue_init(&q);
	m = start(&q);
	version_2.text[0] = 2;
	send_bytes(&q, 1, VERSION_1 - 1);
	expect_eq(msgsnd(q.id, &version_2, VERSION_1, IPC_NOWAIT), 0);
	send_bytes(&q, 2, 0);
	send_bytes(&q, 3, 600); /* as long as it likes: the start is version 1 */
	l = read_frames(m);
	expect_eq(l.nr_odd, 3);
	expect_eq(l.nr, 1);
	expect_eq(l.frames[0].app_ns, 16000003);
	mango_close(m);
	queue_done(&q);
}

/* The queue would be full after seconds and stay so. */
static void without_another_reader_the_queue_is_emptied(void **state)
{
	struct msqid_ds s;
	struct mango_frames l;
	struct mango *m;
	struct queue q;

	(void)state;
	queue_init(&q);
	m = start(&q);
	for (uint32_t i = 0; i < 3; i++)
		send_bytes(&q, i, VERSION_1);
	l = read_frames(m);
	assert_true(l.is_taking);
	expect_eq(l.nr, 3);
	expect_eq(l.frames[2].app_ns, 16000002);
	expect_eq(msgctl(q.id, IPC_STAT, &s), 0);
	expect_eq(s.msg_qnum, 0);
	expect_eq(read_frames(m).nr, 0);
	send_bytes(&q, 0, VERSION_1); /* the same once more is another frame */
	expect_eq(read_frames(m).nr, 1);
	mango_close(m);
	queue_done(&q);
}

struct other {
	pid_t pid;
	int ask, answer;
};

/* Another program: takes as many messages as it is asked to and tells the time of the last frame. */
static void serve(const struct queue *q, int ask, int answer)
{
	unsigned char nr;

	while (read(ask, &nr, 1) == 1) {
		uint64_t last = 0;
		struct raw m;

		for (; nr; nr--)
			if (msgrcv(q->id, &m, sizeof(m.text), 0, IPC_NOWAIT) >= 0)
				memcpy(&last, m.text + 8, sizeof(last));
		if (write(answer, &last, sizeof(last)) != sizeof(last))
			_exit(1);
	}
	_exit(0);
}

static struct other other_start(const struct queue *q)
{
	int ask[2], answer[2];
	struct other o;

	expect_eq(pipe(ask), 0);
	expect_eq(pipe(answer), 0);
	o.pid = fork();
	if (o.pid == 0) {
		close(ask[1]);
		serve(q, ask[0], answer[1]);
	}
	assert_true(o.pid > 0);
	close(ask[0]);
	close(answer[1]);
	o.ask = ask[1];
	o.answer = answer[0];
	return o;
}

static uint64_t other_takes(const struct other *o, unsigned char nr)
{
	uint64_t last = 0;

	expect_eq(write(o->ask, &nr, 1), 1);
	expect_eq(read(o->answer, &last, sizeof(last)), sizeof(last));
	return last;
}

static void other_stop(const struct other *o)
{
	close(o->ask);
	close(o->answer);
	expect_eq(waitpid(o->pid, NULL, 0), o->pid);
}

/* Kernels without CONFIG_CHECKPOINT_RESTORE copy nothing: there, frames are taken. */
static bool can_copy(void)
{
	int id = msgget(IPC_PRIVATE, 0600);
	bool can = id >= 0 && msgrcv(id, &(char[64]){ 0 }, 8, 0, IPC_NOWAIT | MSG_COPY) < 0 &&
	           errno == ENOMSG;

	if (id >= 0)
		msgctl(id, IPC_RMID, NULL);
	return can;
}

static void what_another_program_reads_is_left_to_it(void **state)
{
	struct mango_frames l;
	struct other o;
	struct mango *m;
	struct queue q;

	(void)state;
	queue_init(&q);
	m = start(&q);
	o = other_start(&q);
	send_bytes(&q, 0, VERSION_1);
	expect_eq(other_takes(&o, 1), 16000000);
	for (uint32_t i = 1; i <= 4; i++)
		send_bytes(&q, i, VERSION_1);
	l = read_frames(m);
	assert_false(l.is_taking);
	expect_eq(l.other, o.pid);
	expect_eq(l.nr, 4);
	expect_eq(l.frames[3].app_ns, 16000004);
	expect_eq(read_frames(m).nr, 0);         /* each frame once, though all still lie there */
	expect_eq(other_takes(&o, 2), 16000002); /* it misses none */
	send_bytes(&q, 5, VERSION_1);
	l = read_frames(m);
	expect_eq(l.nr, 1);
	expect_eq(l.frames[0].app_ns, 16000005);
	expect_eq(other_takes(&o, 3), 16000005);
	other_stop(&o);
	/* It is gone: the queue must still be read. */
	send_bytes(&q, 6, VERSION_1);
	l = read_frames(m);
	assert_true(l.is_taking);
	expect_eq(l.nr, 1);
	expect_eq(l.frames[0].app_ns, 16000006);
	mango_close(m);
	queue_done(&q);
}

static void a_full_queue_is_read_whole(void **state)
{
	struct mango_frames l;
	struct mango *m;
	struct queue q;
	uint32_t nr = 0;

	(void)state;
	queue_init(&q);
	m = start(&q);
	for (;; nr++) {
		struct raw r = frame_of(nr);

		if (msgsnd(q.id, &r, VERSION_1, IPC_NOWAIT) < 0)
			break;
	}
	l = read_frames(m);
	expect_eq(l.nr, nr < MANGO_FRAMES_MAX ? nr : MANGO_FRAMES_MAX);
	expect_eq(l.frames[l.nr - 1].app_ns, 16000000 + nr - 1);
	mango_close(m);
	queue_done(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_where_the_compositor_puts_them),
		cmocka_unit_test(no_queue_is_reported),
		cmocka_unit_test(odd_messages_are_counted_not_read),
		cmocka_unit_test(without_another_reader_the_queue_is_emptied),
		unit_test_if(can_copy(), what_another_program_reads_is_left_to_it,
		             "the kernel copies no messages"),
		cmocka_unit_test(a_full_queue_is_read_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
