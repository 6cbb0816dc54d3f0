#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/opt.h"
#include "base/opt_table.h"
#include "base/utf8.h"

/* What roff would take for its own, or typeset as another character, in words that people copy. */
static const char *escape_of(char c)
{
	switch (c) {
	case '\\':
		return "\\e";
	case '-':
		return "\\-";
	case '^':
		return "\\(ha";
	case '~':
		return "\\(ti";
	case '`':
		return "\\(ga";
	case '\'':
		return "\\(aq";
	case '"':
		return "\\(dq";
	default:
		return NULL;
	}
}

/* Text in the middle of a line. */
static void put_span(FILE *out, const char *s, size_t len)
{
	const char *end = s + len;

	while (s < end) {
		const char *escape = escape_of(*s);
		uint32_t code;
		size_t taken = utf8_next(s, (size_t)(end - s), &code);

		if (escape)
			fputs(escape, out);
		else if (code < 0x80)
			fputc(iscntrl((int)code) ? ' ' : (int)code, out);
		else
			fprintf(out, "\\[u%04" PRIX32 "]", code == UTF8_INVALID ? 0xfffd : code);
		s += taken;
	}
}

static void put_text(FILE *out, const char *s)
{
	put_span(out, s, strlen(s));
}

/* A line of its own; roff would take a dot at its beginning for a request. */
static void put_line(FILE *out, const char *s, size_t len)
{
	if (*s == '.')
		fputs("\\&", out);
	put_span(out, s, len);
	fputc('\n', out);
}

/* A phrase of the table as a sentence on a line of its own. */
static void put_sentence(FILE *out, const char *s)
{
	if (*s == '.')
		fputs("\\&", out);
	if (islower((unsigned char)*s))
		fputc(toupper((unsigned char)*s++), out);
	put_text(out, s);
	fputs(".\n", out);
}

static void put_font(FILE *out, char font, const char *s)
{
	fprintf(out, "\\f%c", font);
	put_text(out, s);
	fputs("\\fR", out);
}

static void put_paragraph(FILE *out, const char *s, size_t len)
{
	bool is_verbatim = *s == ' ';

	if (is_verbatim)
		fputs(".nf\n", out);
	while (len) {
		size_t nr = strcspn(s, "\n");

		if (nr > len)
			nr = len;
		put_line(out, s, nr);
		nr += nr < len;
		s += nr;
		len -= nr;
	}
	if (is_verbatim)
		fputs(".fi\n", out);
}

static void put_paragraphs(FILE *out, const char *text)
{
	bool is_first = true;

	while (text && *text) {
		const char *end = strstr(text, "\n\n");
		size_t len = end ? (size_t)(end - text) : strlen(text);

		if (!is_first)
			fputs(".PP\n", out);
		put_paragraph(out, text, len);
		is_first = false;
		text += len;
		text += strspn(text, "\n");
	}
}

static void put_range(FILE *out, const struct opt *o)
{
	char lo[32], hi[32];

	if (o->type == OPT_TYPE_DURATION) {
		opt_duration_text(lo, sizeof(lo), o->min);
		opt_duration_text(hi, sizeof(hi), o->max);
	} else {
		snprintf(lo, sizeof(lo), "%" PRIu64, o->min);
		snprintf(hi, sizeof(hi), "%" PRIu64, o->max);
	}
	if (o->max == UINT64_MAX && o->min)
		fprintf(out, "At least %s.\n", lo);
	else if (o->max != UINT64_MAX)
		fprintf(out, "From %s to %s.\n", lo, hi);
}

static void put_facts(FILE *out, const struct opt *o, const void *defaults)
{
	const char *const *choice = o->type == OPT_TYPE_CHOICE ? o->choices : NULL;
	char value[128];

	for (; choice && *choice; choice++) {
		fputs(choice == o->choices ? "One of " : ", ", out);
		put_font(out, 'B', *choice);
		fputs(choice[1] ? "" : ".\n", out);
	}
	if (o->type == OPT_TYPE_U64 || o->type == OPT_TYPE_DURATION)
		put_range(out, o);
	if (o->type == OPT_TYPE_LIST)
		fputs("May be given more than once.\n", out);
	opt_default_text(o, defaults, value, sizeof(value));
	if (!value[0])
		return;
	fputs("The default is ", out);
	put_font(out, 'B', value);
	fputs(".\n", out);
}

static void put_option(FILE *out, const struct opt *o, const void *defaults)
{
	char name[128];

	fputs(".TP\n", out);
	if (o->short_name) {
		snprintf(name, sizeof(name), "-%c", o->short_name);
		put_font(out, 'B', name);
		fputs(", ", out);
	}
	snprintf(name, sizeof(name), "--%s", o->long_name);
	put_font(out, 'B', name);
	if (o->arg) {
		fputs(o->bare ? "[=" : " ", out);
		put_font(out, 'I', o->arg);
		fputs(o->bare ? "]" : "", out);
	}
	fputc('\n', out);
	put_sentence(out, o->help);
	put_facts(out, o, defaults);
	if (o->details)
		put_paragraph(out, o->details, strlen(o->details));
	if (o->alias) {
		fputs("Also spelled ", out);
		snprintf(name, sizeof(name), "--%s", o->alias);
		put_font(out, 'B', name);
		fputs(".\n", out);
	}
}

