/*
 * tests/render/golden — compares text with a file of tests/golden, byte for byte.
 *
 * With UPDATE_GOLDEN=1 in the environment the file is written instead; look at the difference before
 * it is committed.
 */
#pragma once

void golden_compare(const char *name, const char *text);
