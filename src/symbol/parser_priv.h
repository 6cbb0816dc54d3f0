/* symbol/parser_priv — the messages between us and the process that takes files apart. */
#pragma once

#include "sys/rights/sandbox.h"

enum parser_msg {
	PARSER_IDENTIFY = 1, /* fd -> errno, facts */
	PARSER_DEBUG,        /* fd, build id, whether by name, checksum -> errno, facts */
	PARSER_FUNCTIONS,    /* fd, perhaps another -> errno, table */
	PARSER_MAP,          /* fd -> errno, table */
	PARSER_OPEN,         /* number, fd -> errno */
	PARSER_LINES, /* number, address, most frames -> errno, how many, each name, file, line */
	PARSER_DEMANGLE,   /* name -> errno, name */
	PARSER_UNWIND,     /* fd, perhaps another -> errno, table */
	PARSER_WALK_FILE,  /* number, fd -> errno */
	PARSER_WALK_SPACE, /* place, parts -> errno */
	PARSER_WALK_STACK, /* place, copy, its stack -> errno, where it ended, addresses */
};

#define PARSER_DWARF_MAX   64U
#define PARSER_REQUEST_MAX ((size_t)1 << 20)

extern const struct sandbox_job parser_job;
