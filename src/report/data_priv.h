/* report/data_priv — what the files of report/data share. */
#pragma once

#include "analyze/classes.h"
#include "analyze/scope.h"
#include "report/data.h"
#include "report/detail.h"
#include "report/devices.h"
#include "report/gather.h"
#include "report/lanes.h"
#include "report/pack.h"
#include "report/stack_cells.h"
#include "report/tables.h"
#include "report/who.h"

/* The packed tables: those of enum report_table, and these. */
enum {
	PACK_LANES = REPORT_TABLES,
	PACK_FREQUENCY,
	PACK_FRAMES,
	PACK_SLICES,
	PACK_WAITS,
	PACK_PARTS,
	PACKS
};

struct report_data {
	struct scope sc;
	struct ledger *ledger; /* NULL: there is no time */
	uint64_t max_bytes;
	struct who who;
	struct classes classes;
	struct gather g;
	struct tables tables;
	struct lanes lanes;
	struct detail detail;
	struct devices devices;
	struct stack_cells stacks;
	struct report_heat heat;
	uint64_t *heat_counts;
	struct hist_range heat_slots[HIST_SLOTS];
	struct pack packs[PACKS];
	uint32_t nr_packs;
};
