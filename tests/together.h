/* tests/together — the test files of one folder as one program; join-units writes the table, run-together runs it. */
#pragma once

struct unit {
	const char *name;
	int (*run)(void); /* main() of test_NAME.c: how many cases failed */
};

extern const struct unit units[]; /* ends with an empty name */
