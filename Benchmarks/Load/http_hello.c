// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
//
// http_hello: answers every request with the same bytes, the limit that HTTP servers are compared with (epoll,
// level-triggered, one thread).
//
//   http_hello PORT     0 has the system choose; the port is printed once it is listened on
//
// A request is whatever ends in an empty line: nothing of it is read, and none has a body. The answers to all requests of
// one recv() leave by one send(); what a peer doesn't take at once is owed to it, as a number of bytes.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static const char answer[] =
    "HTTP/1.1 200 OK\r\n"
    "Content-Type: text/plain; charset=utf-8\r\n"
    "Content-Length: 13\r\n"
    "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
    "\r\n"
    "Hello, World!";
enum { LENGTH = sizeof answer - 1, BATCH = 512, BUFFER = 256 * 1024 };

struct conn {
    int fd, armed;
    int matched;           // how much of CR LF CR LF the last bytes were
    size_t owed;           // bytes of answers still to send
};
static int ep;
static char input[BUFFER], answers[BATCH * LENGTH];

static void arm(struct conn *c, int for_output) {
    if (c->armed == for_output) return;
    c->armed = for_output;
    struct epoll_event e = { .events = for_output ? EPOLLOUT : EPOLLIN, .data.ptr = c };   // no reading while output waits
    epoll_ctl(ep, EPOLL_CTL_MOD, c->fd, &e);
}
static void drop(struct conn *c) { close(c->fd); free(c); }

// How many requests end within the bytes.
static size_t requests(struct conn *c, const char *p, size_t n) {
    static const char end[] = "\r\n\r\n";
    size_t count = 0;
    // Nearly every request lies whole in one piece.
    if (c->matched == 0 && n >= 4 && !memcmp(p + n - 4, end, 4)) {
        for (const char *q = p; (q = memmem(q, (size_t)(p + n - q), end, 4)); q += 4) count++;
        return count;
    }
    for (size_t i = 0; i < n; i++) {
        if (p[i] == end[c->matched]) c->matched++; else c->matched = p[i] == '\r';
        if (c->matched == 4) { count++; c->matched = 0; }
    }
    return count;
}
// Sends what is owed; the answers repeat themselves, so where it goes on follows from how much is left.
static int settle(struct conn *c) {
    while (c->owed) {
        size_t skip = (LENGTH - c->owed % LENGTH) % LENGTH, most = sizeof answers - skip;
        ssize_t w = send(c->fd, answers + skip, c->owed < most ? c->owed : most, MSG_NOSIGNAL);
        if (w < 0 && errno == EINTR) continue;
        if (w < 0) return errno == EAGAIN ? 0 : -1;
        c->owed -= (size_t)w;
    }
    return 0;
}
static void ready(struct conn *c) {
    if (!c->armed) {
        ssize_t r = recv(c->fd, input, sizeof input, 0);
        if (r <= 0) { if (r == 0 || (errno != EAGAIN && errno != EINTR)) drop(c); return; }
        c->owed += requests(c, input, (size_t)r) * LENGTH;
    }
    if (settle(c)) drop(c); else arm(c, c->owed > 0);
}

int main(int argc, char **argv) {
    if (argc != 2) { fprintf(stderr, "usage: http_hello PORT\n"); return 2; }
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < BATCH; i++) memcpy(answers + i * LENGTH, answer, LENGTH);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (bind(listener, (void *)&a, sizeof a) || listen(listener, 4096)) { perror("listen"); return 1; }
    socklen_t length = sizeof a;
    getsockname(listener, (void *)&a, &length);
    printf("%d\n", ntohs(a.sin_port));
    fflush(stdout);
    ep = epoll_create1(0);
    struct epoll_event e = { .events = EPOLLIN, .data.ptr = NULL }, events[1024];
    epoll_ctl(ep, EPOLL_CTL_ADD, listener, &e);
    for (;;) {
        int n = epoll_wait(ep, events, 1024, -1);
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr) { ready(events[i].data.ptr); continue; }
            for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
                setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                struct conn *c = calloc(1, sizeof *c);
                if (!c) abort();
                c->fd = fd;
                struct epoll_event x = { .events = EPOLLIN, .data.ptr = c };
                epoll_ctl(ep, EPOLL_CTL_ADD, fd, &x);
            }
        }
    }
}
