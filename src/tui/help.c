#include "tui/help.h"

#include <stdbool.h>
#include <string.h>

#define KEYS_WIDTH 22

static void draw_action(const struct action_entry *e, const char *keys, int y, struct grid *g,
                        struct area a)
{
	int keys_width = a.width >= 3 * KEYS_WIDTH ? KEYS_WIDTH : a.width / 3;

	grid_text(g, a.x + 1, y, keys_width - 1, STYLE_KEY, keys);
	grid_text(g, a.x + keys_width + 1, y, a.width - keys_width - 1, STYLE_TEXT, e->what);
	if (a.width >= 100)
		grid_right(g, a.x + a.width - 24, y, 24, STYLE_DIM, e->name);
}

/* Without a grid the lines are only counted. */
static int walk(const struct keymap *map, int first, struct grid *g, struct area a)
{
	const char *group = "";
	int line = 0;

	for (size_t i = 0; i < nr_actions; i++) {
		char keys[64];

		if (!*keymap_keys_of(map, &actions[i], keys, sizeof(keys)))
			continue;
		if (strcmp(actions[i].group, group) != 0) {
			line += line > 0;
			group = actions[i].group;
			if (g && line >= first && line - first < a.height)
				grid_text(g, a.x, a.y + line - first, a.width, STYLE_TITLE, group);
			line++;
		}
		if (g && line >= first && line - first < a.height)
			draw_action(&actions[i], keys, a.y + line - first, g, a);
		line++;
	}
	return line;
}

int help_lines(const struct keymap *map)
{
	return walk(map, 0, NULL, (struct area){ 0 });
}

void help_draw(const struct keymap *map, int first, struct grid *g, struct area a)
{
	walk(map, first, g, a);
}
