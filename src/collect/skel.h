/*
 * collect/skel — a generated skeleton, compiled without warnings about sign conversions: SKELETON is its name, defined just
 * before this is included.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include SKELETON
#pragma GCC diagnostic pop
