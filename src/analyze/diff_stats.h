/*
 * analyze/diff_stats — whether two series of values have the same mean: a probability that is sound for parts of recordings.
 *
 * The values of a side are those of parts of one recording that follow each other, few, and the next is often like the one
 * before. So the test is Welch's, which needs no equal spread; of logarithms where all values are positive, as times vary
 * by factors; the number of values is reduced by how much neighbours are alike (first-order autocorrelation); and the
 * result is never smaller than the share of one split among all ways to split the values of both sides into two, which
 * is all that so few values can prove. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define DIFF_VALUES_MAX 64

/* Two-sided, for values in order of time, at most DIFF_VALUES_MAX. 1 for fewer than two values on a side. */
double diff_p_value(const double *a, uint32_t nr_a, const double *b, uint32_t nr_b);

/*
 * Holm's correction: p of a family of tests becomes what it is worth among all of them. If all that is below a limit is called a
 * change, the chance that any of these is false is at most that limit, however the tests depend on each other. -ENOMEM.
 */
int diff_holm(double *p, size_t nr);

/* The two-sided tail of Student's t. */
double diff_student(double t, double freedom);
