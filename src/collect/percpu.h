/*
 * collect/percpu — values of a per-CPU map, as the kernel hands them out, to values by CPU number.
 *
 * The kernel writes one value per possible CPU, one behind the other, whatever their numbers are: with CPUs 0
 * and 2, that of CPU 2 comes second. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Moves each value to the place of its CPU, in an array with room for the highest; places of numbers that no
 * CPU has are zero. possible ascends and has nr numbers. value_bytes is a multiple of 8, as the kernel's.
 */
void percpu_spread(void *values, size_t value_bytes, const uint32_t *possible, uint32_t nr);
