// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
//
// tcp_echo: a raw TCP echo, the limit that the servers are compared with (epoll, level-triggered, one thread).
//
//   tcp_echo PORT     0 has the system choose; the port is printed once it is listened on
//
// All connections share one 256 KiB read buffer; what a peer doesn't take at once is kept for its connection.
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#include <unistd.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <errno.h>
#include <signal.h>

#define BUF (256 * 1024)
struct conn { int fd; int armed; char *out; size_t off, len, cap; };
static int ep;
static char buf[BUF];

static void arm(struct conn *c, int w) {
    if (c->armed == w) return;
    c->armed = w;
    struct epoll_event e = { .events = w ? EPOLLOUT : EPOLLIN, .data.ptr = c };   // backpressure: stop reading while output is pending
    epoll_ctl(ep, EPOLL_CTL_MOD, c->fd, &e);
}
static void drop(struct conn *c) { close(c->fd); free(c->out); free(c); }

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    signal(SIGPIPE, SIG_IGN);
    int ls = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
    setsockopt(ls, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (bind(ls, (void *)&a, sizeof a) || listen(ls, 4096)) { perror("listen"); return 1; }
    socklen_t length = sizeof a;
    getsockname(ls, (void *)&a, &length);
    printf("%d\n", ntohs(a.sin_port));
    fflush(stdout);
    ep = epoll_create1(0);
    struct epoll_event e = { .events = EPOLLIN, .data.ptr = NULL };
    epoll_ctl(ep, EPOLL_CTL_ADD, ls, &e);
    struct epoll_event ev[1024];
    for (;;) {
        int n = epoll_wait(ep, ev, 1024, -1);
        for (int i = 0; i < n; i++) {
            struct conn *c = ev[i].data.ptr;
            if (!c) {
                int fd;
                while ((fd = accept4(ls, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                    c = calloc(1, sizeof *c); c->fd = fd;
                    struct epoll_event x = { .events = EPOLLIN, .data.ptr = c };
                    epoll_ctl(ep, EPOLL_CTL_ADD, fd, &x);
                }
                continue;
            }
            if (c->armed) {
                ssize_t w = send(c->fd, c->out + c->off, c->len - c->off, 0);
                if (w < 0) { if (errno != EAGAIN) drop(c); continue; }
                c->off += (size_t)w;
                if (c->off == c->len) { c->off = c->len = 0; arm(c, 0); }
                continue;
            }
            ssize_t r = recv(c->fd, buf, BUF, 0);
            if (r <= 0) { if (r == 0 || errno != EAGAIN) drop(c); continue; }
            ssize_t w = send(c->fd, buf, (size_t)r, 0);
            if (w < 0) { if (errno != EAGAIN) { drop(c); continue; } w = 0; }
            if (w < r) {
                size_t left = (size_t)(r - w);
                if (c->cap < left) { c->out = realloc(c->out, left); c->cap = left; }
                memcpy(c->out, buf + w, left); c->off = 0; c->len = left; arm(c, 1);
            }
        }
    }
}
