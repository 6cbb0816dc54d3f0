#include "report/axis.h"

static uint64_t next_width(uint64_t width)
{
	uint64_t digit = width;

	while (digit >= 10)
		digit /= 10;
	return digit == 2 ? width / 2 * 5 : width * 2;
}

struct report_axis axis_make(uint64_t from_ns, uint64_t to_ns, uint32_t max_nr)
{
	struct report_axis a = { .from_ns = from_ns, .to_ns = to_ns, .width_ns = 1 };
	uint64_t span_ns = to_ns > from_ns ? to_ns - from_ns : 0;

	while (span_ns / a.width_ns >= max_nr)
		a.width_ns = next_width(a.width_ns);
	a.nr = (uint32_t)(span_ns / a.width_ns) + 1;
	return a;
}

void axis_halve(struct report_axis *a)
{
	a->width_ns *= 2;
	a->nr = (a->nr + 1) / 2;
}
