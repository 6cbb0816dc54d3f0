/* render/command_text — a command of this program as a person copies it. */
#pragma once

#include <stddef.h>

#include "render/report_value.h"

#define COMMAND_TEXT_BYTES 512

/*
 * "schedscope " and the words, in at most width columns (0 = any). The file takes the place of "FILE" unless it does not fit or is not a
 * plain word. Moments "@123" of the trace's clock become times after the start where that is known.
 */
char *command_text(const char *words, const char *file, struct report_clock clock, size_t width,
                   char buf[COMMAND_TEXT_BYTES]);
