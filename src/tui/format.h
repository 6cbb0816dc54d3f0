/*
 * tui/format — numbers as a screen shows them: few cells, the same width whatever they are; unknown is "-".
 *
 * Each writes into out and returns it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define FORMAT_BYTES 32

/* 850ns, 12.3us, 4.56ms, 1.23s, 12.3h: at most six cells. NAN and what is below 0 is unknown. */
char *format_ns(char out[FORMAT_BYTES], double ns);
/*
 * A count or a rate: below 10 with a decimal if it has one, up to 99999 whole, then 123k, 1.23M: at most five cells.
 * Localized: up to 9,999,999 whole, with the thousands separated as the locale does it, or else by commas.
 */
char *format_count(char out[FORMAT_BYTES], double value, bool is_localized);
char *format_bytes(char out[FORMAT_BYTES],
                   double bytes); /* 12.3M: binary units, at most five cells */
char *format_kib(char out[FORMAT_BYTES], uint64_t kib); /* the same */
/* 0.25 -> "25.0", from 1000 on without decimal; at most six cells. No sign of percent: titles say it. */
char *format_percent(char out[FORMAT_BYTES], double part);
char *format_mhz(char out[FORMAT_BYTES], double mhz); /* 800M, 3.45G: five cells */
char *format_watts(char out[FORMAT_BYTES],
                   double watts); /* 0.52W, 15.0W, 145W: at most five cells */
char *format_celsius(char out[FORMAT_BYTES],
                     double celsius); /* whole degrees, with their sign: at most five cells */
