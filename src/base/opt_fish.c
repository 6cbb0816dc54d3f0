#include "base/opt_complete.h"

static const char head[] =
	"# fish completion for ~, written by '~ generate-completions --shell fish'.\n"
	"\n"
	"# True if the line has one of these commands; without arguments, if it has none yet.\n"
	"function __~_in\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -e words[1]\n"
	"\tfor word in $words\n"
	"\t\tif not string match -q -- '-*' $word\n"
	"\t\t\tcontains -- $word $argv\n"
	"\t\t\treturn\n"
	"\t\tend\n"
	"\tend\n"
	"\ttest (count $argv) -eq 0\n"
	"end\n"
	"\n"
	"complete -c ~ -f\n";

static void put_quoted(FILE *out, const char *s)
{
	opt_put_quoted(out, OPT_QUOTE_ESCAPED, s);
}

/* The beginning of each line: where it applies. */
static void put_condition(FILE *out, const struct opt_program *prog, const struct opt_command *cmd)
{
	fprintf(out, "complete -c %s -n '__%s_in", prog->name, prog->name);
	if (cmd->name[0])
		fprintf(out, " %s", cmd->name);
	if (cmd->alias)
		fprintf(out, " %s", cmd->alias);
	fputc('\'', out);
}

static void put_option(FILE *out, const struct opt_program *prog, const struct opt *o)
{
	const char *const *choice;

	if (o->short_name)
		fprintf(out, " -s %c", o->short_name);
	fprintf(out, " -l %s", o->long_name);
	if (opt_takes_value(o))
		fputs(o->is_file ? " -r -F" : " -x", out);
	if (o->choices) {
		fputs(" -a '", out);
		for (choice = o->choices; *choice; choice++)
			fprintf(out, "%s%s", choice == o->choices ? "" : " ", *choice);
		fputc('\'', out);
	} else if (o->list) {
		fprintf(out, " -a '(%s complete %s 2>/dev/null)'", prog->name, o->list);
	}
	fputs(" -d ", out);
	put_quoted(out, o->help);
	fputc('\n', out);
}

static void put_operands(FILE *out, const struct opt_program *prog, const struct opt_command *cmd)
{
	const struct opt_command *const *c;

	if (cmd->stops_at_operand || cmd->operand == OPT_OPERAND_FILE) {
		put_condition(out, prog, cmd);
		fputs(" -F\n", out);
	}
	if (cmd->operand_list) {
		put_condition(out, prog, cmd);
		fprintf(out, " -a '(%s complete %s 2>/dev/null)'\n", prog->name, cmd->operand_list);
	}
	if (cmd->operand != OPT_OPERAND_COMMAND)
		return;
	for (c = opt_first_command(prog); *c; c = opt_next_command(c)) {
		put_condition(out, prog, cmd);
		fprintf(out, " -a %s -d ", (*c)->name);
		put_quoted(out, (*c)->summary);
		fputc('\n', out);
	}
}

static void put_command(FILE *out, const struct opt_program *prog, const struct opt_command *cmd)
{
	const struct opt *o;

	fputc('\n', out);
	put_operands(out, prog, cmd);
	for (o = opt_first(cmd->options); o; o = opt_next(o)) {
		put_condition(out, prog, cmd);
		put_option(out, prog, o);
	}
}

void opt_complete_fish(const struct opt_program *prog, FILE *out)
{
	opt_put_template(out, head, prog);
	opt_each_command(prog, put_command, out);
}
