/* machine/parts/verdict — the sentence about the worst wait of the last seconds: machine.verdict. */
#pragma once

#include "machine/machine_verdict.h"
#include "machine/parts/part.h"

/* Waits that have ended are remembered for so long. */
#define VERDICT_NS 3000000000ULL

extern const struct machine_part machine_part_verdict;
