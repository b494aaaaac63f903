// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
//
// turns: how long the turns of the event loops are of the program that it is loaded into (LD_PRELOAD): from the return of a wait by
// epoll to the next. SIGUSR2, and its end, has a line of key=value written to the file that TURNS names, of what was since the last signal: the
// number of turns, and the longest in microseconds, by the clock of its thread, which stands while the system has others run, and by
// that of the wall.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef long (*call)(long, ...);

static call real;
static const char *path;
static atomic_ulong longest_cpu, longest_wall, count;
static __thread uint64_t begun_cpu, begun_wall;

static uint64_t now_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static void raise_to(atomic_ulong *most, unsigned long value) {
    unsigned long before = *most;
    while (value > before && !atomic_compare_exchange_weak(most, &before, value)) {}
}

// What the event loop makes its calls by.
long syscall(long number, ...) {
    va_list given;
    va_start(given, number);
    long a = va_arg(given, long), b = va_arg(given, long), c = va_arg(given, long);
    long d = va_arg(given, long), e = va_arg(given, long), f = va_arg(given, long);
    va_end(given);
    // Others begin before this does.
    if (!real) real = (call)dlsym(RTLD_NEXT, "syscall");
    if (number != SYS_epoll_pwait) return real(number, a, b, c, d, e, f);
    if (begun_wall) {
        raise_to(&longest_cpu, (unsigned long)(now_ns(CLOCK_THREAD_CPUTIME_ID) - begun_cpu));
        raise_to(&longest_wall, (unsigned long)(now_ns(CLOCK_MONOTONIC) - begun_wall));
        count++;
    }
    long n = real(number, a, b, c, d, e, f);
    begun_cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
    begun_wall = now_ns(CLOCK_MONOTONIC);
    return n;
}

static size_t put(char *to, const char *key, unsigned long value) {
    char digits[24], *end = digits + sizeof digits, *begin = end;
    do *--begin = (char)('0' + value % 10); while (value /= 10);
    size_t n = strlen(key);
    memcpy(to, key, n);
    memcpy(to + n, begin, (size_t)(end - begin));
    return n + (size_t)(end - begin);
}

static void tell(int signal) {
    (void)signal;
    char text[160];
    size_t n = put(text, "turns=", atomic_exchange(&count, 0));
    n += put(text + n, " longest_cpu_us=", atomic_exchange(&longest_cpu, 0) / 1000);
    n += put(text + n, " longest_wall_us=", atomic_exchange(&longest_wall, 0) / 1000);
    text[n++] = '\n';
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0) { ssize_t ignored = write(fd, text, n); (void)ignored; close(fd); }
}

__attribute__((destructor)) static void end(void) {
    if (path) tell(0);
}
__attribute__((constructor)) static void begin(void) {
    path = getenv("TURNS");
    if (path) signal(SIGUSR2, tell);
}
