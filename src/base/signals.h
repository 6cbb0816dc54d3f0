/* base/signals — what was done with signals before us. */
#pragma once

#include <stdbool.h>

/* `nohup` starts a program with SIGHUP ignored: then a hangup does not end it. */
bool signal_is_ignored(int signal);
