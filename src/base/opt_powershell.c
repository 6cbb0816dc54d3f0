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
	"    function Words($List) {\n"
	"        & '~' complete $List 2>$null | ForEach-Object { Candidate $_ $_ }\n"
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

static void put_value(FILE *out, const char *command, const char *name, const struct opt *o)
{
	fprintf(out, "        '%s:%s' {\n", command, name);
	for (const char *const *choice = o->choices; choice && *choice; choice++)
		opt_put_candidate(out, "Candidate", *choice, o->help);
	if (o->list)
		fprintf(out, "            Words '%s'\n", o->list);
	fputs("            return\n        }\n", out);
}

static void put_values(FILE *out, const struct opt_program *prog, const struct opt_command *cmd)
{
	(void)prog;
	opt_each_value(out, cmd, put_value);
}

/* Options only behind a dash, so that file names complete where operands are files. */
static void put_command(FILE *out, const struct opt_program *prog, const struct opt_command *cmd)
{
	fprintf(out, "        '%s' {\n", cmd->name);
	opt_put_commands(out, "Candidate", prog, cmd);
	if (cmd->operand_list)
		fprintf(out,
		        "            if (-not $wordToComplete.StartsWith('-')) { Words '%s'; return }\n",
		        cmd->operand_list);
	else if (cmd->operands)
		fputs("            if (-not $wordToComplete.StartsWith('-')) { return }\n", out);
	opt_put_options(out, "Candidate", cmd);
	fputs("            return\n        }\n", out);
}

void opt_complete_powershell(const struct opt_program *prog, FILE *out)
{
	opt_put_template(out, head, prog);
	opt_each_command_name(prog, put_values, out);
	fputs(middle, out);
	opt_each_command_name(prog, put_command, out);
	fputs(tail, out);
}
