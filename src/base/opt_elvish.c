#include "base/opt_complete.h"

static const char head[] =
	"# elvish completion for ~, written by '~ generate-completions --shell elvish'.\n"
	"\n"
	"use str\n"
	"\n"
	"set edit:completion:arg-completer[~] = {|@words|\n"
	"    fn candidate {|text help|\n"
	"        edit:complex-candidate $text &display=$text' ('$help')'\n"
	"    }\n"
	"    var command = ''\n"
	"    for word $words[1..-1] {\n"
	"        if (and (eq $command '') (not (str:has-prefix $word '-'))) {\n"
	"            set command = $word\n"
	"        }\n"
	"    }\n";
static const char tail[] = "    ]\n"
			   "    var option = $command':'$words[-2]\n"
			   "    if (has-key $values $option) {\n"
			   "        $values[$option]\n"
			   "    } elif (has-key $commands $command) {\n"
			   "        $commands[$command]\n"
			   "    }\n"
			   "}\n";

static void put_quoted(FILE *out, const char *s)
{
	opt_put_quoted(out, OPT_QUOTE_DOUBLED, s);
}

static void put_candidate(FILE *out, const char *text, const char *help)
{
	fputs("            candidate ", out);
	put_quoted(out, text);
	fputc(' ', out);
	put_quoted(out, help);
	fputc('\n', out);
}

struct elvish_entry {
	FILE *out;
	const char *command;
	const struct opt *o;
};

/* &'COMMAND:OPTION'={ ... }, the candidates for its value. */
static void put_value(void *ctx, const char *name)
{
	const struct elvish_entry *e = ctx;
	const char *const *choice;

	fprintf(e->out, "        &'%s:%s'={ ", e->command, name);
	if (e->o->choices) {
		fputs("put", e->out);
		for (choice = e->o->choices; *choice; choice++) {
			fputc(' ', e->out);
			put_quoted(e->out, *choice);
		}
		fputc(' ', e->out);
	} else if (e->o->is_file) {
		fputs("edit:complete-filename $words[-1] ", e->out);
	}
	fputs("}\n", e->out);
}

static void put_values(FILE *out, const struct opt_command *cmd, const char *name)
{
	const struct opt *o;

	for (o = opt_first(cmd->options); o; o = opt_next(o)) {
		struct elvish_entry e = { .out = out, .command = name, .o = o };

		if (opt_takes_value(o))
			opt_each_name(o, put_value, &e);
	}
}

static void put_option_name(void *ctx, const char *name)
{
	const struct elvish_entry *e = ctx;

	put_candidate(e->out, name, e->o->help);
}

static void put_command(FILE *out, const struct opt_program *prog, const struct opt_command *cmd,
                        const char *name)
{
	const struct opt_command *const *c;
	const struct opt *o;

	fprintf(out, "        &'%s'={\n", name);
	for (c = opt_first_command(prog); cmd->operand == OPT_OPERAND_COMMAND && *c;
	     c = opt_next_command(c))
		put_candidate(out, (*c)->name, (*c)->summary);
	for (o = opt_first(cmd->options); o; o = opt_next(o)) {
		struct elvish_entry e = { .out = out, .o = o };

		opt_each_shown_name(o, put_option_name, &e);
	}
	if (cmd->stops_at_operand || cmd->operand == OPT_OPERAND_FILE)
		fputs("            edit:complete-filename $words[-1]\n", out);
	fputs("        }\n", out);
}

void opt_complete_elvish(const struct opt_program *prog, FILE *out)
{
	const struct opt_command top = opt_top_command(prog);
	const struct opt_command *const *cmd;

	opt_put_template(out, head, prog);
	fputs("    var values = [\n        &''={ }\n",
	      out); /* a map may not be written without a pair */
	put_values(out, &top, "");
	for (cmd = opt_first_command(prog); *cmd; cmd = opt_next_command(cmd)) {
		put_values(out, *cmd, (*cmd)->name);
		if ((*cmd)->alias)
			put_values(out, *cmd, (*cmd)->alias);
	}
	fputs("    ]\n    var commands = [\n", out);
	put_command(out, prog, &top, "");
	for (cmd = opt_first_command(prog); *cmd; cmd = opt_next_command(cmd)) {
		put_command(out, prog, *cmd, (*cmd)->name);
		if ((*cmd)->alias)
			put_command(out, prog, *cmd, (*cmd)->alias);
	}
	opt_put_template(out, tail, prog);
}
