// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#define _GNU_SOURCE
#include "CDuplexProcess.h"

#include <sys/resource.h>
#include <sys/time.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

bool cduplex_get_usage(cduplex_usage *usage) {
    struct rusage used;
    struct rlimit limit;
    if (getrusage(RUSAGE_SELF, &used) != 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
    usage->user_seconds = seconds(used.ru_utime);
    usage->system_seconds = seconds(used.ru_stime);
#if defined(__APPLE__)
    usage->peak_memory = (uint64_t)used.ru_maxrss;
#else
    usage->peak_memory = (uint64_t)used.ru_maxrss * 1024;
#endif
    usage->descriptor_limit = limit.rlim_cur == RLIM_INFINITY ? 0 : (uint64_t)limit.rlim_cur;
    return true;
}

bool cduplex_get_allocations(cduplex_allocations *allocations) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    struct mallinfo2 told = mallinfo2();
    allocations->used = told.uordblks + told.hblkhd;
    allocations->kept = told.fordblks;
    allocations->mapped = told.hblkhd;
    return true;
#else
    (void)allocations;
    return false;
#endif
}
