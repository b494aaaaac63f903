// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// What Swift's modules leave out. Everywhere: the identity of the current task, giving memory back. Linux: epoll, netlink, eventfd, timerfd, getrandom,
// sendfile and accept4; the code that needs these is compiled on Linux only.

#ifndef CDUPLEX_SYSTEM_H
#define CDUPLEX_SYSTEM_H

#include "CDuplexCapture.h"
#include "CDuplexDatagrams.h"
#include "CDuplexFiles.h"
#include "CDuplexNetlink.h"
#include "CDuplexProcess.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Part of the binary interface of Swift's runtime: what the compiler calls where a program asks for the current task.
__attribute__((swiftcall)) void *swift_task_getCurrent(void);

/// The address of the task that the calling thread runs; 0 outside of tasks. What `withUnsafeCurrentTask` and `==` tell
/// through a thousand instructions.
static inline uintptr_t cduplex_current_task(void) { return (uintptr_t)swift_task_getCurrent(); }

/// Part of the same interface: what `isCancelled` of a task calls.
__attribute__((swiftcall)) bool swift_task_isCancelled(void *task);

/// Whether the task that the calling thread runs has been cancelled; false outside of tasks.
static inline bool cduplex_is_current_task_cancelled(void) {
    void *task = swift_task_getCurrent();
    return task != NULL && swift_task_isCancelled(task);
}

/// Gives the memory that the allocator holds and nobody has back to the system: malloc_trim(3), and what macOS has for it;
/// with other C libraries it does nothing.
void cduplex_return_memory(void);

/// The hash of a password by crypt(3), of the kind and with the salt that `setting` begins with, in memory of its own; takes
/// as long as that says. Returns 0, or the number of an error: ERANGE for a password that is too long, EINVAL or ENOSYS
/// for a kind that there isn't; macOS has none.
int cduplex_crypt(const char *password, const char *setting, char *hash, size_t size);

#if defined(__linux__)

#include <sys/random.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/// O_PATH of open(2), which Swift's module of glibc leaves out: a name for what is at a path, which isn't opened.
extern const int CDUPLEX_O_PATH;

/// openat2(2), for which glibc has no function: nothing outside of the folder is opened, whatever names and links lead there
/// (RESOLVE_BENEATH). With `only_cached` it gives EAGAIN where the kernel would have to ask the disk (RESOLVE_CACHED).
int cduplex_open_beneath(int folder, const char *path, int flags, bool only_cached);

/// accept4(2), which glibc declares only with _GNU_SOURCE.
int cduplex_accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);

/// sendfile(2) from that offset on; a socket whose peer is gone gives EPIPE and no signal, as with MSG_NOSIGNAL.
ssize_t cduplex_sendfile(int socket, int file, off_t offset, size_t count);

/// preadv2(2) with RWF_NOWAIT: reads what is in the page cache, and gives EAGAIN where that is nothing, EOPNOTSUPP where the
/// file system can't tell.
ssize_t cduplex_read_cached(int file, void *bytes, size_t count, off_t offset);

/// cachestat(2), for which glibc has no function: 1 if all pages of that part of a file are in the page cache, 0 if some aren't;
/// -1 where the kernel doesn't know the call, or this process may not ask.
int cduplex_is_in_cache(int file, uint64_t offset, uint64_t count);

/// Names the calling thread; 15 bytes at most.
void cduplex_name_thread(const char *name);

// The three calls of each message, made without being points at which a thread may be cancelled, as those of glibc are: that
// takes them some thirty instructions each, and nobody cancels threads here.

/// recv(2) without flags.
static inline ssize_t cduplex_receive(int descriptor, void *bytes, size_t count) {
    return syscall(SYS_recvfrom, descriptor, bytes, count, 0, NULL, NULL);
}

/// send(2).
static inline ssize_t cduplex_send(int descriptor, const void *bytes, size_t count, int flags) {
    return syscall(SYS_sendto, descriptor, bytes, count, flags, NULL, 0);
}

/// epoll_wait(2).
static inline int cduplex_epoll_wait(int poller, struct epoll_event *events, int count, int timeout) {
    return (int)syscall(SYS_epoll_pwait, poller, events, count, timeout, NULL, 0);
}

/// clock_gettime(2) of a clock that every kernel has, in nanoseconds. Here, since Swift would guard the stack of the caller for the
/// place that the time is written to, with some ten instructions.
static inline int64_t cduplex_nanoseconds(clockid_t clock) {
    struct timespec time = {0};
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/// The value that came with an event; the union inside epoll_event is packed, so Swift can't point into it.
static inline uint64_t cduplex_epoll_token(const struct epoll_event *event) { return event->data.u64; }

/// An event with its token set.
static inline struct epoll_event cduplex_epoll_event(uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data.u64 = token};
    return event;
}

#endif

#endif
