/* mcp/profile_results — the functions of a profile as a short answer: as many, and as many of their stacks, as fit. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/json_write.h"

struct profile_service;

struct profile_page {
	uint32_t limit; /* functions; 0 = as many as fit the budget */
	bool wants_stacks;
	size_t budget; /* bytes; not kept where a limit was asked for */
};

/* The members of the object that is open. */
MUST_USE int profile_page_put(struct profile_service *service, const struct profile_page *page,
                              struct json_writer *w, struct diag *d);
