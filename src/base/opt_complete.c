#include "base/opt_complete.h"

#include <errno.h>
#include <string.h>

const char *const opt_shells[] = { "bash", "elvish", "fish", "powershell", "zsh", NULL };

static struct opt_command top_command(const struct opt_program *prog)
{
	return (struct opt_command){
		.name = "",
		.summary = prog->summary,
		.operands = "COMMAND",
		.options = prog->options,
		.operand = OPT_OPERAND_COMMAND,
	};
}

void opt_put_quoted(FILE *out, enum opt_quoting quoting, const char *s)
{
	fputc('\'', out);
	for (; *s; s++) {
		if (*s == '\'' && quoting == OPT_QUOTE_POSIX)
			fputs("'\\'", out);
		else if ((*s == '\'' || *s == '\\') && quoting == OPT_QUOTE_ESCAPED)
			fputc('\\', out);
		else if (*s == '\'' && quoting == OPT_QUOTE_DOUBLED)
			fputc('\'', out);
		fputc(*s, out);
	}
	fputc('\'', out);
}

void opt_put_template(FILE *out, const char *template, const struct opt_program *prog)
{
	const char *p;

	for (p = template; *p; p++) {
		if (*p == '~')
			fputs(prog->name, out);
		else
			fputc(*p, out);
	}
}

void opt_each_shown_name(const struct opt *o, opt_name_fn *fn, void *ctx)
{
	char name[OPT_SHOWN];

	if (o->short_name) {
		snprintf(name, sizeof(name), "-%c", o->short_name);
		fn(ctx, name);
	}
	snprintf(name, sizeof(name), "--%s", o->long_name);
	fn(ctx, name);
}

void opt_each_name(const struct opt *o, opt_name_fn *fn, void *ctx)
{
	char name[OPT_SHOWN];

	opt_each_shown_name(o, fn, ctx);
	if (o->alias) {
		snprintf(name, sizeof(name), "--%s", o->alias);
		fn(ctx, name);
	}
}

bool opt_takes_value(const struct opt *o)
{
	return o->type != OPT_TYPE_FLAG && !o->bare; /* as a word of its own */
}

void opt_each_command(const struct opt_program *prog, opt_command_fn *fn, FILE *out)
{
	const struct opt_command top = top_command(prog);

	fn(out, prog, &top);
	for (const struct opt_command *const *c = opt_first_command(prog); *c;
	     c = opt_next_command(c))
		fn(out, prog, *c);
}

void opt_each_command_name(const struct opt_program *prog, opt_command_fn *fn, FILE *out)
{
	const struct opt_command top = top_command(prog);

	fn(out, prog, &top);
	for (const struct opt_command *const *c = opt_first_command(prog); *c;
	     c = opt_next_command(c)) {
		struct opt_command alias = **c;

		fn(out, prog, *c);
		alias.name = alias.alias;
		if (alias.name)
			fn(out, prog, &alias);
	}
}

void opt_put_candidate(FILE *out, const char *word, const char *text, const char *help)
{
	fprintf(out, "            %s ", word);
	opt_put_quoted(out, OPT_QUOTE_DOUBLED, text);
	fputc(' ', out);
	opt_put_quoted(out, OPT_QUOTE_DOUBLED, help);
	fputc('\n', out);
}

void opt_put_commands(FILE *out, const char *word, const struct opt_program *prog,
                      const struct opt_command *cmd)
{
	const struct opt_command *const *c = opt_first_command(prog);

	for (; cmd->operand == OPT_OPERAND_COMMAND && *c; c = opt_next_command(c))
		opt_put_candidate(out, word, (*c)->name, (*c)->summary);
}

/* What is written of an option under each of its names. */
struct option_entry {
	FILE *out;
	const char *word; /* or the command */
	const struct opt *o;
	opt_value_fn *fn;
};

static void put_option_name(void *ctx, const char *name)
{
	const struct option_entry *e = ctx;

	opt_put_candidate(e->out, e->word, name, e->o->help);
}

void opt_put_options(FILE *out, const char *word, const struct opt_command *cmd)
{
	for (const struct opt *o = opt_first(cmd->options); o; o = opt_next(o)) {
		struct option_entry e = { out, word, o, NULL };

		opt_each_shown_name(o, put_option_name, &e);
	}
}

static void put_value(void *ctx, const char *name)
{
	const struct option_entry *e = ctx;

	e->fn(e->out, e->word, name, e->o);
}

void opt_each_value(FILE *out, const struct opt_command *cmd, opt_value_fn *fn)
{
	for (const struct opt *o = opt_first(cmd->options); o; o = opt_next(o)) {
		struct option_entry e = { out, cmd->name, o, fn };

		if (opt_takes_value(o))
			opt_each_name(o, put_value, &e);
	}
}

int opt_print_completion(const struct opt_program *prog, const char *shell, FILE *out)
{
	static const struct {
		const char *shell;
		void (*write)(const struct opt_program *prog, FILE *out);
	} writers[] = {
		{ "bash", opt_complete_bash }, { "elvish", opt_complete_elvish },
		{ "fish", opt_complete_fish }, { "powershell", opt_complete_powershell },
		{ "zsh", opt_complete_zsh },
	};
	size_t i;

	for (i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		if (strcmp(writers[i].shell, shell) == 0) {
			writers[i].write(prog, out);
			return 0;
		}
	}
	return -EINVAL;
}
