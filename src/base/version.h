/*
 * base/version — which version of the program this is.
 *
 * The program itself is linked with what git says (tools/version). Whatever else is linked with this library, tests for
 * example, has the number of the release that is being worked on, and so need not be linked again after each commit.
 */
#pragma once

extern const char schedscope_version[];   /* 0.1.0 */
extern const char schedscope_generator[]; /* schedscope 0.1.0: what wrote a file */
