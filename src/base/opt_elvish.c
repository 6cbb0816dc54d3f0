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
	"    fn list {|what|\n"
	"        try { e:~ complete $what 2>/dev/null | from-lines } catch _ { }\n"
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

/* &'COMMAND:OPTION'={ ... }, the candidates for its value. */
static void put_value(FILE *out, const char *command, const char *name, const struct opt *o)
{
	fprintf(out, "        &'%s:%s'={ ", command, name);
	if (o->choices) {
		fputs("put", out);
		for (const char *const *choice = o->choices; *choice; choice++) {
			fputc(' ', out);
			opt_put_quoted(out, OPT_QUOTE_DOUBLED, *choice);
		}
		fputc(' ', out);
	} else if (o->list) {
		fprintf(out, "list %s ", o->list);
	} else if (o->is_file) {
		fputs("edit:complete-filename $words[-1] ", out);
	}
	fputs("}\n", out);
}

static void put_values(FILE *out, const struct opt_program *prog, const struct opt_command *cmd)
{
	(void)prog;
	opt_each_value(out, cmd, put_value);
}

static void put_command(FILE *out, const struct opt_program *prog, const struct opt_command *cmd)
{
	fprintf(out, "        &'%s'={\n", cmd->name);
	opt_put_commands(out, "candidate", prog, cmd);
	opt_put_options(out, "candidate", cmd);
	if (cmd->stops_at_operand || cmd->operand == OPT_OPERAND_FILE)
		fputs("            edit:complete-filename $words[-1]\n", out);
	if (cmd->operand_list)
		fprintf(out, "            list %s\n", cmd->operand_list);
	fputs("        }\n", out);
}

void opt_complete_elvish(const struct opt_program *prog, FILE *out)
{
	opt_put_template(out, head, prog);
	/* A map may not be written without a pair. */
	fputs("    var values = [\n        &''={ }\n", out);
	opt_each_command_name(prog, put_values, out);
	fputs("    ]\n    var commands = [\n", out);
	opt_each_command_name(prog, put_command, out);
	opt_put_template(out, tail, prog);
}
