/*
 * base/hash — a keyed hash of bytes for our tables.
 *
 * Names come from outside: a secret seed per table keeps anyone from choosing names that collide.
 * The result must not leave the process, nor decide the order of anything that users see.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t hash_seed(void); /* another one for each table */
uint64_t hash_bytes(const void *bytes, size_t len, uint64_t seed);
