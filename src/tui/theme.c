#include "tui/theme.h"

#include <strings.h>

/* What can be read on white: a contrast of 4.5, as a relative luminance of 1000, and as a grey. */
#define READABLE_LUMINANCE 180U
#define READABLE_GREY      0x76U

/* clang-format off */
const struct theme themes[] = {
	{ "Default", 0xe5e5e5, 0x00cd00, 0xe5e5e5, 0x00cd00, 0xcd0000, 0xff0000,
	  { 0x00cd00, 0x90ee90, 0xcdcd00, 0xffa500, 0xff3030 } },
	{ "MidnightGreen", 0x00cd00, 0xe5e5e5, 0x00cd00, 0x00cd00, 0x009a00, 0xff3030,
	  { 0x00cd00, 0x90ee90, 0xcdcd00, 0xff8c00, 0xff3030 } },
	{ "IAmBlue", 0x5c8dff, 0x5c8dff, 0x00cdcd, 0x5c8dff, 0xff3030, 0xe5e5e5,
	  { 0x5c8dff, 0x00cdcd, 0xcdcd00, 0xff8c00, 0xff3030 } },
	{ "SolarizedDark", 0x839496, 0x268bd2, 0x586e75, 0x2aa198, 0xdc322f, 0xb58900,
	  { 0x2aa198, 0x859900, 0xb58900, 0xcb4b16, 0xdc322f } },
	{ "Greyscale", 0xcccccc, 0xffffff, 0x969696, 0xe6e6e6, 0x646464, 0xffffff,
	  { 0xf0f0f0, 0xc8c8c8, 0xa0a0a0, 0x787878, 0x505050 } },
	{ "Nord", 0xd8dee9, 0x8fbcbb, 0x5e81ac, 0x88c0d0, 0xbf616a, 0xebcb8b,
	  { 0x88c0d0, 0xa3be8c, 0xebcb8b, 0xd08770, 0xbf616a } },
	{ "Dracula", 0xf8f8f2, 0xbd93f9, 0x6272a4, 0x50fa7b, 0xff5555, 0xf1fa8c,
	  { 0x50fa7b, 0x8be9fd, 0xf1fa8c, 0xffb86c, 0xff5555 } },
	{ "Monokai", 0xf8f8f2, 0xf92672, 0x75715e, 0xa6e22e, 0xf92672, 0xe6db74,
	  { 0xa6e22e, 0x66d9ef, 0xe6db74, 0xfd971f, 0xf92672 } },
	{ "Gruvbox", 0xebdbb2, 0xfabd2f, 0xa89984, 0xb8bb26, 0xfb4934, 0xfabd2f,
	  { 0x689d6a, 0xb8bb26, 0xfabd2f, 0xfe8019, 0xfb4934 } },
	{ "TokyoNight", 0xa9b1d6, 0xbb9af7, 0x565f89, 0x9ece6a, 0xf7768e, 0xe0af68,
	  { 0x9ece6a, 0x7dcfff, 0xe0af68, 0xff9e64, 0xf7768e } },
	{ "CatppuccinMocha", 0xcdd6f4, 0xcba6f7, 0x7f849c, 0xa6e3a1, 0xf38ba8, 0xf9e2af,
	  { 0xa6e3a1, 0x89dceb, 0xf9e2af, 0xfab387, 0xf38ba8 } },
	{ "OneDark", 0xabb2bf, 0x61afef, 0x5c6370, 0x98c379, 0xe06c75, 0xe5c07b,
	  { 0x98c379, 0x56b6c2, 0xe5c07b, 0xd19a66, 0xe06c75 } },
	{ "AyuDark", 0xe6e1cf, 0xffcc66, 0x575c5d, 0xc3e88d, 0xff3333, 0xffcc66,
	  { 0xc3e88d, 0x5fafef, 0xffcc66, 0xffa07a, 0xff3333 } },
	/* Its blue is lighter than the flag's, which cannot be read on black. */
	{ "USA", 0xe5e5e5, 0x6495ed, 0xbb133e, 0x6495ed, 0xbb133e, 0xffffff,
	  { 0x4169e1, 0x6495ed, 0xffffff, 0xff6464, 0xbb133e } },
	/* From the colours that Okabe and Ito chose to be distinguishable with any colour vision. */
	{ "ColorBlind", 0xe5e5e5, 0x56b4e9, 0x999999, 0x56b4e9, 0xd55e00, 0xf0e442,
	  { 0x0072b2, 0x56b4e9, 0xcfd8dc, 0xf0e442, 0xe69f00 } },
};
/* clang-format on */
const size_t nr_themes = sizeof(themes) / sizeof(themes[0]);

