#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/profile_list.h"
#include "render/flame_assets.h"
#include "render/flame_priv.h"
#include "render/profile_words.h"

#define GLYPH     7.23 /* width of a letter of 12 px, of all common monospaced fonts */
#define MIN_GLYPH 3    /* letters that a label needs */
#define SHADES    5U
#define DRAWN     (FLAME_WIDTH - 2 * FLAME_MARGIN)
#define TENTHS    10

/* One letter each, for classes of the style: those of code, then processes and threads. */
static const char letters[PROFILE_CODES + 1] = {
	[PROFILE_USER] = 'u',  [PROFILE_KERNEL] = 'k',  [PROFILE_BPF] = 'e',
	[PROFILE_JIT] = 'j',   [PROFILE_INLINED] = 'i', [PROFILE_NAMELESS] = 'n',
	[PROFILE_CODES] = 'p',
};

const char *const flame_kind_names[] = {
	[PROFILE_USER] = "user",     [PROFILE_KERNEL] = "kernel",   [PROFILE_BPF] = "BPF",
	[PROFILE_JIT] = "JIT",       [PROFILE_INLINED] = "inlined", [PROFILE_NAMELESS] = "no name",
	[PROFILE_CODES] = "process",
};

static unsigned int kind_of(const struct profile_node *n)
{
	struct profile_frame frame;

	if (!n->frame)
		return PROFILE_CODES;
	frame = *n->frame;
	frame.is_inlined = n->is_inlined;
	return profile_code_of(&frame);
}

/* Neighbours differ a little, and a function has the same colour in every picture. */
static unsigned int shade_of(const char *name)
{
	uint32_t hash = 2166136261U;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619U;
	return (hash ^ hash >> 15) % SHADES;
}

/* Tenths of a pixel, the same in every locale. */
static void put_tenths(double pixels, FILE *out)
{
	long tenths = lround(pixels * TENTHS);

	fprintf(out, "%ld.%ld", tenths / TENTHS, tenths % TENTHS);
}

static void put_class(const struct flame *f, const struct profile_node *n, FILE *out)
{
	int step;

	if (!f->cfg->before) {
		fprintf(out, "f %c%u", letters[kind_of(n)], shade_of(n->name));
		return;
	}
	step = flame_step(f, flame_change(f, n->w, false));
	fprintf(out, "f %s%d", step < 0 ? "b" : "r", step < 0 ? -step : step);
}

static void put_label(const char *label, double width, FILE *out)
{
	char clean[FLAME_LABEL_BYTES];
	size_t room = width > 6 ? (size_t)((width - 6) / GLYPH) : 0;

	if (room < MIN_GLYPH)
		return;
	text_printable(clean, sizeof(clean), label, strlen(label));
	fputs("<text x=\"4\" y=\"13\">", out);
	if (text_width(clean) > room) {
		flame_put_text(text_cut(clean, room - 1), out);
		fputs("\xe2\x80\xa6", out); /* an ellipsis */
	} else {
		flame_put_text(clean, out);
	}
	fputs("</text>", out);
}

/* Numbers that the script needs: place, width, depth, own value, samples; and both values before. */
static void put_numbers(const struct flame *f, const struct flame_box *box,
                        const struct profile_node *n, FILE *out)
{
	const struct profile_weight *now = &n->w[PROFILE_NOW], *old = &n->w[PROFILE_BEFORE];

	fprintf(out, " data-f=\"%" PRIu64 ",%" PRIu64 ",%u,%" PRIu64 ",%" PRIu64, box->x,
	        now->total_value, n->depth, now->self_value, now->total_count);
	if (f->cfg->before)
		fprintf(out, ",%" PRIu64 ",%" PRIu64, old->total_value, old->self_value);
	fputs("\"", out);
}

/* What the script shows of a frame. */
static void put_data(const struct flame *f, const struct flame_box *box,
                     const struct profile_node *n, FILE *out)
{
	char text[FLAME_LABEL_BYTES];

	put_numbers(f, box, n, out);
	fputs(" data-n=\"", out);
	flame_put_text(flame_label(n, text), out);
	if (n->frame) {
		fputs("\" data-m=\"", out);
		flame_put_text(n->frame->module, out);
	}
	if (*flame_place(n->frame, text)) {
		fputs("\" data-l=\"", out);
		flame_put_text(text, out);
	}
	fputs("\"", out);
}

