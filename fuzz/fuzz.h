/* fuzz/fuzz — what every target defines; libFuzzer or fuzz/replay.c calls it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Always 0; a finding is a crash, a failed assert or a report of a sanitizer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
