#include "report/slots.h"

#include <string.h>

static uint32_t band_of(enum report_bands bands, uint32_t slot)
{
	uint64_t us = hist_slot_range(slot).first / 1000;
	uint32_t log = us ? hist_log2(us) + 1 : 0;

	switch (bands) {
	case BANDS_OF_SLOT:
		return slot;
	case BANDS_OF_TWO:
		return log;
	case BANDS_OF_EIGHT:
		return (log + 1) / 3; /* below 2, 16, 128 us, 1, 8, ... ms */
	default:
		return 0;
	}
}

void slots_init(struct report_slots *s, enum report_bands bands)
{
	*s = (struct report_slots){ .bands = bands };
	for (uint32_t i = 0; i < HIST_SLOTS; i++)
		s->band_of[i] = (uint8_t)band_of(bands, i);
	s->max_bands = s->band_of[HIST_SLOTS - 1] + 1U;
}

void slots_coarsen(struct report_slots *s, enum report_bands bands, uint8_t former[HIST_SLOTS])
{
	struct report_slots new;

	slots_init(&new, bands);
	memset(former, 0, HIST_SLOTS);
	for (uint32_t i = 0; i < HIST_SLOTS; i++)
		former[s->band_of[i]] = new.band_of[i];
	memcpy(new.is_used, s->is_used, sizeof(new.is_used));
	*s = new;
}

void slots_number(struct report_slots *s)
{
	int last = -1;

	s->nr = 0;
	s->nr_bands = 0;
	for (uint32_t i = 0; i < HIST_SLOTS; i++) {
		if (!s->is_used[i])
			continue;
		s->slots[s->nr] = (uint8_t)i;
		s->numbers[i] = (uint8_t)s->nr++;
		if (s->band_of[i] != last)
			s->band_numbers[s->band_of[i]] = (uint8_t)s->nr_bands++;
		last = s->band_of[i];
	}
}

/* [[first, last], ...] of the slots of each band. */
static void write_bands(const struct report_slots *s, struct json_writer *out)
{
	uint32_t i = 0;

	jw_begin_array(out, "bands");
	while (i < s->nr) {
		uint32_t first = i;

		while (i < s->nr && s->band_of[s->slots[i]] == s->band_of[s->slots[first]])
			i++;
		jw_begin_array(out, NULL);
		jw_u64(out, NULL, first);
		jw_u64(out, NULL, i - 1);
		jw_end_array(out);
	}
	jw_end_array(out);
}

void slots_document(const struct report_slots *s, struct json_writer *out)
{
	jw_begin_array(out, "slots");
	for (uint32_t i = 0; i < s->nr; i++) {
		struct hist_range range = hist_slot_range(s->slots[i]);

		jw_begin_array(out, NULL);
		jw_u64(out, NULL, range.first);
		jw_u64_if(out, NULL, s->slots[i] + 1U < HIST_SLOTS, range.last);
		jw_end_array(out);
	}
	jw_end_array(out);
	write_bands(s, out);
}
