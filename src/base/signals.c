#include "base/signals.h"

#include <signal.h>
#include <stddef.h>

bool signal_is_ignored(int signal)
{
	struct sigaction now;

	return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}
