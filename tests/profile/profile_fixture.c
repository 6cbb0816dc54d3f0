#include "profile_fixture.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTILE "<script>alert(1)</script>&\"'\x01\x1b[2J\xff]]>\xe2\x80\xae;\n</g></svg>"

static const struct profile_task web = {
	.tid = 100, .tgid = 100, .comm = "web", .process = "web", .layer = 3
};
static const struct profile_task db = {
	.tid = 200, .tgid = 200, .comm = "db", .process = "db", .layer = PROFILE_NO_LAYER
};
static const struct profile_task db_io = {
	.tid = 201, .tgid = 200, .comm = "db-io", .process = "db", .layer = PROFILE_NO_LAYER
};

/* "k:libc!read@12" and such. */
static uint32_t frame_number(struct profile *p, char *word, const char *process)
{
	struct profile_frame frame = { .module = process, .file = "src/main.c", .line = 10 };
	char *module = strchr(word, '!'), *line = strrchr(word, '@');
	uint32_t out = 0;
	int err;

	if (line) {
		frame.line = (uint32_t)strtoul(line + 1, NULL, 10);
		*line = '\0';
	}
	if (word[0] == 'k' && word[1] == ':') {
		frame.is_kernel = true;
		frame.module = "kernel";
		frame.file = NULL;
		frame.line = 0;
		word += 2;
	} else if (word[0] == 'i' && word[1] == ':') {
		frame.is_inlined = true;
		word += 2;
	}
	if (module) {
		*module = '\0';
		frame.module = word;
		word = module + 1;
	}
	frame.symbol = word;
	frame.address = frame.is_kernel ? 0xffff000000001000 : 0x400000 + strlen(word) * 16;
	err = profile_add_frame(p, &frame, &out);
	assert(err == 0);
	(void)err;
	return out;
}

void profile_add(struct profile *p, const struct profile_task *task, const char *stack,
                 uint64_t count)
{
	struct profile_stack row = { .count = count, .value = count, .cpu = 1 };
	char *copy = strdup(stack), *rest = copy, *word;
	uint32_t frames[64];
	int err = profile_add_task(p, task, &row.task);

	assert(copy && err == 0);
	row.frames = frames + 64;
	while (*stack && (word = strsep(&rest, ";"))) {
		row.frames = frames + 63 - row.nr++;
		frames[64 - row.nr] = frame_number(p, word, task->process);
	}
	err = profile_add_stack(p, &row);
	assert(err == 0);
	(void)err;
	free(copy);
}

static void fill_story(struct profile *p)
{
	profile_add(p, &web, "main;serve;parse@21", 250);
	profile_add(p, &web, "main;serve;parse@22", 150);
	profile_add(p, &web, "main;serve;libc.so.6!read;k:sys_read", 200);
	profile_add(p, &web, "main;serve;i:copy", 50);
	profile_add(p, &web, "main", 50);
	profile_add(p, &db, "main;fib;fib;fib", 150);
	profile_add(p, &db, "main;read", 60);
	profile_add(p, &db_io, "main;read", 40);
	profile_add(p, &db, "main;lib.so!0x1234", 20);
	profile_add(p, &db, "main;lib.so!0x5678", 30);
}

static void fill_older(struct profile *p)
{
	profile_add(p, &web, "main;serve;parse@21", 100);
	profile_add(p, &web, "main;serve;libc.so.6!read;k:sys_read", 500);
	profile_add(p, &web, "main;gone", 40);
	profile_add(p, &db, "main;fib;fib;fib", 150);
	profile_add(p, &db, "main;read", 110);
	profile_add(p, &db, "main", 100);
}

static void fill_hostile(struct profile *p)
{
	struct profile_task task = {
		.tid = 1, .tgid = 1, .comm = HOSTILE, .process = HOSTILE, .layer = PROFILE_NO_LAYER
	};
	struct profile_frame frame = {
		.symbol = HOSTILE, .module = HOSTILE, .file = HOSTILE, .line = 1
	};
	struct profile_stack row = { .count = 7, .value = 7, .nr = 1 };
	uint32_t number = 0;
	int err = profile_add_frame(p, &frame, &number);

	row.frames = &number;
	if (!err)
		err = profile_add_task(p, &task, &row.task);
	if (!err)
		err = profile_add_stack(p, &row);
	assert(err == 0);
	(void)err;
}

bool profile_story(const char *name, struct profile **out)
{
	static const struct {
		const char *name;
		void (*fill)(struct profile *p);
	} stories[] = { { "story", fill_story },
		        { "older", fill_older },
		        { "hostile", fill_hostile },
		        { "empty", NULL } };
	struct profile_facts facts = { .event = "cpu-clock",
		                       .unit = "samples",
		                       .frequency = 99,
		                       .duration_ns = 5000000000,
		                       .start_real_ns = 1700000000000000000,
		                       .lost = 3 };

	for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
		int err;

		if (strcmp(stories[i].name, name) != 0)
			continue;
		err = profile_new(&facts, out);
		assert(err == 0);
		(void)err;
		if (stories[i].fill)
			stories[i].fill(*out);
		return true;
	}
	return false;
}
