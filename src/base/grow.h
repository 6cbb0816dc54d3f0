/*
 * base/grow — the one way to make room in an array on the heap.
 *
 * GROW(array, room, at) makes array[at] a place of the array: where room is too small, it is doubled, from 16 places
 * on, until it is larger than at. Returns 0, or -ENOMEM (also where a size would overflow); then array and room are
 * as they were. New places hold anything, those of GROW_ZEROED() zeros. NULL and 0 are an empty array; free() frees
 * it. room is a uint32_t or a size_t. The arguments are used more than once. Arrays that grow with the same indices
 * have the same room.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define GROW(array, room, at)        GROW_TO(array, room, at, false)
#define GROW_ZEROED(array, room, at) GROW_TO(array, room, at, true)

#define GROW_TO(array, room, at, is_zeroed)                                                 \
	((at) < (room) ? 0                                                                  \
	               : _Generic(&(room), uint32_t *                                       \
	                          : grow_u32, size_t *                                      \
	                          : grow_size)(&(array), &(room), (at), sizeof((array)[0]), \
	                                       (is_zeroed)))

/* array: the address of the pointer; size: bytes of a place. */
MUST_USE int grow_u32(void *array, uint32_t *room, size_t at, size_t size, bool is_zeroed);
MUST_USE int grow_size(void *array, size_t *room, size_t at, size_t size, bool is_zeroed);
