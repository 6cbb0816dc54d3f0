#include "machine/parts/power_temperature.h"

#include <math.h>
#include <string.h>

static struct machine_power_package *find_package(struct power_sum *s, int32_t id)
{
	for (size_t i = 0; i < s->nr_packages; i++)
		if (s->packages[i].id == id)
			return &s->packages[i];
	return NULL;
}

static bool show_core(const struct power_reading *now, const struct temperature *t,
                      struct power_sum *s)
{
	bool is_found = false;

	for (size_t i = 0; i < now->cpus.nr; i++) {
		const struct cpu_idle *c = &now->cpus.cpus[i];

		if (c->package_id == t->package_id && c->core_id == t->core_id) {
			s->cpus[i].celsius = t->celsius;
			is_found = true;
		}
	}
	return is_found;
}

static size_t count_chips(const struct temperatures *t, const char *chip)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr; i++)
		if (strcmp(t->items[i].chip, chip) == 0 && (size_t)t->items[i].chip_nr >= nr)
			nr = (size_t)t->items[i].chip_nr + 1;
	return nr;
}

/* Chips that do not report their package: one for each of them, and the kernel finds them in that order. */
static struct machine_power_package *package_of_chip(const struct power_reading *now,
                                                     const struct temperature *t,
                                                     struct power_sum *s)
{
	bool is_whole = strcmp(t->label, "Tdie") == 0 || strcmp(t->label, "Tctl") == 0 ||
	                strcmp(t->label, "x86_pkg_temp") == 0;
	size_t nr = count_chips(&now->temperatures, t->chip);

	return is_whole && nr == s->nr_packages ? &s->packages[t->chip_nr] : NULL;
}

static void add_sensor(const struct temperature *t, struct power_sum *s)
{
	if (s->nr_sensors == POWER_SENSORS_MAX)
		return;
	s->sensors[s->nr_sensors++] = (struct machine_power_sensor){ t->chip, t->label, t->celsius,
		                                                     t->critical };
}

void power_temperatures(const struct power_reading *now, struct power_sum *s)
{
	for (size_t i = 0; i < now->temperatures.nr; i++) {
		const struct temperature *t = &now->temperatures.items[i];
		struct machine_power_package *p = t->package_id >= 0
		                                          ? find_package(s, t->package_id)
		                                          : package_of_chip(now, t, s);

		if (t->core_id >= 0) {
			if (!show_core(now, t, s))
				add_sensor(t, s);
			continue;
		}
		/* Tctl may have an offset for fan control; Tdie has none. */
		if (p && (isnan(p->celsius) || strcmp(t->label, "Tdie") == 0)) {
			p->celsius = t->celsius;
			p->critical_celsius = t->critical;
		} else {
			add_sensor(t, s);
		}
	}
}
