// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
//
// load.h: what http_load and tcp_load measure by: the time, a histogram of latencies, the CPU and memory of processes.
// Each includes it once, behind _GNU_SOURCE.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

typedef uint8_t u8; typedef uint32_t u32; typedef uint64_t u64;

static u64 now_ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec; }

// ---- histogram: log-linear, 256 sub-buckets per power of two (error < 0.4 %)
#define SUB 8
static u64 hist[64 << SUB], hcount, hmax; static double hsum;
static void hrec(u64 v) {
    u32 i;
    if (v < (1u << SUB)) i = (u32)v;
    else { int e = 63 - __builtin_clzll(v); i = ((u32)(e - SUB + 1) << SUB) + (u32)((v >> (e - SUB)) & ((1u << SUB) - 1)); }
    hist[i]++; hcount++; hsum += (double)v;
    if (v > hmax) hmax = v;
}
// The middle of the bucket that the quantile falls into, in microseconds.
static double hq(double q) {
    u64 want = (u64)(q * (double)hcount + 0.9999999), acc = 0;
    if (!hcount) return 0;
    for (u32 i = 0; i < (64u << SUB); i++) {
        acc += hist[i];
        if (acc < (want ? want : 1)) continue;
        if (i < (1u << SUB)) return i * 1e-3;
        int e = (int)(i >> SUB) + SUB - 1;
        double middle = (double)(1ull << e) + ((double)(i & ((1u << SUB) - 1)) + 0.5) * (double)(1ull << (e - SUB));
        return (middle > (double)hmax ? (double)hmax : middle) * 1e-3;
    }
    return (double)hmax * 1e-3;
}

// The CPU clock of the process counts nanoseconds; /proc counts ticks of 10 ms, too coarse for a run of a second.
static double proc_cpu(int pid) {
    clockid_t clock; struct timespec t;
    if (!pid) return 0;
    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t)) return -1;
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static long proc_kb(int pid, const char *key) {
    char f[64], l[256]; snprintf(f, sizeof f, "/proc/%d/status", pid);
    FILE *fp = pid ? fopen(f, "r") : NULL; long v = 0;
    if (!fp) return pid ? -1 : 0;
    while (fgets(l, sizeof l, fp)) if (!strncmp(l, key, strlen(key))) { v = strtol(l + strlen(key) + 1, NULL, 10); break; }
    fclose(fp); return v;
}
static double self_cpu(void) {
    struct rusage r; getrusage(RUSAGE_SELF, &r);
    return (double)r.ru_utime.tv_sec + (double)r.ru_stime.tv_sec + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}
