#include <string.h>

#include "base/opt_complete.h"

/* Text inside a single-quoted specification of _arguments or _describe. */
static void put_spec_text(FILE *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\'", out);
		else if (strchr("[]:\\", *s))
			fputc('\\', out);
		fputc(*s, out);
	}
}

/* ":message:action" for the value of an option. */
static void put_value(FILE *out, const struct opt_program *prog, const struct opt *o)
{
	const char *const *choice;

	fputc(':', out);
	put_spec_text(out, o->arg);
	fputc(':', out);
	if (o->choices) {
		for (choice = o->choices; *choice; choice++)
			fprintf(out, "%s%s", choice == o->choices ? "(" : " ", *choice);
		fputc(')', out);
	} else if (o->list) {
		fprintf(out, "{ compadd -- ${(f)\"$(%s complete %s 2>/dev/null)\"} }", prog->name,
		        o->list);
	} else {
		fputs(o->is_file ? "_files" : " ", out);
	}
}

struct spec {
	FILE *out;
	const struct opt_program *prog;
	const struct opt *o;
};

static void put_excluded(void *ctx, const char *name)
{
	fprintf(((struct spec *)ctx)->out, " %s", name);
}

/* One specification per name; each name excludes the others unless the option may be repeated. */
static void put_spec(void *ctx, const char *name)
{
	const struct spec *spec = ctx;
	const struct opt *o = spec->o;

	fputs(" \\\n\t\t'", spec->out);
	if (o == &opt_help_option) {
		fputs("(- *)", spec->out);
	} else if (o->type == OPT_TYPE_LIST) {
		fputc('*', spec->out);
	} else {
		fputc('(', spec->out);
		opt_each_name(o, put_excluded, ctx);
		fputc(')', spec->out);
	}
	fputs(name, spec->out);
	/* '+': the value may be joined or the next word; '=' the same for long names. */
	if (opt_takes_value(o))
		fputc(name[1] == '-' ? '=' : '+', spec->out);
	fputc('[', spec->out);
	put_spec_text(spec->out, o->help);
	fputc(']', spec->out);
	if (opt_takes_value(o))
		put_value(spec->out, spec->prog, o);
	fputc('\'', spec->out);
}

static void put_options(FILE *out, const struct opt_program *prog, const struct opt *table)
{
	const struct opt *o;

	for (o = opt_first(table); o; o = opt_next(o)) {
		struct spec spec = { .out = out, .prog = prog, .o = o };

		opt_each_shown_name(o, put_spec, &spec);
	}
}

static void put_operands(FILE *out, const struct opt_program *prog, const struct opt_command *cmd)
{
	if (!cmd->operands)
		return;
	if (cmd->operand_list) {
		if (cmd->operand == OPT_OPERAND_FILE)
			fputs(" \\\n\t\t'1:file:_files'", out);
		fprintf(out,
		        " \\\n\t\t'*:word:{ compadd -- ${(f)\"$(%s complete %s 2>/dev/null)\"} }'",
		        prog->name, cmd->operand_list);
		return;
	}
	fputs(" \\\n\t\t'", out);
	if (cmd->stops_at_operand)
		fputs("*::command:_normal", out);
	else if (cmd->operand == OPT_OPERAND_FILE)
		fputs("*:file:_files", out);
	else if (cmd->operand == OPT_OPERAND_COMMAND)
		fprintf(out, "1:command:_%s_commands", prog->name);
	else
		fputs("*:operand: ", out);
	fputc('\'', out);
}

static void put_commands(FILE *out, const struct opt_program *prog)
{
	const struct opt_command *const *cmd;

	fprintf(out, "_%s_commands() {\n\tlocal -a commands=(", prog->name);
	for (cmd = opt_first_command(prog); *cmd; cmd = opt_next_command(cmd)) {
		fprintf(out, "\n\t\t'%s:", (*cmd)->name);
		put_spec_text(out, (*cmd)->summary);
		fputc('\'', out);
	}
	fputs("\n\t)\n\t_describe -t commands command commands\n}\n\n", out);
}

static void put_command(FILE *out, const struct opt_program *prog, const struct opt_command *cmd)
{
	/* -s: flags may be bundled; -S: nothing after "--" is an option; -A: nor after an operand. */
	fprintf(out, "_%s_%s() {\n\t_arguments -s -S%s", prog->name, cmd->name,
	        cmd->stops_at_operand ? " -A '-*'" : "");
	put_options(out, prog, cmd->options);
	put_operands(out, prog, cmd);
	fputs("\n}\n\n", out);
}

static void put_main(FILE *out, const struct opt_program *prog)
{
	static const char tail[] = "\tesac\n"
				   "}\n"
				   "\n"
				   "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
				   "\t_~ \"$@\"\n"
				   "else\n"
				   "\tcompdef _~ ~\n"
				   "fi\n";
	const struct opt_command *const *cmd;

	opt_put_template(out,
	                 "_~() {\n"
	                 "\tlocal curcontext=$curcontext state\n"
	                 "\tlocal -a line\n"
	                 "\n"
	                 "\t_arguments -C -s -S -A '-*'",
	                 prog);
	put_options(out, prog, prog->options);
	opt_put_template(out,
	                 " \\\n\t\t'1:command:_~_commands'"
	                 " \\\n\t\t'*::argument:->argument'\n"
	                 "\t[[ $state == argument ]] || return\n"
	                 "\tcurcontext=${curcontext%:*:*}:~-$line[1]:\n"
	                 "\tcase $line[1] in\n",
	                 prog);
	for (cmd = opt_first_command(prog); *cmd; cmd = opt_next_command(cmd))
		fprintf(out, "\t%s%s%s) _%s_%s ;;\n", (*cmd)->name, (*cmd)->alias ? "|" : "",
		        (*cmd)->alias ? (*cmd)->alias : "", prog->name, (*cmd)->name);
	opt_put_template(out, tail, prog);
}

void opt_complete_zsh(const struct opt_program *prog, FILE *out)
{
	const struct opt_command *const *cmd;

	opt_put_template(out,
	                 "#compdef ~\n"
	                 "# zsh completion for ~, written by '~ generate-completions --shell zsh'.\n"
	                 "\n",
	                 prog);
	put_commands(out, prog);
	for (cmd = opt_first_command(prog); *cmd; cmd = opt_next_command(cmd))
		put_command(out, prog, *cmd);
	put_main(out, prog);
}
