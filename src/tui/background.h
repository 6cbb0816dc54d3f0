/*
 * tui/background — whether a terminal has a dark or a light background: what COLORFGBG and the terminal's own reply say.
 *
 * Pure. Texts are untrusted; what is not understood is unknown.
 */
#pragma once

#include <stddef.h>

/* OSC 11 requests the background colour. Every terminal answers the device attributes that follow, so that their reply
   without one to OSC 11 means that there will be none. */
#define BACKGROUND_QUERY "\033]11;?\033\\\033[c"

enum background { BACKGROUND_UNKNOWN, BACKGROUND_DARK, BACKGROUND_LIGHT };

/* "15;0", "0;default;15": the last number is the background's, of the 16 colours. NULL = not set. */
enum background background_of_environment(const char *colorfgbg);
/* Of a reply without its ends: "11;rgb:ffff/ffff/ffff", "11;rgba:00/00/00/ff", "11;#102030". */
enum background background_of_reply(const char *text);
