/*
 * sys/command — a command that waits for a word before it begins, so that all of its life is seen.
 *
 * Started before privileges are dropped, it keeps those of the caller. One thread.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/diag.h"

struct command {
	pid_t pid;      /* 0 = none, or it has ended */
	int status;     /* as of waitpid() */
	int start_fd;   /* the child waits for a byte from here; -1 = none */
	int failure_fd; /* and reports here why it could not exec the command */
};

/* Whether there is such a program, by its path or in PATH: so that nothing is made for one that there is not. */
MUST_USE int command_check(const char *name, struct diag *d);
void command_init(struct command *c);
/* A child that waits. words end with NULL. */
MUST_USE int command_start(struct command *c, char *const *words, struct diag *d);
/* Lets it go; 0 once it has become the command, or if there is none. */
MUST_USE int command_release(struct command *c, const char *name, struct diag *d);
bool command_has_ended(struct command *c); /* true once */
/* Leaves it alone, or ends it if it still waits for the word. */
void command_leave(struct command *c, bool is_waiting);
