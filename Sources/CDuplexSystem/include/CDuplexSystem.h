// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// What Swift's libc modules leave out. Linux: epoll, eventfd, timerfd, getrandom and accept4. Elsewhere this header adds nothing: the code
// that needs these is compiled on Linux only.

#ifndef CDUPLEX_SYSTEM_H
#define CDUPLEX_SYSTEM_H

#if defined(__linux__)

#include <stdint.h>
#include <sys/random.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

/// accept4(2), which glibc declares only with _GNU_SOURCE.
int cduplex_accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);

/// Names the calling thread; 15 bytes at most.
void cduplex_name_thread(const char *name);

/// The value that came with an event; the union inside epoll_event is packed, so Swift can't point into it.
static inline uint64_t cduplex_epoll_token(const struct epoll_event *event) { return event->data.u64; }

/// An event with its token set.
static inline struct epoll_event cduplex_epoll_event(uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data.u64 = token};
    return event;
}

#endif

#endif
