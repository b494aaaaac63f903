// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
//
// crowd: WebSockets that are open and do nothing by themselves (epoll, non-blocking, one thread): they answer pings and closing
// handshakes, and take what comes. Shares no code with Duplex.
//
//   crowd [options] PORT
//     -c N      connections (1000)                -b N   connect from 127.0.0.1 to 127.0.0.N in turn (16)
//     -p PATH   request path (/)                  -w N   so many are being opened at a time (256)
//
// Prints a line of key=value each time that all have come to something: "open", "pings", "messages", "closes", each with the seconds
// from the first to the last. Lasts until all are closed, or until it is ended. A frame that no server may send ends it with status 1.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef uint8_t u8; typedef uint64_t u64;
enum { CONNECTING, ASKED, OPEN };
struct conn { int fd; u8 state, held; u8 bytes[126 + 2]; };
struct round { const char *name; u64 begun; int count; };

static int o_conns = 1000, o_sources = 16, o_window = 256, ep, begun, opening, left;
static const char *o_path = "/";
static struct sockaddr_in server = { .sin_family = AF_INET };
static struct conn *cs;
static struct round opens = { "open", 0, 0 }, pings = { "pings", 0, 0 }, messages = { "messages", 0, 0 }, closes = { "closes", 0, 0 };

static u64 now_ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec; }
static void die(const char *what) { fprintf(stderr, "crowd: %s (errno %d: %s)\n", what, errno, strerror(errno)); exit(1); }

static void came(struct round *r) {
    if (!r->begun) r->begun = now_ns();
    if (++r->count < o_conns) return;
    printf("%s conns=%d secs=%.6f\n", r->name, o_conns, (double)(now_ns() - r->begun) / 1e9);
    fflush(stdout);
    r->begun = 0; r->count = 0;
}
static void send_all(struct conn *c, const void *bytes, size_t n) {
    // So little always has room: each waits for the answer to the one before.
    if (send(c->fd, bytes, n, MSG_NOSIGNAL) != (ssize_t)n) die("send");
}
static void watch(struct conn *c, uint32_t what, int how) {
    struct epoll_event e = { .events = what, .data.ptr = c };
    if (epoll_ctl(ep, how, c->fd, &e)) die("epoll_ctl");
}
static void begin(struct conn *c, int i) {
    int one = 1;
    struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)(i % o_sources)) };
    if ((c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) < 0) die("socket");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(c->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    if (bind(c->fd, (void *)&from, sizeof from)) die("bind");
    if (connect(c->fd, (void *)&server, sizeof server) && errno != EINPROGRESS) die("connect");
    watch(c, EPOLLOUT, EPOLL_CTL_ADD);
    opening++;
}
static void open_more(void) {
    while (begun < o_conns && opening < o_window) { begin(&cs[begun], begun); begun++; }
}
static void ask(struct conn *c) {
    char head[512];
    int n = snprintf(head, sizeof head, "GET %s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n", o_path);
    int error = 0; socklen_t size = sizeof error;
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error) { errno = error; die("connect"); }
    send_all(c, head, (size_t)n);
    c->state = ASKED;
    watch(c, EPOLLIN, EPOLL_CTL_MOD);
}
static void answer(struct conn *c, u8 opcode, const u8 *payload, size_t n) {
    u8 frame[6 + 125] = { (u8)(0x80 | opcode), (u8)(0x80 | n) };      // a mask of zeros changes nothing
    memcpy(frame + 6, payload, n);
    send_all(c, frame, 6 + n);
}
// One frame at the beginning of what is held; its length, or 0 where it isn't all there.
static size_t frame(struct conn *c, const u8 *b, size_t n) {
    if (n < 2) return 0;
    size_t size = b[1];
    if (size > 125 || !(b[0] & 0x80) || b[0] & 0x70) die("a frame that is masked, long or in pieces");
    if (n < 2 + size) return 0;
    switch (b[0] & 15) {
        case 1: case 2: came(&messages); break;
        case 8: answer(c, 8, b + 2, size < 2 ? size : 2); came(&closes); break;
        case 9: answer(c, 10, b + 2, size); came(&pings); break;
        default: die("an opcode that no server sends here");
    }
    return 2 + size;
}
static void ended(struct conn *c) { close(c->fd); c->fd = -1; left--; }
static void read_head(struct conn *c) {
    char head[2048];
    // A head comes at once; behind it nothing comes by itself.
    ssize_t n = recv(c->fd, head, sizeof head - 1, 0);
    if (n < 12 || memcmp(head, "HTTP/1.1 101", 12) || memcmp(head + n - 4, "\r\n\r\n", 4)) die("no 101, or not at once");
    c->state = OPEN;
    opening--;
    came(&opens);
    open_more();
}
static void readable(struct conn *c) {
    static u8 buf[64 * 1024];
    if (c->state == ASKED) { read_head(c); return; }
    memcpy(buf, c->bytes, c->held);
    ssize_t r = recv(c->fd, buf + c->held, sizeof buf - c->held, 0);
    if (r < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (r <= 0) { ended(c); return; }
    size_t n = (size_t)r + c->held, at = 0, size;
    while ((size = frame(c, buf + at, n - at))) at += size;
    c->held = (u8)(n - at);
    memcpy(c->bytes, buf + at, n - at);
}

int main(int argc, char **argv) {
    for (int c; (c = getopt(argc, argv, "c:b:p:w:")) != -1;) switch (c) {
        case 'c': o_conns = atoi(optarg); break; case 'b': o_sources = atoi(optarg); break;
        case 'p': o_path = optarg; break; case 'w': o_window = atoi(optarg); break; default: return 64;
    }
    if (optind != argc - 1 || o_conns < 1 || o_sources < 1 || o_window < 1 || strlen(o_path) > 256) return 64;
    server.sin_port = htons((uint16_t)atoi(argv[optind])); server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if ((ep = epoll_create1(0)) < 0 || !(cs = calloc((size_t)o_conns, sizeof *cs))) die("no memory");
    left = o_conns;
    opens.begun = now_ns();
    open_more();
    for (struct epoll_event ev[1024]; left;) {
        int n = epoll_wait(ep, ev, 1024, -1);
        for (int i = 0; i < n; i++) {
            struct conn *c = ev[i].data.ptr;
            if (c->fd < 0) continue;
            if (c->state == CONNECTING) ask(c); else readable(c);
        }
    }
    return 0;
}
