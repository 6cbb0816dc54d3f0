#include "base/loss.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *what;
} words[NR_LOSSES] = {
#define X(name, what) [LOSS_##name] = { #name, what },
	LOSSES(X)
#undef X
};

const char *loss_name(enum loss loss)
{
	return words[loss].name;
}

const char *loss_what(enum loss loss)
{
	return words[loss].what;
}

bool loss_by_name(const char *name, enum loss *out)
{
	for (int i = 0; i < NR_LOSSES; i++) {
		if (strcmp(words[i].name, name) == 0) {
			*out = (enum loss)i;
			return true;
		}
	}
	return false;
}

const char *loss_sentence(char *buf, size_t size, enum loss loss, uint64_t nr)
{
	(void)snprintf(buf, size, "%" PRIu64 " %s", nr, words[loss].what);
	return buf;
}
