#include "../unit.h"

#include "screen.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "../render/golden.h"

static void check_cells(const struct grid *g)
{
	for (int y = 0; y < g->height; y++) {
		for (int x = 0; x < g->width; x++) {
			const struct cell *c = &g->cells[(size_t)y * g->width + (size_t)x];
			bool is_wide = c->code && wcwidth((wchar_t)c->code) == 2;

			assert_true(c->style < STYLES);
			assert_true(c->code == 0 || (c->code >= 0x20 && c->code < 0x7f) ||
			            c->code >= 0xa0);
			if (is_wide)
				assert_true(x + 1 < g->width && c[1].code == 0);
			if (c->code == 0)
				assert_true(x > 0 && wcwidth((wchar_t)c[-1].code) == 2);
		}
	}
}

char *screen_draw(const char *view, const struct machine *m, struct screen *s, uint16_t width,
                  uint16_t height)
{
	const struct view *v = view_find(view);
	char *text = NULL;
	size_t size = 0;
	struct grid g;
	FILE *out;

	assert_non_null(v);
	expect_eq(grid_init(&g, width, height), 0);
	v->draw(m, s, &g, (struct area){ 0, 0, width, height });
	check_cells(&g);
	out = open_memstream(&text, &size);
	assert_non_null(out);
	grid_print(&g, out);
	fclose(out);
	grid_done(&g);
	return text;
}

char *screen_line(const char *text, int n)
{
	for (; n > 0 && text; n--) {
		text = strchr(text, '\n');
		text += text != NULL;
	}
	return text ? strndup(text, strcspn(text, "\n")) : strdup("");
}

bool screen_has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

char *screen_find(const char *text, const char *part)
{
	const char *at = strstr(text, part), *start = at;

	if (!at) {
		print_message("# no '%s' in:\n%s", part, text);
		fail();
		return NULL;
	}
	while (start > text && start[-1] != '\n')
		start--;
	return strndup(start, strcspn(start, "\n"));
}

int screen_begin(struct fixture *f)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	fixture_init(f, &fixture_small);
	return 0;
}

int screen_end(struct fixture *f)
{
	fixture_done(f);
	return 0;
}

void screen_golden(const char *view, const struct machine *m, struct screen s, uint16_t width,
                   uint16_t height, const char *name)
{
	char *text = screen_draw(view, m, &s, width, height);

	golden_compare(name, text);
	free(text);
}