/* The same where there is none. */
static void put_title(const struct flame *f, const struct profile_node *n, FILE *out)
{
	char text[FLAME_LABEL_BYTES];

	fputs("<title>", out);
	flame_put_text(flame_label(n, text), out);
	fprintf(out, ": %.1f %%</title>",
	        100 * profile_share(n->w[PROFILE_NOW].total_value, profile_value(f->p)));
}

static void put_box(const struct flame *f, const struct flame_box *box, FILE *out)
{
	const struct profile_node *n = profile_tree_at(f->tree, box->node);
	uint32_t row = f->cfg->is_icicle ? n->depth : f->depth - n->depth;
	double scale = DRAWN / (double)profile_value(f->p);
	double width = (double)n->w[PROFILE_NOW].total_value * scale;
	char text[FLAME_LABEL_BYTES];

	fputs("<g class=\"", out);
	put_class(f, n, out);
	fputs("\"", out);
	if (!f->cfg->is_figure)
		put_data(f, box, n, out);
	fputs(" transform=\"translate(", out);
	put_tenths(FLAME_MARGIN + (double)box->x * scale, out);
	fprintf(out, " %u)\">", FLAME_TOP + row * FLAME_ROW);
	if (f->cfg->is_figure)
		put_title(f, n, out);
	fputs("<rect width=\"", out);
	put_tenths(fmax(width - (width > 2 ? 0.5 : 0), 0.1), out);
	fprintf(out, "\" height=\"%u\"/>", FLAME_ROW - 1);
	put_label(flame_label(n, text), width, out);
	fputs("</g>\n", out);
}

static void put_swatch(FILE *out, double *x, const char *class_name, const char *text)
{
	fputs("<rect class=\"w ", out);
	fprintf(out, "%s\" x=\"", class_name);
	put_tenths(*x, out);
	fputs("\" y=\"73\" width=\"11\" height=\"11\" rx=\"2\"/><text class=\"s\" x=\"", out);
	put_tenths(*x + 16, out);
	fprintf(out, "\" y=\"83\">%s</text>\n", text);
	*x += 16 + GLYPH * (double)strlen(text) + 14;
}

static void put_kinds(const struct flame *f, FILE *out)
{
	bool has[PROFILE_CODES + 1] = { false };
	double x = FLAME_MARGIN;

	for (uint32_t i = 0; i < f->nr; i++)
		has[kind_of(profile_tree_at(f->tree, f->boxes[i].node))] = true;
	for (unsigned int i = 0; i < PROFILE_CODES; i++) {
		char class_name[] = { letters[i], '2', '\0' };

		if (has[i])
			put_swatch(out, &x, class_name, flame_kind_names[i]);
	}
}

static void put_scale(const struct flame *f, FILE *out)
{
	double x = FLAME_MARGIN;

	fprintf(out, "<text class=\"s\" x=\"%u\" y=\"83\">shrank %.2f points</text>\n",
	        FLAME_MARGIN, -100 * f->most);
	x += GLYPH * 21;
	for (int step = -FLAME_STEPS; step <= FLAME_STEPS; step++, x += 14) {
		fprintf(out, "<rect class=\"w %s%d\" x=\"", step < 0 ? "b" : "r", abs(step));
		put_tenths(x, out);
		fputs("\" y=\"73\" width=\"14\" height=\"11\"/>", out);
	}
	fputs("<text class=\"s\" x=\"", out);
	put_tenths(x + 8, out);
	fprintf(out, "\" y=\"83\">grew %+.2f points, of each whole</text>\n", 100 * f->most);
}

