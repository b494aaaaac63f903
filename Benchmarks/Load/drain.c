// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
//
// drain: WebSockets that receive whatever comes and look at nothing of it (epoll, one thread). Prints "open" once all are, and
// lasts until it is ended.
//
//   drain [-c CONNECTIONS] [-p PATH] PORT
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static char buf[256 * 1024];

static void die(const char *what) { perror(what); exit(1); }

static int open_one(int port, const char *path, int i) {
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((unsigned short)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + (unsigned)(i % 4)) };
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    if (bind(fd, (void *)&from, sizeof from) || connect(fd, (void *)&to, sizeof to)) die("connect");
    char head[512];
    int n = snprintf(head, sizeof head, "GET %s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n", path);
    if (send(fd, head, (size_t)n, 0) != n) die("send");
    if (recv(fd, head, sizeof head, 0) < 12 || memcmp(head, "HTTP/1.1 101", 12)) die("no WebSocket");
    return fd;
}

int main(int argc, char **argv) {
    int count = 1000;
    const char *path = "/";
    for (int c; (c = getopt(argc, argv, "c:p:")) != -1;) switch (c) {
        case 'c': count = atoi(optarg); break;
        case 'p': path = optarg; break;
        default: return 64;
    }
    if (optind != argc - 1) return 64;
    int ep = epoll_create1(0);
    for (int i = 0; i < count; i++) {
        struct epoll_event e = { .events = EPOLLIN, .data.fd = open_one(atoi(argv[optind]), path, i) };
        if (epoll_ctl(ep, EPOLL_CTL_ADD, e.data.fd, &e)) die("epoll_ctl");
    }
    printf("open\n");
    fflush(stdout);
    for (struct epoll_event ev[1024];;) {
        int n = epoll_wait(ep, ev, 1024, -1);
        for (int i = 0; i < n; i++) if (recv(ev[i].data.fd, buf, sizeof buf, 0) <= 0) return 0;
    }
}