const struct theme *theme_find(const char *name)
{
	for (size_t i = 0; i < nr_themes; i++)
		if (strcasecmp(themes[i].name, name) == 0)
			return &themes[i];
	return NULL;
}

const struct theme *theme_next(const struct theme *t)
{
	size_t i = (size_t)(t - themes) + 1;

	return &themes[i < nr_themes ? i : 0];
}

static uint32_t mix(uint32_t a, uint32_t b, uint32_t part, uint32_t of)
{
	uint32_t out = 0;

	for (int shift = 0; shift < 24; shift += 8)
		out |= ((a >> shift & 0xff) * (of - part) + (b >> shift & 0xff) * part) / of
		       << shift;
	return out;
}

/* Nothing is nearly black; the rest goes through the bands, two levels to each step. */
static uint32_t heat(const struct theme *t, unsigned int level)
{
	if (level == 0)
		return mix(0, t->frame, 1, 4);
	level--;
	if (level >= 7)
		return t->bands[4];
	return level % 2 ? mix(t->bands[level / 2], t->bands[level / 2 + 1], 1, 2)
	                 : t->bands[level / 2];
}

static bool is_grey(uint32_t rgb)
{
	uint32_t r = rgb >> 16 & 0xff, g = rgb >> 8 & 0xff, b = rgb & 0xff;
	uint32_t most = r > g ? r : g, least = r < g ? r : g;

	most = b > most ? b : most;
	least = b < least ? b : least;
	return most - least < 32;
}

/* Tasks beside each other: apart from each other, the first six also where there are 8 colours. */
static uint32_t lane(const struct theme *t, unsigned int nr)
{
	static const uint32_t colours[LANE_COLOURS] = { 0x3cc8e0, 0xe6c020, 0x30c060, 0xd860d0,
		                                        0x6080ff, 0xf06050, 0xffa050, 0xc8c0b0 };

	return is_grey(t->bands[0]) && is_grey(t->bands[4]) ? (240 - 20 * nr) * 0x010101U
	                                                    : colours[nr];
}

/* On a dark background. */
static struct attrs dark_attrs(const struct theme *t, enum style style)
{
	if (style >= STYLE_HEAT && style <= STYLE_HEAT_LAST)
		return (struct attrs){ .colour = heat(t, (unsigned int)(style - STYLE_HEAT)) };
	if (style >= STYLE_LANE && style <= STYLE_LANE_LAST)
		return (struct attrs){ .colour = lane(t, (unsigned int)(style - STYLE_LANE)),
			               .is_reversed = true };
	if (style >= STYLE_GOOD && style <= STYLE_BAD)
		return (struct attrs){ .colour = t->bands[style - STYLE_GOOD] };
	switch (style) {
	case STYLE_DIM:
		return (struct attrs){ .colour = mix(0, t->text, 2, 3), .is_dim = true };
	case STYLE_TITLE:
		return (struct attrs){ .colour = t->title, .is_bold = true };
	case STYLE_FRAME:
		return (struct attrs){ .colour = t->frame };
	case STYLE_HEAD:
		return (struct attrs){ .colour = t->title };
	case STYLE_SORTED:
		return (struct attrs){ .colour = t->important, .is_bold = true };
	case STYLE_SELECTED:
		return (struct attrs){ .colour = t->enabled, .is_reversed = true };
	case STYLE_KEY:
		return (struct attrs){ .colour = t->enabled, .is_bold = true };
	case STYLE_KERNEL:
		return (struct attrs){ .colour = t->bands[3] };
	case STYLE_USER:
		return (struct attrs){ .colour = t->enabled };
	case STYLE_WARNING:
		return (struct attrs){ .colour = t->important, .is_bold = true };
	default:
		return (struct attrs){ .colour = t->text };
	}
}

