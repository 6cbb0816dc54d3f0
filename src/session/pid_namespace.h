/* session/pid_namespace — are our process ids the kernel's? */
#pragma once

#include <stdbool.h>

/* True where it cannot be known. */
bool pid_namespace_is_initial(void);
