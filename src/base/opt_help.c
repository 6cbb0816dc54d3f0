#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/opt.h"
#include "base/opt_table.h"

#define COLUMNS_DEFAULT 80
#define COLUMNS_MIN     40  /* narrower terminals wrap by themselves */
#define COLUMNS_MAX     120 /* longer lines are hard to read */
#define LABEL_MAX       26  /* a longer label has its text on the next line */
#define TEXT_MAX        1024

struct help_page {
	FILE *out;
	unsigned int columns;
	unsigned int at; /* column that the next byte goes to */
};

unsigned int opt_columns(FILE *out)
{
	struct winsize size;
	int fd = fileno(out);

	if (fd < 0 || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return COLUMNS_DEFAULT;
	return size.ws_col;
}

static unsigned int width(const char *s, size_t len)
{
	unsigned int nr = 0;
	size_t i;

	for (i = 0; i < len; i++)
		nr += (s[i] & 0xc0) !=
		      0x80; /* bytes that continue a UTF-8 character take no room */
	return nr;
}

static void put(struct help_page *p, const char *s, size_t len)
{
	fwrite(s, 1, len, p->out);
	p->at += width(s, len);
}

static void new_line(struct help_page *p)
{
	fputc('\n', p->out);
	p->at = 0;
}

static void go_to(struct help_page *p, unsigned int column)
{
	if (p->at > column)
		new_line(p);
	fprintf(p->out, "%*s", (int)(column - p->at), "");
	p->at = column;
}

/* Fills lines with the words of text, each line from column indent on. */
static void put_wrapped(struct help_page *p, unsigned int indent, const char *text)
{
	go_to(p, indent);
	while (*text) {
		size_t len = strcspn(text, " \n");
		unsigned int gap = p->at > indent;

		if (gap && p->at + gap + width(text, len) > p->columns) {
			new_line(p);
			go_to(p, indent);
			gap = 0;
		}
		put(p, " ", gap);
		put(p, text, len);
		text += len;
		text += strspn(text, " \n");
	}
	new_line(p);
}

static void put_heading(struct help_page *p, const char *heading)
{
	fprintf(p->out, "\n%s:\n", heading);
}

static void option_label(const struct opt *o, char *buf, size_t size)
{
	char short_name[] = "-x, ";

	short_name[1] = o->short_name;
	snprintf(buf, size, o->bare ? "%s--%s[=%s%s]" : "%s--%s%s%s",
	         o->short_name ? short_name : "    ", o->long_name, o->arg && !o->bare ? " " : "",
	         o->arg ? o->arg : "");
}

/* The help text with what the table knows besides: choices, repetition, default. */
static void option_text(const struct opt *o, const void *defaults, char *buf, size_t size)
{
	const char *const *choice = o->type == OPT_TYPE_CHOICE ? o->choices : NULL;
	FILE *text = fmemopen(buf, size, "w");
	char value[128];

	buf[0] = '\0';
	if (!text)
		return;
	fputs(o->help, text);
	for (; choice && *choice; choice++)
		fprintf(text, "%s%s", choice == o->choices ? ": " : ", ", *choice);
	if (o->type == OPT_TYPE_LIST)
		fputs("; may be repeated", text);
	opt_default_text(o, defaults, value, sizeof(value));
	if (value[0])
		fprintf(text, " [default: %s]", value);
	fclose(text);
	buf[size - 1] = '\0';
}

static unsigned int label_width(unsigned int widest, const char *label)
{
	unsigned int w = width(label, strlen(label));

	return w <= LABEL_MAX && w > widest ? w : widest;
}

static void put_entry(struct help_page *p, const char *label, unsigned int labels, const char *text)
{
	go_to(p, 2);
	put(p, label, strlen(label));
	/* Two spaces at least set the text apart. */
	if (p->at > labels + 2)
		new_line(p);
	put_wrapped(p, labels + 4, text);
}

static void put_options(struct help_page *p, const struct opt *table, const void *defaults)
{
	const char *heading = "Options";
	char label[128], text[TEXT_MAX];
	bool has_headings = false;
	unsigned int widest = 0;
	const struct opt *o;

	for (o = opt_first(table); o; o = opt_next(o)) {
		option_label(o, label, sizeof(label));
		widest = label_width(widest, label);
	}
	for (o = opt_first(table); o; o = opt_next(o)) {
		if (o->heading && (o != &opt_help_option || has_headings)) {
			heading = o->heading;
			has_headings = true;
		}
		if (heading)
			put_heading(p, heading);
		heading = NULL;
		option_label(o, label, sizeof(label));
		option_text(o, defaults, text, sizeof(text));
		put_entry(p, label, widest, text);
	}
}

static void put_examples(struct help_page *p, const struct opt_example *examples)
{
	const struct opt_example *e;

	if (!examples)
		return;
	put_heading(p, "Examples");
	for (e = examples; e->command; e++) {
		put_wrapped(p, 2, e->what);
		fprintf(p->out, "      %s\n", e->command);
	}
}

/* The tables begin sentences in lower case; alone on a line they read better as a sentence. */
static void put_sentence(struct help_page *p, const char *s)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "%s.", s);
	if (text[0] >= 'a' && text[0] <= 'z')
		text[0] = (char)(text[0] - 'a' + 'A');
	put_wrapped(p, 0, text);
}

static struct help_page page_on(FILE *out, unsigned int columns)
{
	if (columns < COLUMNS_MIN)
		columns = COLUMNS_MIN;
	if (columns > COLUMNS_MAX)
		columns = COLUMNS_MAX;
	return (struct help_page){ .out = out, .columns = columns };
}

void opt_print_help(const struct opt_program *prog, const struct opt_command *cmd,
                    unsigned int columns, FILE *out)
{
	struct help_page p = page_on(out, columns);
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "Usage: %s %s [OPTION...]%s%s", prog->name, cmd->name,
	         cmd->operands ? " " : "", cmd->operands ? cmd->operands : "");
	put_wrapped(&p, 0, text);
	new_line(&p);
	put_sentence(&p, cmd->summary);
	put_options(&p, cmd->options, cmd->defaults);
	put_examples(&p, cmd->examples);
	if (cmd->is_hidden)
		return;
	new_line(&p);
	snprintf(text, sizeof(text), "The manual has more: man %s-%s", prog->name, cmd->name);
	put_wrapped(&p, 0, text);
}

static void put_commands(struct help_page *p, const struct opt_program *prog)
{
	const struct opt_command *const *cmd;
	unsigned int widest = 0;

	put_heading(p, "Commands");
	for (cmd = opt_first_command(prog); *cmd; cmd = opt_next_command(cmd))
		widest = label_width(widest, (*cmd)->name);
	for (cmd = opt_first_command(prog); *cmd; cmd = opt_next_command(cmd))
		put_entry(p, (*cmd)->name, widest, (*cmd)->summary);
}

void opt_print_overview(const struct opt_program *prog, unsigned int columns, FILE *out)
{
	struct help_page p = page_on(out, columns);
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "Usage: %s COMMAND [OPTION...]", prog->name);
	put_wrapped(&p, 0, text);
	new_line(&p);
	put_sentence(&p, prog->summary);
	put_commands(&p, prog);
	put_options(&p, prog->options, NULL);
	put_examples(&p, prog->examples);
	new_line(&p);
	snprintf(text, sizeof(text), "'%s help COMMAND' explains one command.", prog->name);
	put_wrapped(&p, 0, text);
}
