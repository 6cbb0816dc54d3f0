/*
 * serve/parquet/encode — values as the encodings of Parquet have them.
 *
 * Appends to a block, whose error sticks. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "serve/parquet/bytes.h"

/* Bits that a value needs; 0 for 0. */
unsigned int encode_width(uint64_t value);

/* PLAIN of INT64 and DOUBLE: eight bytes each. */
void encode_plain64(struct bytes *out, const uint64_t *values, size_t nr);
/* PLAIN of BOOLEAN: a bit each, beginning with the lowest; 0 is false. */
void encode_plain_bits(struct bytes *out, const uint64_t *values, size_t nr);
/* PLAIN of BYTE_ARRAY: length, then bytes. */
void encode_plain_text(struct bytes *out, const char *text, size_t len);
/* RLE, the hybrid of runs and packed bits. Values have at most width bits; at most 32. No length in front. */
void encode_rle(struct bytes *out, const uint64_t *values, size_t nr, unsigned int width);
/* DELTA_BINARY_PACKED: differences modulo 2^64, packed by 32. */
void encode_delta(struct bytes *out, const uint64_t *values, size_t nr);