/* Relative luminance of up to 1000, with a gamma of 2. */
static uint32_t luminance(uint32_t rgb)
{
	uint32_t r = rgb >> 16 & 0xff, g = rgb >> 8 & 0xff, b = rgb & 0xff;

	return (213 * r * r + 715 * g * g + 72 * b * b) / (255 * 255);
}

/* Greys turn around, so that they stay apart; colours get darker. */
static uint32_t on_white(uint32_t rgb)
{
	uint32_t part = 256;

	if (is_grey(rgb))
		return mix(0, 0xffffff - rgb, READABLE_GREY, 255);
	while (luminance(mix(0, rgb, part, 256)) > READABLE_LUMINANCE)
		part--;
	return mix(0, rgb, part, 256);
}

struct attrs theme_attrs(const struct theme *t, enum style style, enum background on)
{
	struct attrs a = dark_attrs(t, style);
	bool is_text = style == STYLE_TEXT || style == STYLE_DIM;
	bool is_heat = style >= STYLE_HEAT && style <= STYLE_HEAT_LAST;

	if (on == BACKGROUND_LIGHT) {
		a.is_own = style == STYLE_TEXT;
		/* Heat is in filled cells: nothing is nearly white. */
		a.colour = style == STYLE_HEAT  ? 0xd0d0d0
		           : style == STYLE_DIM ? 0x666666
		                                : on_white(a.colour);
		return a;
	}
	if (t != &themes[0])
		return a;
	a.is_own = style == STYLE_TEXT || (is_text && on == BACKGROUND_UNKNOWN);
	if (on == BACKGROUND_UNKNOWN && !is_heat) {
		a.is_own = a.is_own || style == STYLE_FRAME;
		a.is_named = true;
	}
	return a;
}

static uint32_t distance(uint32_t a, uint32_t b)
{
	uint32_t sum = 0;

	for (int shift = 0; shift < 24; shift += 8) {
		int diff = (int)(a >> shift & 0xff) - (int)(b >> shift & 0xff);

		sum += (uint32_t)(diff * diff);
	}
	return sum;
}

/* xterm's: a cube of 6x6x6, then 24 greys. */
static uint32_t colour_of_256(unsigned int i)
{
	static const uint8_t steps[] = { 0, 95, 135, 175, 215, 255 };

	if (i >= 232)
		return (8 + (i - 232) * 10) * 0x010101U;
	i -= 16;
	return (uint32_t)steps[i / 36] << 16 | (uint32_t)steps[i / 6 % 6] << 8 | steps[i % 6];
}

uint8_t theme_of_256(uint32_t rgb)
{
	unsigned int best = 16;

	for (unsigned int i = 17; i < 256; i++)
		if (distance(colour_of_256(i), rgb) < distance(colour_of_256(best), rgb))
			best = i;
	return (uint8_t)best;
}

uint8_t theme_of_8(uint32_t rgb)
{
	static const uint32_t colours[] = { 0x000000, 0xcd0000, 0x00cd00, 0xcdcd00,
		                            0x3050ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5 };
	uint8_t best = 7;

	for (uint8_t i = 1; i < 7; i++)
		if (distance(colours[i], rgb) < distance(colours[best], rgb))
			best = i;
	return best;
}

int theme_of_8_on_white(uint32_t rgb)
{
	uint32_t r = rgb >> 16 & 0xff, g = rgb >> 8 & 0xff, b = rgb & 0xff;

	if (is_grey(rgb))
		return -1;
	if (r < g || r < b)
		return b >= g && r > b / 2 ? 5 : 4;
	return g > r / 3 || b > r / 2 ? 5 : 1;
}
