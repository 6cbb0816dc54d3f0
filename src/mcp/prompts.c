/* Every prompt, in the order of the list. */
#include "mcp/prompts.h"

const struct prompt *const prompts[] = {
	&prompt_scheduler_performance, &prompt_high_latency,     &prompt_cpu_imbalance,
	&prompt_scheduler_behavior,    &prompt_summarize_system,
};

const size_t nr_prompts = sizeof(prompts) / sizeof(prompts[0]);

void prompt_put_sources(FILE *out)
{
	fputs("## Get data first\n"
	      "- The user has a trace file: `load`.\n"
	      "- The problem exists right now: `record` takes a few seconds of this machine.\n"
	      "- Both answer with findings, the worst first, each with the next call; `summary` gives them again.\n"
	      "- The server runs with --daemon: the resources stats://aggregated/... hold live figures. If a tool says "
	      "that live data is not collected, record instead.\n\n",
	      out);
}

void prompt_put_rules(FILE *out)
{
	fputs("\n## How to report\n"
	      "- Quote figures with their unit and the span that they cover. null is unknown, not 0.\n"
	      "- Say so when an answer reports lost events or sampling: absolute counts are then too low.\n"
	      "- truncated: true means that there is more; ask for the next page only if it can change the conclusion.\n"
	      "- Name the evidence for every cause, and one measurement that would prove it wrong.\n",
	      out);
}
