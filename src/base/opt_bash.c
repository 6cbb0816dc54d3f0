#include <string.h>

#include "base/opt_complete.h"

static const char head[] =
	"# bash completion for ~, written by '~ generate-completions --shell bash'.\n"
	"# Needs bash 4 or newer and nothing else.\n"
	"\n"
	"_~_words() {\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
	"}\n"
	"\n"
	"_~_list() {\n"
	"\t_~_words \"$(~ complete \"$1\" 2>/dev/null)\"\n"
	"}\n"
	"\n"
	"_~_files() {\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"}\n"
	"\n";

/* Finds the command and whether an operand was given; the values of options are neither. */
static const char scan_begin[] = "_~_scan() {\n"
				 "\tlocal i word\n"
				 "\n"
				 "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
				 "\t\tword=${COMP_WORDS[i]}\n"
				 "\t\tif [[ $ended ]]; then\n"
				 "\t\t\toperand=yes\n"
				 "\t\t\tcontinue\n"
				 "\t\tfi\n"
				 "\t\tcase $command:$word in\n";
static const char scan_value[] = ")\n"
				 "\t\t\t[[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))\n"
				 "\t\t\t((i++))\n"
				 "\t\t\t;;\n";
static const char scan_end[] = "\t\t*:--) ended=yes ;;\n"
			       "\t\t*:-*) ;;\n"
			       "\t\t:*) command=$word ;;\n"
			       "\t\t*) operand=yes ;;\n"
			       "\t\tesac\n"
			       "\tdone\n"
			       "}\n"
			       "\n";

static const char values_begin[] = "_~_values() {\n"
				   "\tcase $command:$prev in\n";
static const char values_end[] = "\t*) return 1 ;;\n"
				 "\tesac\n"
				 "\treturn 0\n"
				 "}\n"
				 "\n";

static const char command_begin[] = "_~_command() {\n"
				    "\tcase $command in\n";
static const char command_end[] = "\tesac\n"
				  "}\n"
				  "\n";

static const char tail[] =
	"_~() {\n"
	"\tlocal IFS=$' \\t\\n' cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tlocal command= operand= ended= prefix=\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\t_~_scan\n"
	"\t# readline takes '=' for a word of its own, unless COMP_WORDBREAKS was changed.\n"
	"\tif [[ $cur == = ]]; then\n"
	"\t\tcur=\n"
	"\telif [[ $prev == = ]]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\telif [[ $cur == --*=* ]]; then\n"
	"\t\tprev=${cur%%=*} prefix=${cur%%=*}= cur=${cur#*=}\n"
	"\tfi\n"
	"\tif [[ $ended ]] || ! _~_values; then\n"
	"\t\t_~_command\n"
	"\tfi\n"
	"\t[[ $prefix ]] && COMPREPLY=(\"${COMPREPLY[@]/#/$prefix}\")\n"
	"\treturn 0\n"
	"}\n"
	"\n"
	"complete -F _~ ~\n";

/* A list of patterns COMMAND:OPTION for a case. */
struct case_patterns {
	FILE *out;
	const struct opt_command *cmd;
	unsigned int nr;
};

static void put_pattern(void *ctx, const char *name)
{
	struct case_patterns *p = ctx;

	fprintf(p->out, "%s%s:%s", p->nr++ ? " | " : "", p->cmd->name, name);
	if (p->cmd->alias)
		fprintf(p->out, " | %s:%s", p->cmd->alias, name);
}

static void put_scan_case(FILE *out, const struct opt_program *prog, const struct opt_command *cmd)
{
	struct case_patterns p = { .out = out, .cmd = cmd };
	const struct opt *o;

	(void)prog;
	for (o = opt_first(cmd->options); o; o = opt_next(o)) {
		if (!opt_takes_value(o))
			continue;
		if (!p.nr)
			fputs("\t\t", out);
		opt_each_name(o, put_pattern, &p);
	}
	if (p.nr)
		fputs(scan_value, out);
}

