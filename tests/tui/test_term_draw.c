#include "../unit.h"

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tui/term_priv.h"
#include "tui/theme.h"

/* Last: it defines words such as "columns". */
#include <term.h>

struct fixture {
	int saved_fd, pipe[2];
	struct terminal t;
	struct grid g;
};

static void begin(struct fixture *f)
{
	int why;

	memset(f, 0, sizeof(*f));
	expect_eq(setupterm("vt100", STDOUT_FILENO, &why), OK);
	expect_eq(pipe(f->pipe), 0);
	expect_eq(grid_init(&f->g, 6, 2), 0);
	expect_eq(grid_init(&f->t.shown, 6, 2), 0);
	f->t.is_blank = true;
	for (int i = 0; i < 12; i++)
		f->g.cells[i].code = 'a' + (uint32_t)i;
}

static void end(struct fixture *f)
{
	grid_done(&f->g);
	grid_done(&f->t.shown);
	free(f->t.bytes);
	close(f->pipe[0]);
	close(f->pipe[1]);
	del_curterm(cur_term);
}

/* What a frame writes. */
static void draw(struct fixture *f, char *text, size_t size)
{
	int saved_fd;
	ssize_t n;

	fflush(stdout);
	saved_fd = dup(STDOUT_FILENO);
	dup2(f->pipe[1], STDOUT_FILENO);
	expect_eq(term_draw(&f->t, &f->g, &themes[0]), 0);
	(void)!write(f->pipe[1], ".", 1); /* so that there is something to read */
	dup2(saved_fd, STDOUT_FILENO);
	close(saved_fd);
	n = read(f->pipe[0], text, size - 1);
	text[n > 0 ? n : 0] = '\0';
}

static void only_what_has_changed_is_written(void **state)
{
	char text[512];
	struct fixture f;

	(void)state;
	begin(&f);
	draw(&f, text, sizeof(text));
	assert_non_null(strstr(text, "abcdef"));
	assert_non_null(strstr(text, "ghijk")); /* all but the last cell of the screen */
	draw(&f, text, sizeof(text));
	assert_string_equal(text, ".");
	f.g.cells[2].code = 'X';
	draw(&f, text, sizeof(text));
	assert_non_null(strchr(text, 'X'));
	assert_null(strchr(text, 'a'));
	end(&f);
}

/* A bar, a line, both arrows, and a letter that ASCII lacks. */
static void a_locale_without_such_letters_has_others(void **state)
{
	static const uint32_t codes[] = { 0x2588, 0x2502, 0x25b2, 0x25bc, 0xe9 };
	char text[512], *before = strdup(setlocale(LC_CTYPE, NULL));
	struct fixture f;

	(void)state;
	assert_non_null(before);
	assert_non_null(setlocale(LC_CTYPE, "C"));
	begin(&f);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		f.g.cells[i].code = codes[i];
	draw(&f, text, sizeof(text));
	setlocale(LC_CTYPE, before);
	free(before);
	assert_non_null(strstr(text, "#|^v?f"));
	end(&f);
}

/* No machine has as much memory as this frame asks for. */
static void after_a_frame_without_memory_the_next_one_is_whole(void **state)
{
	char text[512];
	struct fixture f;

	(void)state;
	begin(&f);
	draw(&f, text, sizeof(text));
	f.g.cells[2].code = 'X';
	free(f.t.bytes);
	f.t.bytes = NULL;
	f.t.nr_bytes = f.t.room = (size_t)PTRDIFF_MAX / 2 + 1;
	draw(&f, text, sizeof(text));
	assert_string_equal(text, ".");
	f.t.room = 0; /* there is memory again */
	draw(&f, text, sizeof(text));
	assert_non_null(strstr(text, clear_screen));
	assert_non_null(strstr(text, "abXdef"));
	assert_non_null(strstr(text, "ghijk"));
	end(&f);
}

/* A selected row is reversed, and a band in it keeps its colour. */
static void a_selected_row_keeps_its_bands(void **state)
{
	char text[512];
	struct fixture f;

	(void)state;
	begin(&f);
	f.t.depth = DEPTH_TRUE;
	f.t.background = BACKGROUND_DARK;
	draw(&f, text, sizeof(text));
	f.g.cells[1].style = STYLE_BAD;
	grid_select(&f.g, (struct area){ 0, 0, 2, 1 });
	assert_true(f.g.cells[0].is_selected && f.g.cells[1].is_selected);
	expect_eq(f.g.cells[0].style, STYLE_SELECTED);
	expect_eq(f.g.cells[1].style, STYLE_BAD);
	draw(&f, text, sizeof(text));
	assert_non_null(strstr(text, "\033[38;2;255;48;48mb"));
	assert_non_null(strstr(text, enter_reverse_mode));
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_has_changed_is_written),
		cmocka_unit_test(a_locale_without_such_letters_has_others),
		cmocka_unit_test(a_selected_row_keeps_its_bands),
		unit_test_if(!IS_SANITIZED, after_a_frame_without_memory_the_next_one_is_whole,
		             "AddressSanitizer ends a program that asks for too much"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
