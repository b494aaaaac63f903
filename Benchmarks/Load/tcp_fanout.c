// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
//
// tcp_fanout: sends what one connection has sent to all of them, itself included: the limit that broadcasts are compared
// with (epoll, level-triggered, one thread, one send for each connection).
//
//   tcp_fanout PORT     0 has the system choose; the port is printed once it is listened on
//
// The load awaits a message everywhere before it sends the next, so a peer that doesn't take one at once is a fault.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUF (256 * 1024)
static int fds[1 << 16], count;
static char buf[BUF];

static void leave(int fd) {
    for (int i = 0; i < count; i++) if (fds[i] == fd) { fds[i] = fds[--count]; break; }
    close(fd);
}

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
    int ep = epoll_create1(0);
    struct epoll_event e = { .events = EPOLLIN, .data.fd = ls }, ev[1024];
    epoll_ctl(ep, EPOLL_CTL_ADD, ls, &e);
    for (;;) {
        int n = epoll_wait(ep, ev, 1024, -1);
        for (int i = 0; i < n; i++) {
            int fd = ev[i].data.fd;
            if (fd == ls) {
                while ((fd = accept4(ls, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                    if (count == (int)(sizeof fds / sizeof *fds)) { close(fd); continue; }
                    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                    struct epoll_event x = { .events = EPOLLIN, .data.fd = fd };
                    epoll_ctl(ep, EPOLL_CTL_ADD, fd, &x);
                    fds[count++] = fd;
                }
                continue;
            }
            ssize_t r = recv(fd, buf, BUF, 0);
            if (r <= 0) { if (r == 0 || errno != EAGAIN) leave(fd); continue; }
            for (int k = 0; k < count; k++)
                if (send(fds[k], buf, (size_t)r, 0) != r) { perror("a peer took too little"); return 1; }
        }
    }
}
