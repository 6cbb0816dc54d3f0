/* tui/views/power_tables — the tables that the view of power is made of. */
#pragma once

#include "tui/view.h"

struct machine_power;

/* Packages, then all together and the platform, where there is more than a package. */
int power_packages_rows(const struct machine_power *p);
void power_packages_draw(const struct machine_power *p, const struct screen *s, struct grid *g,
                         struct area a);
void power_idles_draw(const struct machine_power *p, const struct screen *s, struct grid *g,
                      struct area a);
/* CPUs with frequency, temperature, throttling and idle states; settles the screen's selection. */
void power_cpus_draw(const struct machine *m, struct screen *s, struct grid *g, struct area a);
int power_cpus_rows(const struct machine *m, const struct screen *s);