static void put_head(const struct flame *f, FILE *out)
{
	char words[PROFILE_WORDS_BYTES], title[PROFILE_WORDS_BYTES];

	snprintf(title, sizeof(title), "%s of %.64s", f->cfg->before ? "Change" : "Flame graph",
	         profile_facts(f->p)->event);
	fprintf(out, "<text class=\"t\" x=\"%u\" y=\"27\">", FLAME_MARGIN);
	flame_put_text(f->cfg->title ? f->cfg->title : title, out);
	fprintf(out, "</text>\n<text class=\"s\" x=\"%u\" y=\"47\">", FLAME_MARGIN);
	flame_put_text(profile_words(f->p, words), out);
	if (f->cfg->before) {
		fputs(" \xe2\x80\x94 before: ", out);
		flame_put_text(profile_words(f->cfg->before, words), out);
	}
	fputs("</text>\n", out);
}

static void put_notes(const struct flame *f, uint32_t y, FILE *out)
{
	char digits[PROFILE_AMOUNT_BYTES];

	fprintf(out, "<g class=\"notes\" transform=\"translate(%u %u)\"><text class=\"s\">",
	        FLAME_MARGIN, y);
	if (f->nr_thin)
		fprintf(out, "%s frame%s narrower than %s left out. ",
		        profile_digits(f->nr_thin, digits), f->nr_thin == 1 ? "" : "s",
		        f->cfg->is_figure ? "4 px" : "0.1 px");
	if (f->nr_gone)
		fprintf(out, "%s call%s of the older profile gone, %.1f %% of it. ",
		        profile_digits(f->nr_gone, digits), f->nr_gone == 1 ? "" : "s",
		        100 * f->gone_share);
	if (profile_facts(f->p)->broken)
		fprintf(out,
		        profile_facts(f->p)->ends[PROF_END_WHOLE]
		                ? "%s samples have stacks that are not whole."
		                : "%s samples have no callers: code without frame pointers.",
		        profile_digits(profile_facts(f->p)->broken, digits));
	fputs("</text></g>\n", out);
}

static void put_open(const struct flame *f, bool is_alone, uint32_t height, FILE *out)
{
	fprintf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"schedscope-flame%s\" width=\"%u\" height=\"%u\" "
	        "viewBox=\"0 0 %u %u\"%s role=\"img\" aria-label=\"flame graph\" "
	        "data-total=\"%" PRIu64 "\" data-depth=\"%u\" data-unit=\"",
	        is_alone ? " alone" : "", FLAME_WIDTH, height, FLAME_WIDTH, height,
	        f->cfg->is_figure ? "" : " tabindex=\"0\"", profile_value(f->p), f->depth);
	flame_put_text(profile_facts(f->p)->unit, out);
	fprintf(out, "\" data-icicle=\"%d\"", f->cfg->is_icicle);
	if (f->cfg->before)
		fprintf(out, " data-before=\"%" PRIu64 "\"", profile_value(f->cfg->before));
	fputs(">\n", out);
}

void flame_put_svg(const struct flame *f, bool is_alone, FILE *out)
{
	uint32_t rows = f->nr ? f->depth + 1 : 2, end = FLAME_TOP + rows * FLAME_ROW;

	put_open(f, is_alone, end + FLAME_BOTTOM, out);
	if (!f->cfg->is_figure)
		fprintf(out, "<style><![CDATA[\n%s]]></style>\n", flame_css);
	fputs("<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n", out);
	put_head(f, out);
	if (f->nr == 0)
		fprintf(out,
		        "<text class=\"none\" x=\"%u\" y=\"%u\">No samples were taken.</text>\n",
		        FLAME_MARGIN, FLAME_TOP + FLAME_ROW);
	else if (f->cfg->before)
		put_scale(f, out);
	else
		put_kinds(f, out);
	fputs("<g class=\"frames\">\n", out);
	for (uint32_t i = 0; i < f->nr; i++)
		put_box(f, &f->boxes[i], out);
	fputs("</g>\n", out);
	put_notes(f, end + FLAME_ROW, out);
	if (!f->cfg->is_figure)
		fprintf(out, "<script><![CDATA[\n%s]]></script>\n", flame_js);
	fputs("</svg>\n", out);
}

const char *flame_style(void)
{
	return flame_css;
}
