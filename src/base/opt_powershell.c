#include "base/opt_complete.h"

static const char head[] =
	"# PowerShell completion for ~, written by '~ generate-completions --shell powershell'.\n"
	"\n"
	"Register-ArgumentCompleter -Native -CommandName '~' -ScriptBlock {\n"
	"    param($wordToComplete, $commandAst, $cursorPosition)\n"
	"\n"
	"    function Candidate($Text, $Help) {\n"
	"        if ($Text.StartsWith($wordToComplete)) {\n"
	"            [System.Management.Automation.CompletionResult]::new(\n"
	"                $Text, $Text, 'ParameterValue', $Help)\n"
	"        }\n"
	"    }\n"
	"\n"
	"    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |\n"
	"        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |\n"
	"        ForEach-Object { $_.ToString() })\n"
	"    $command = $words | Where-Object { -not $_.StartsWith('-') } | Select-Object -First 1\n"
	"    $previous = if ($words.Count) { $words[-1] } else { '' }\n"
	"\n"
	"    # Nothing returned means that PowerShell completes file names.\n"
	"    switch -CaseSensitive -Exact (\"${command}:${previous}\") {\n";
static const char middle[] = "    }\n"
			     "    switch -CaseSensitive -Exact (\"$command\") {\n";
static const char tail[] = "    }\n"
			   "}\n";

static void put_candidate(FILE *out, const char *text, const char *help)
{
	fputs("            Candidate ", out);
	opt_put_quoted(out, OPT_QUOTE_DOUBLED, text);
	fputc(' ', out);
	opt_put_quoted(out, OPT_QUOTE_DOUBLED, help);
	fputc('\n', out);
}

struct powershell_entry {
	FILE *out;
	const char *command;
	const struct opt *o;
};

static void put_value(void *ctx, const char *name)
{
	const struct powershell_entry *e = ctx;
	const char *const *choice;

	fprintf(e->out, "        '%s:%s' {\n", e->command, name);
	for (choice = e->o->choices; choice && *choice; choice++)
		put_candidate(e->out, *choice, e->o->help);
	fputs("            return\n        }\n", e->out);
}

static void put_values(FILE *out, const struct opt_command *cmd, const char *name)
{
	const struct opt *o;

	for (o = opt_first(cmd->options); o; o = opt_next(o)) {
		struct powershell_entry e = { .out = out, .command = name, .o = o };

		if (opt_takes_value(o))
			opt_each_name(o, put_value, &e);
	}
}

static void put_option_name(void *ctx, const char *name)
{
	const struct powershell_entry *e = ctx;

	put_candidate(e->out, name, e->o->help);
}

/* Options only behind a dash, so that file names complete where operands are files. */
static void put_command(FILE *out, const struct opt_program *prog, const struct opt_command *cmd,
                        const char *name)
{
	const struct opt_command *const *c;
	const struct opt *o;

	fprintf(out, "        '%s' {\n", name);
	for (c = opt_first_command(prog); cmd->operand == OPT_OPERAND_COMMAND && *c;
	     c = opt_next_command(c))
		put_candidate(out, (*c)->name, (*c)->summary);
	if (cmd->operands)
		fputs("            if (-not $wordToComplete.StartsWith('-')) { return }\n", out);
	for (o = opt_first(cmd->options); o; o = opt_next(o)) {
		struct powershell_entry e = { .out = out, .o = o };

		opt_each_shown_name(o, put_option_name, &e);
	}
	fputs("            return\n        }\n", out);
}

void opt_complete_powershell(const struct opt_program *prog, FILE *out)
{
	const struct opt_command top = opt_top_command(prog);
	const struct opt_command *const *cmd;

	opt_put_template(out, head, prog);
	put_values(out, &top, "");
	for (cmd = opt_first_command(prog); *cmd; cmd = opt_next_command(cmd)) {
		put_values(out, *cmd, (*cmd)->name);
		if ((*cmd)->alias)
			put_values(out, *cmd, (*cmd)->alias);
	}
	fputs(middle, out);
	put_command(out, prog, &top, "");
	for (cmd = opt_first_command(prog); *cmd; cmd = opt_next_command(cmd)) {
		put_command(out, prog, *cmd, (*cmd)->name);
		if ((*cmd)->alias)
			put_command(out, prog, *cmd, (*cmd)->alias);
	}
	fputs(tail, out);
}
