/*
 * abi/types — fixed-width integers for records that are shared by BPF and user space.
 *
 * BPF code has no C library: there the names of <linux/types.h> are spelled out.
 */
#pragma once

#ifndef __bpf__
#include <linux/types.h>
#else

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16; /* the last three are only named by libbpf's helper declarations */
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

#define NULL ((void *)0)
#define true 1
#define false 0

#endif