static void put_value_case(FILE *out, const struct opt_program *prog, const struct opt_command *cmd)
{
	const struct opt *o;

	for (o = opt_first(cmd->options); o; o = opt_next(o)) {
		struct case_patterns p = { .out = out, .cmd = cmd };
		const char *const *choice;

		if (!opt_takes_value(o))
			continue;
		fputc('\t', out);
		opt_each_name(o, put_pattern, &p);
		fputs(") ", out);
		if (o->choices) {
			fprintf(out, "_%s_words '", prog->name);
			for (choice = o->choices; *choice; choice++)
				fprintf(out, "%s%s", choice == o->choices ? "" : " ", *choice);
			fputs("' ;;\n", out);
		} else if (o->list) {
			fprintf(out, "_%s_list %s ;;\n", prog->name, o->list);
		} else if (o->is_file) {
			fprintf(out, "_%s_files ;;\n", prog->name);
		} else {
			fputs(";;\n", out);
		}
	}
}

static void put_operands(FILE *out, const struct opt_program *prog, const struct opt_command *cmd)
{
	const struct opt_command *const *c;

	if (cmd->operand_list) {
		/* After the file, if there is one: a word that no name begins with is a file again. */
		if (cmd->operand == OPT_OPERAND_FILE)
			fprintf(out, "\t\telif [[ ! $operand ]]; then\n\t\t\t_%s_files\n",
			        prog->name);
		fprintf(out, "\t\telse\n\t\t\t_%s_list %s\n", prog->name, cmd->operand_list);
		if (cmd->operand == OPT_OPERAND_FILE)
			fprintf(out, "\t\t\t((${#COMPREPLY[@]})) || _%s_files\n", prog->name);
	} else if (cmd->operand == OPT_OPERAND_FILE) {
		fprintf(out, "\t\telse\n\t\t\t_%s_files\n", prog->name);
	} else if (cmd->operand == OPT_OPERAND_COMMAND) {
		fprintf(out, "\t\telse\n\t\t\t_%s_words '", prog->name);
		for (c = opt_first_command(prog); *c; c = opt_next_command(c))
			fprintf(out, " %s", (*c)->name);
		fputs("'\n", out);
	}
}

static void put_command_case(FILE *out, const struct opt_program *prog,
                             const struct opt_command *cmd)
{
	const struct opt *o;

	fprintf(out, "\t%s%s%s)\n", cmd->name[0] ? cmd->name : "''", cmd->alias ? " | " : "",
	        cmd->alias ? cmd->alias : "");
	if (cmd->stops_at_operand)
		fputs("\t\tif [[ $operand ]]; then\n"
		      "\t\t\tcompopt -o default 2>/dev/null\n"
		      "\t\telif [[ $cur == -* && ! $ended ]]; then\n",
		      out);
	else
		fputs("\t\tif [[ $cur == -* && ! $ended ]]; then\n", out);
	fprintf(out, "\t\t\t_%s_words '", prog->name);
	for (o = opt_first(cmd->options); o; o = opt_next(o)) {
		if (o->short_name)
			fprintf(out, " -%c", o->short_name);
		fprintf(out, " --%s", o->long_name);
	}
	fputs("'\n", out);
	put_operands(out, prog, cmd);
	fputs("\t\tfi\n\t\t;;\n", out);
}

void opt_complete_bash(const struct opt_program *prog, FILE *out)
{
	opt_put_template(out, head, prog);
	opt_put_template(out, scan_begin, prog);
	opt_each_command(prog, put_scan_case, out);
	opt_put_template(out, scan_end, prog);

	opt_put_template(out, values_begin, prog);
	opt_each_command(prog, put_value_case, out);
	opt_put_template(out, values_end, prog);

	opt_put_template(out, command_begin, prog);
	opt_each_command(prog, put_command_case, out);
	opt_put_template(out, command_end, prog);
	opt_put_template(out, tail, prog);
}
