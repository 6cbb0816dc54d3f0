/* Runs the units named on the command line, or all. Says where each begins and ends: one that dies is known by name. */
#include "together.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_wanted(const char *name, int count, char *const *names)
{
	for (int i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return count == 0;
}

int main(int argc, char **argv)
{
	bool has_failed = false;

	for (const struct unit *unit = units; unit->name; unit++) {
		if (!is_wanted(unit->name, argc - 1, argv + 1))
			continue;
		printf("# begin %s\n", unit->name);
		(void)fflush(stdout);
		has_failed |= unit->run() != 0;
		printf("# end %s\n", unit->name);
		(void)fflush(stdout);
	}
	return has_failed;
}