static void put_options(FILE *out, const struct opt *table, const void *defaults)
{
	bool has_headings = false;
	const struct opt *o;

	fputs(".SH OPTIONS\n", out);
	for (o = opt_first(table); o; o = opt_next(o)) {
		if (o->heading && (o != &opt_help_option || has_headings)) {
			fputs(".SS ", out);
			put_text(out, o->heading);
			fputc('\n', out);
			has_headings = true;
		}
		put_option(out, o, defaults);
	}
}

static void put_examples(FILE *out, const struct opt_example *examples)
{
	const struct opt_example *e;

	if (!examples)
		return;
	fputs(".SH EXAMPLES\n", out);
	for (e = examples; e->command; e++) {
		fputs(".TP\n", out);
		put_font(out, 'B', e->command);
		fputc('\n', out);
		put_sentence(out, e->what);
	}
}

static void put_exit_status(FILE *out)
{
	fputs(".SH EXIT STATUS\n"
	      ".TP\n\\fB0\\fR\nSuccess.\n"
	      ".TP\n\\fB1\\fR\nFailure; one line on standard error says what failed and what to do.\n"
	      ".TP\n\\fB2\\fR\nThe command line was wrong; nothing was done.\n",
	      out);
}

static void put_title(FILE *out, const struct opt_program *prog, const char *name,
                      const char *summary)
{
	char upper[128];
	size_t i;

	for (i = 0; name[i] && i < sizeof(upper) - 1; i++)
		upper[i] = (char)toupper((unsigned char)name[i]);
	upper[i] = '\0';
	fputs(".TH ", out);
	put_text(out, upper);
	fprintf(out, " 1 %s \"%s %s\" \"User Commands\"\n", prog->date, prog->name, prog->version);
	fputs(".SH NAME\n", out);
	put_text(out, name);
	fputs(" \\- ", out);
	put_text(out, summary);
	fputc('\n', out);
}

static void put_command_page(const struct opt_program *prog, const struct opt_command *cmd,
                             FILE *out)
{
	char name[128];

	snprintf(name, sizeof(name), "%s-%s", prog->name, cmd->name);
	put_title(out, prog, name, cmd->summary);
	fputs(".SH SYNOPSIS\n", out);
	snprintf(name, sizeof(name), "%s %s", prog->name, cmd->name);
	put_font(out, 'B', name);
	fputs(" [\\fIOPTION\\fR...]", out);
	if (cmd->operands) {
		fputc(' ', out);
		put_font(out, 'I', cmd->operands);
	}
	fputs("\n.SH DESCRIPTION\n", out);
	if (cmd->description)
		put_paragraphs(out, cmd->description);
	else
		put_sentence(out, cmd->summary);
	if (cmd->alias) {
		fputs(".PP\nThe command is also called ", out);
		put_font(out, 'B', cmd->alias);
		fputs(".\n", out);
	}
	put_options(out, cmd->options, cmd->defaults);
	put_examples(out, cmd->examples);
	put_exit_status(out);
	fputs(".SH SEE ALSO\n", out);
	put_font(out, 'B', prog->name);
	fputs("(1)\n", out);
}

static void put_commands(FILE *out, const struct opt_program *prog)
{
	const struct opt_command *const *cmd;

	fputs(".SH COMMANDS\n", out);
	for (cmd = opt_first_command(prog); *cmd; cmd = opt_next_command(cmd)) {
		fputs(".TP\n", out);
		put_font(out, 'B', (*cmd)->name);
		fputc('\n', out);
		put_sentence(out, (*cmd)->summary);
		fputs("See \\fB", out);
		put_text(out, prog->name);
		fputs("\\-", out);
		put_text(out, (*cmd)->name);
		fputs("\\fR(1).\n", out);
	}
}

static void put_program_page(const struct opt_program *prog, FILE *out)
{
	put_title(out, prog, prog->name, prog->summary);
	fputs(".SH SYNOPSIS\n", out);
	put_font(out, 'B', prog->name);
	fputs(" \\fICOMMAND\\fR [\\fIOPTION\\fR...]\n.SH DESCRIPTION\n", out);
	if (prog->description)
		put_paragraphs(out, prog->description);
	else
		put_sentence(out, prog->summary);
	put_commands(out, prog);
	put_options(out, prog->options, NULL);
	put_examples(out, prog->examples);
	put_exit_status(out);
}

void opt_print_man(const struct opt_program *prog, const struct opt_command *cmd, FILE *out)
{
	if (cmd)
		put_command_page(prog, cmd, out);
	else
		put_program_page(prog, out);
}
