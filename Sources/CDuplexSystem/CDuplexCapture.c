// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#define _GNU_SOURCE
#include "CDuplexCapture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { capture_limit = 4, leave_limit = 2000, busy_limit = 500 };

struct capture {
    /// 0: free, 1: the descriptors lead here, 2: only what others have inherited does. A handler of a signal reads what follows only
    /// if this isn't 0, and it is written only before that.
    atomic_int state;
    int stream;
    int other;
    /// Where it went before; -1 where that was nowhere.
    int original;
    int reading;
    /// Whether the reader has bytes that it hasn't dealt with.
    atomic_int is_moving;
};

static struct capture captures[capture_limit];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/// Whether the process ends: from then on who ends it reads the pipes.
static atomic_int is_leaving;
static atomic_int has_left;
/// The process that captures; a copy of it that fork made leaves the streams alone.
static _Atomic(pid_t) owner;

static void pause_for_one_millisecond(void) { poll(NULL, 0, 1); }

/// Writes all, waiting as long as it takes; or up to a number of milliseconds in all, which are counted down.
static bool write_all(int descriptor, const char *bytes, size_t count, int *budget) {
    while (count > 0) {
        if (budget) {
            struct pollfd entry = {.fd = descriptor, .events = POLLOUT};
            while (*budget > 0 && poll(&entry, 1, 1) == 0) *budget -= 1;
            if (*budget <= 0) return false;
        }
        ssize_t written = write(descriptor, bytes, count);
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        } else if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            struct pollfd entry = {.fd = descriptor, .events = POLLOUT};
            poll(&entry, 1, budget ? 1 : 1000);
        } else if (written == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

// MARK: The end of the process

/// Passes on what is left in a pipe.
static void drain(struct capture *capture, int *budget) {
    char bytes[4096];
    while (true) {
        ssize_t count = read(capture->reading, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;
        if (capture->original >= 0 && !write_all(capture->original, bytes, (size_t)count, budget)) return;
    }
}

static void restore(struct capture *capture) {
    int descriptors[] = {capture->stream, capture->other};
    for (int index = 0; index < 2; index++) {
        if (descriptors[index] < 0) continue;
        if (capture->original >= 0) {
            while (dup2(capture->original, descriptors[index]) < 0 && errno == EINTR) {}
        } else {
            close(descriptors[index]);
        }
    }
}

/// Has everything that was written reach its place, and what comes from here on go there directly. May be called in a handler
/// of a signal.
static void leave(void) {
    if (getpid() != atomic_load(&owner)) return;
    int budget = leave_limit;
    if (atomic_exchange(&is_leaving, 1)) {
        while (!atomic_load(&has_left) && budget-- > 0) pause_for_one_millisecond();
        return;
    }
    for (int index = 0; index < capture_limit; index++) {
        struct capture *capture = &captures[index];
        int state = atomic_load(&capture->state);
        if (state == 0) continue;
        // The reader may be among those that this thread holds up.
        for (int wait = 0; wait < busy_limit && atomic_load(&capture->is_moving); wait++) pause_for_one_millisecond();
        drain(capture, &budget);
        if (state == 1) {
            restore(capture);
            drain(capture, &budget);
        }
    }
    atomic_store(&has_left, 1);
}

static void leave_at_exit(void) {
    if (getpid() == atomic_load(&owner)) fflush(stdout);
    leave();
}

/// Faults of the program, and what ends a process that doesn't say otherwise.
static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};
static const int requests[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
enum { fault_count = sizeof faults / sizeof *faults, request_count = sizeof requests / sizeof *requests };
/// Written only while a signal's handler is that one, so not while ours can read it.
static struct sigaction former[fault_count + request_count];
static bool has_former[fault_count + request_count];

static int signal_of(int index) { return index < fault_count ? faults[index] : requests[index - fault_count]; }

static void handle_signal(int number, siginfo_t *information, void *context) {
    (void)context;
    int code = errno;
    leave();
    bool is_fault = false;
    for (int index = 0; index < fault_count + request_count; index++) {
        if (signal_of(index) != number) continue;
        is_fault = index < fault_count;
        sigaction(number, &former[index], NULL);
    }
    // A fault happens again behind the return, but for a breakpoint and for a call that a filter refuses; those, and anything
    // else, have to be sent again. Who handled it before does so then.
    bool is_passed = number == SIGTRAP || number == SIGSYS;
    if (!is_fault || is_passed || information->si_code <= 0) raise(number);
    errno = code;
}

static void install_handlers(void) {
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = handle_signal;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    for (int index = 0; index < fault_count + request_count; index++) {
        has_former[index] = false;
        if (sigaction(signal_of(index), NULL, &former[index]) != 0) continue;
        if (index >= fault_count && former[index].sa_handler != SIG_DFL) continue;
        has_former[index] = sigaction(signal_of(index), &ours, NULL) == 0;
    }
}

static void remove_handlers(void) {
    for (int index = 0; index < fault_count + request_count; index++) {
        struct sigaction present;
        if (!has_former[index] || sigaction(signal_of(index), NULL, &present) != 0) continue;
        if (present.sa_sigaction == handle_signal) sigaction(signal_of(index), &former[index], NULL);
        has_former[index] = false;
    }
}

// MARK: Beginning and ending

bool cduplex_capture_is_shared(void) {
    struct stat one, other;
    if (fstat(1, &one) != 0 || fstat(2, &other) != 0) return false;
    if (one.st_dev != other.st_dev || one.st_ino != other.st_ino) return false;
    // Of a file that was opened twice each has a place of its own.
    return !S_ISREG(one.st_mode) || lseek(1, 0, SEEK_CUR) == lseek(2, 0, SEEK_CUR);
}

/// The descriptor under a number that isn't one of the standard streams', not inherited by programs that are started.
static int moved(int descriptor) {
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    int code = errno;
    close(descriptor);
    errno = code;
    return copy;
}

static int active_count(void) {
    int count = 0;
    for (int index = 0; index < capture_limit; index++) count += atomic_load(&captures[index].state) == 1;
    return count;
}

static int open_capture(struct capture *capture, int stream, int other) {
    int ends[2];
#if defined(__linux__)
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
#else
    if (pipe(ends) != 0) return -1;
#endif
    int reading = moved(ends[0]);
    int writing = moved(ends[1]);
    if (reading < 0 || writing < 0 || fcntl(reading, F_SETFL, O_NONBLOCK) != 0) {
        int code = errno;
        if (reading >= 0) close(reading);
        if (writing >= 0) close(writing);
        errno = code;
        return -1;
    }
    capture->stream = stream;
    capture->other = other;
    capture->original = fcntl(stream, F_DUPFD_CLOEXEC, 3);
    // One that is closed leads nowhere; another failure would lose what is written.
    if (capture->original < 0 && errno != EBADF) {
        int code = errno;
        close(reading);
        close(writing);
        errno = code;
        return -1;
    }
    capture->reading = reading;
    atomic_store(&capture->is_moving, 0);
    fflush(stdout);
    while (dup2(writing, stream) < 0 && errno == EINTR) {}
    if (other >= 0) {
        while (dup2(writing, other) < 0 && errno == EINTR) {}
    }
    close(writing);
    return 0;
}

int cduplex_capture_begin(int stream, int other) {
    static bool is_registered = false;
    pthread_mutex_lock(&lock);
    int found = -1;
    for (int index = 0; index < capture_limit && found < 0; index++) {
        if (atomic_load(&captures[index].state) == 0) found = index;
    }
    if (found < 0) errno = EBUSY;
    bool is_first = active_count() == 0;
    if (found >= 0 && open_capture(&captures[found], stream, other) == 0) {
        atomic_store(&owner, getpid());
        if (is_first) install_handlers();
        atomic_store(&captures[found].state, 1);
        if (!is_registered) atexit(leave_at_exit);
        is_registered = true;
        setvbuf(stdout, NULL, _IOLBF, 0);
    } else {
        found = -1;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void cduplex_capture_end(int index) {
    pthread_mutex_lock(&lock);
    struct capture *capture = &captures[index];
    if (atomic_load(&capture->state) == 1) {
        fflush(stdout);
        restore(capture);
        atomic_store(&capture->state, 2);
        if (active_count() == 0) remove_handlers();
    }
    pthread_mutex_unlock(&lock);
}

bool cduplex_capture_is_drained(int index) {
    struct capture *capture = &captures[index];
    if (atomic_load(&capture->state) == 0) return true;
    int waiting = 0;
    // In this order: what is in the pipe no longer is with the reader.
    if (ioctl(capture->reading, FIONREAD, &waiting) != 0) return true;
    return waiting == 0 && !atomic_load(&capture->is_moving);
}

void cduplex_capture_close(int index) {
    pthread_mutex_lock(&lock);
    struct capture *capture = &captures[index];
    if (atomic_exchange(&capture->state, 0) != 0) {
        close(capture->reading);
        if (capture->original >= 0) close(capture->original);
    }
    pthread_mutex_unlock(&lock);
}

// MARK: Reading

void cduplex_capture_prepare_thread(void) {
    // No others: a crash's backtrace may be taken by a signal to each thread, and SIGPIPE of a reader that has gone ends the
    // process as it would have without us.
    sigset_t signals;
    sigemptyset(&signals);
    for (int index = 0; index < request_count; index++) sigaddset(&signals, requests[index]);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

ssize_t cduplex_capture_take(int index, void *bytes, size_t size, int milliseconds) {
    struct capture *capture = &captures[index];
    struct pollfd entry = {.fd = capture->reading, .events = POLLIN};
    int ready = poll(&entry, 1, milliseconds);
    if (ready <= 0) return -1;
    atomic_store(&capture->is_moving, 1);
    if (atomic_load(&is_leaving)) {
        atomic_store(&capture->is_moving, 0);
        return -2;
    }
    ssize_t count = read(capture->reading, bytes, size);
    if (count <= 0) {
        bool is_nothing = count < 0 && (errno == EAGAIN || errno == EINTR);
        atomic_store(&capture->is_moving, 0);
        return is_nothing ? -1 : 0;
    }
    if (capture->original >= 0) write_all(capture->original, bytes, (size_t)count, NULL);
    return count;
}

void cduplex_capture_done(int index) { atomic_store(&captures[index].is_moving, 0); }
