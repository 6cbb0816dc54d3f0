/*
 * report/slots — the slots of latency of a report, and bands of them.
 *
 * Slots are those of base/hist that occur. Where wakers and culprits of so many waits are counted that each slot of its own would be
 * too much, neighbouring slots are a band.
 */
#pragma once

#include <stdint.h>

#include "base/hist.h"
#include "base/json_write.h"

enum report_bands {
	BANDS_OF_SLOT,  /* each slot is one */
	BANDS_OF_TWO,   /* a power of two each */
	BANDS_OF_EIGHT, /* a power of eight each */
	BANDS_OF_ONE,   /* one for all */
	REPORT_BANDS
};

struct report_slots {
	enum report_bands bands;
	uint8_t is_used[HIST_SLOTS];      /* by slot of base/hist: some wait was so long */
	uint8_t band_of[HIST_SLOTS];      /* by slot of base/hist */
	uint8_t numbers[HIST_SLOTS];      /* by slot of base/hist: that of the report */
	uint8_t slots[HIST_SLOTS];        /* by number */
	uint8_t band_numbers[HIST_SLOTS]; /* by band: that of the report */
	uint32_t nr, nr_bands;            /* of those that occur */
	uint32_t max_bands;               /* bands are below */
};

void slots_init(struct report_slots *s, enum report_bands bands);
/* Coarser ones; former gets the new band of each old one. */
void slots_coarsen(struct report_slots *s, enum report_bands bands, uint8_t former[HIST_SLOTS]);
/* Numbers those that are used. */
void slots_number(struct report_slots *s);
/* Members "slots" and "bands". */
void slots_document(const struct report_slots *s, struct json_writer *out);
