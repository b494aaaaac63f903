// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
//
// fanout: the load of a broadcast (epoll, non-blocking, one thread): one connection sends a message, all get it, and when
// the last one has, the next is sent. Shares no code with Duplex.
//
// With -e the messages are server-sent events: a connection of its own asks for each (POST of -a, with the number of the
// event behind it), and all get it.
//
//   fanout [options] PORT
//     -c N      connections (10000)               -s BYTES  payload size, 8 or more (256)
//     -T SEC    measured time (3)                 -w SEC    warm-up before it (0.5)
//     -P PID    sample this server process: CPU over the measured time, RSS at its end
//     -b N      connect from 127.0.0.1 to 127.0.0.N in turn (4), for more ports than one address has
//     -p PATH   WebSocket, at this path; a stream otherwise, in which the very bytes of the server's frames are sent
//     -z        with permessage-deflate; what comes first of each delivery is inflated and compared with the message, all others are to
//               have the same bytes. A stream gets the frame that zlib makes of it at its level 1, which is about as long
//     -e        events instead, at -p PATH; the bytes of their chunks where it is a stream
//     -a PATH   what an event is asked for by (/publish/)
//     -x N      besides, so many connections that never receive (0)
//     -i USEC   the time from one message to the next (as soon as all have got the one before); a delivery is late by as much as
//               it comes behind that
//
// Every byte of every delivery is compared. Prints one line of key=value; exit status 1 when anything was wrong.
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
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

typedef uint8_t u8; typedef uint64_t u64;
struct conn { int fd; size_t pos; };

static int o_conns = 10000, o_sources = 4, o_pid, o_stalled, o_interval;
static size_t o_size = 256;
static double o_time = 3, o_warm = 0.5;
static int o_events, o_deflate, publisher = -1;
static const char *o_path, *o_publish = "/publish/";
static struct sockaddr_in server = { .sin_family = AF_INET };
static struct conn *cs;
static u8 *frame, *sent, *message, *packed, buf[256 * 1024];
static size_t framed, header_size, sent_size;
static int ep;
static u64 begun, delays[100000];             // when the message was sent; deliveries by their time in 10 us

static u64 now_ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec; }
static void die(const char *what) { fprintf(stderr, "fanout: %s (errno %d: %s)\n", what, errno, strerror(errno)); exit(1); }

static size_t header(u8 *h, size_t n, int mask) {   // of a binary message
    h[0] = o_deflate ? 0xc2 : 0x82;
    if (n < 126) { h[1] = (u8)(mask | (int)n); return 2; }
    int wide = n > 0xffff; size_t size = wide ? 10 : 4;
    h[1] = (u8)(mask | (wide ? 127 : 126));
    for (size_t i = 2; i < size; i++) h[i] = (u8)(n >> (8 * (size - 1 - i)));
    return size;
}
// An event in its chunk: its id is the number of the round, its data as many letters as were asked for.
static void compose_event(u64 round) {
    size_t size = 4 + 12 + 1 + 6 + o_size + 2;
    size_t at = (size_t)sprintf((char *)frame, "%zx\r\nid: %012llu\ndata: ", size, (unsigned long long)round);
    memset(frame + at, 'x', o_size);
    memcpy(frame + at + o_size, "\n\n\r\n", 4);
    framed = at + o_size + 4;
    if (!o_path) { memcpy(sent, frame, framed); sent_size = framed; return; }
    sent_size = (size_t)sprintf((char *)sent, "POST %s%012llu HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", o_publish, (unsigned long long)round);
}
static size_t deflate_message(void) {         // into packed, without the end that a sender takes off
    static z_stream z;
    if (!z.state && deflateInit2(&z, 1, Z_DEFLATED, -12, 8, Z_DEFAULT_STRATEGY) != Z_OK) die("deflateInit2");
    deflateReset(&z);
    z.next_in = message; z.avail_in = (uInt)o_size; z.next_out = packed; z.avail_out = (uInt)(o_size + 256);
    if (deflate(&z, Z_SYNC_FLUSH) != Z_OK || !z.avail_out) die("deflate");
    return o_size + 256 - z.avail_out - 4;
}
// Whether that many bytes are the message, compressed without reference to others.
static int is_message(const u8 *bytes, size_t n) {
    static z_stream z; static const u8 end[4] = { 0, 0, 0xff, 0xff };
    if (!z.state && inflateInit2(&z, -15) != Z_OK) die("inflateInit2");
    inflateReset(&z);
    z.next_out = buf; z.avail_out = (uInt)(o_size + 1);
    for (int i = 0; i < 2; i++) {
        z.next_in = (Bytef *)(i ? end : bytes); z.avail_in = (uInt)(i ? 4 : n);
        int r = inflate(&z, Z_SYNC_FLUSH);
        if (r != Z_OK && r != Z_BUF_ERROR) return 0;
    }
    return z.avail_out == 1 && !memcmp(buf, message, o_size);
}
static void compose_deflated(u64 round) {
    for (int i = 0; i < 8; i++) message[i] = (u8)(round >> (8 * i));
    size_t n = deflate_message(), h = header(sent, n, o_path ? 0x80 : 0);
    // A mask of zeros changes nothing.
    if (o_path) { memset(sent + h, 0, 4); h += 4; }
    memcpy(sent + h, packed, n);
    sent_size = h + n;
    if (!o_path) { memcpy(frame, sent, sent_size); framed = sent_size; }
}
static void receive_first(u8 *to, size_t n) { // at the connection that has sent the message
    for (size_t got = 0; got < n;) {
        ssize_t r = recv(cs[0].fd, to + got, n - got, 0);
        if (r <= 0 && errno == EINTR) continue;
        if (r <= 0) die("the message didn't come back to its sender");
        got += (size_t)r;
    }
}
static void learn(void) {                    // the frame that all others are to get
    receive_first(frame, 2);
    size_t h = (frame[1] & 127) == 126 ? 4 : (frame[1] & 127) == 127 ? 10 : 2, n = frame[1] & 127;
    if (frame[0] != 0xc2 || frame[1] & 0x80) die("no compressed message in one frame");
    receive_first(frame + 2, h - 2);
    if (h > 2) { n = 0; for (size_t i = 2; i < h; i++) n = n << 8 | frame[i]; }
    if (n > o_size + 64) die("a compressed message that is longer than it was");
    receive_first(frame + h, n);
    framed = h + n;
    if (!is_message(frame + h, n)) die("a delivery differs");
}
static void delivered(void) {
    u64 delay = (now_ns() - begun) / 10000;
    delays[delay < 100000 ? delay : 99999]++;
}
static void compose(u64 round) {             // the frame that the server sends, and what has it send that
    if (o_events) { compose_event(round); return; }
    if (o_deflate) { compose_deflated(round); return; }
    for (int i = 0; i < 8; i++) frame[header_size + (size_t)i] = (u8)(round >> (8 * i));
    if (!o_path) { memcpy(sent, frame, framed); sent_size = framed; return; }
    size_t h = header(sent, o_size, 0x80);
    static const u8 key[4] = { 0x37, 0xfa, 0x21, 0x3d };
    memcpy(sent + h, key, 4); h += 4;
    for (size_t i = 0; i < o_size; i++) sent[h + i] = frame[header_size + i] ^ key[i & 3];
    sent_size = h + o_size;
}
static void publish(void) {
    // The answers to the requests aren't looked at: what they have caused is.
    if (publisher >= 0) while (recv(publisher, buf, sizeof buf, MSG_DONTWAIT) > 0) {}
    for (size_t at = 0; at < sent_size;) {
        ssize_t w = send(publisher >= 0 ? publisher : cs[0].fd, sent + at, sent_size - at, MSG_NOSIGNAL);
        if (w < 0) { if (errno == EAGAIN || errno == EINTR) continue; die("send"); }
        at += (size_t)w;
    }
}
static void await_all(void) {                // the current message, everywhere
    struct epoll_event ev[1024];
    u64 deadline = now_ns() + 20000000000ull;
    int left = o_conns;
    if (o_deflate && o_path) { learn(); delivered(); left--; }
    while (left) {
        int n = epoll_wait(ep, ev, 1024, 1000);
        if (now_ns() > deadline) die("a message didn't come to all of them within 20 seconds");
        for (int i = 0; i < n; i++) {
            struct conn *c = ev[i].data.ptr;
            ssize_t r = recv(c->fd, buf, sizeof buf, 0);
            if (r < 0 && (errno == EAGAIN || errno == EINTR)) continue;
            if (r <= 0) die("a connection was ended by the server");
            if ((size_t)r > framed - c->pos || memcmp(buf, frame + c->pos, (size_t)r)) die("a delivery differs");
            c->pos += (size_t)r;
            if (c->pos == framed) { delivered(); c->pos = 0; left--; }
        }
    }
}
static int connect_one(int i) {
    int one = 1;
    struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)(i % o_sources)) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0) die("socket");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    if (bind(fd, (void *)&from, sizeof from) || connect(fd, (void *)&server, sizeof server)) die("connect");
    return fd;
}
static void read_to(int fd, char *text, size_t size, const char *end, const char *failure) {
    size_t got = 0, length = strlen(end);
    while (got < length || memcmp(text + got - length, end, length)) {
        ssize_t r = got < size ? recv(fd, text + got, 1, 0) : 0;
        if (r <= 0) die(failure);
        got += (size_t)r;
    }
    text[got < size ? got : size - 1] = 0;
}
static void ask(int fd) {                    // for a WebSocket, or for events
    char head[512];
    int n = snprintf(head, sizeof head, o_events ? "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"
        : "GET %s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%s\r\n", o_path,
        o_deflate ? "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n" : "");
    if (send(fd, head, (size_t)n, MSG_NOSIGNAL) != n) die("send");
    read_to(fd, head, sizeof head, "\r\n\r\n", "no end of the head");
    if (memcmp(head, o_events ? "HTTP/1.1 200" : "HTTP/1.1 101", 12)) die("neither 101 nor 200");
    if (o_deflate && !strcasestr(head, "permessage-deflate")) die("permessage-deflate wasn't accepted");
    // The stream begins with the id behind which the client would come back.
    if (o_events) read_to(fd, head, sizeof head, "\n\n\r\n", "no id at the beginning");
}
static void open_all(void) {
    for (int i = 0; i < o_conns; i++) {
        cs[i].fd = connect_one(i);
        if (o_path) ask(cs[i].fd);
        struct epoll_event e = { .events = EPOLLIN, .data.ptr = &cs[i] };
        if (epoll_ctl(ep, EPOLL_CTL_ADD, cs[i].fd, &e)) die("epoll_ctl");
    }
    if (o_events && o_path) publisher = connect_one(0);
    for (int i = 0; i < o_stalled; i++) { int fd = connect_one(i); if (o_path) ask(fd); }
}
static double proc_cpu(int pid) {
    clockid_t clock; struct timespec t;
    if (!pid || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t)) return 0;
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static u64 rounds_until(u64 end) {
    static u64 round;
    u64 count = 0;
    // Ids are those of one feed, also when this runs again.
    if (o_events && !round) round = now_ns() / 1000;
    memset(delays, 0, sizeof delays);
    for (u64 next = now_ns(); now_ns() < end; count++) {
        while (now_ns() < next) {}
        next += (u64)o_interval * 1000;
        compose(++round); begun = now_ns(); publish(); await_all();
    }
    return count;
}

static void make_message(void) {             // like JSON
    message = malloc(o_size + 64); packed = malloc(o_size + 256);
    if (!message || !packed) die("no memory");
    unsigned seed = 1;
    for (size_t at = 0; at < o_size;) {
        char text[80];
        seed = seed * 1664525 + 1013904223;
        int n = snprintf(text, sizeof text, "{\"id\":%u,\"name\":\"user%u\",\"price\":%u.%02u,\"ok\":true},", seed >> 12, seed >> 18, seed >> 22, seed >> 26);
        for (int i = 0; i < n && at < o_size; i++) message[at++] = (u8)text[i];
    }
}

static double delay_us(double share) {       // within which so many deliveries were
    u64 all = 0, sum = 0; size_t i = 0;
    for (size_t k = 0; k < 100000; k++) all += delays[k];
    while (i < 99999 && (double)(sum += delays[i]) < share * (double)all) i++;
    return (double)(i + 1) * 10;
}

int main(int argc, char **argv) {
    for (int c; (c = getopt(argc, argv, "c:s:T:w:P:b:p:eza:x:i:")) != -1;) switch (c) {
        case 'c': o_conns = atoi(optarg); break; case 's': o_size = (size_t)atol(optarg); break;
        case 'T': o_time = atof(optarg); break; case 'w': o_warm = atof(optarg); break;
        case 'P': o_pid = atoi(optarg); break; case 'b': o_sources = atoi(optarg); break;
        case 'p': o_path = optarg; break; case 'e': o_events = 1; break; case 'z': o_deflate = 1; break; case 'a': o_publish = optarg; break;
        case 'x': o_stalled = atoi(optarg); break; case 'i': o_interval = atoi(optarg); break; default: return 64;
    }
    if (optind != argc - 1 || o_conns < 1 || o_sources < 1 || strlen(o_publish) > 256 || o_size < 8 || o_size > 1 << 20
        || (o_deflate && (o_events || o_size >= sizeof buf))) return 64;
    server.sin_port = htons((uint16_t)atoi(argv[optind])); server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ep = epoll_create1(0); cs = calloc((size_t)o_conns, sizeof *cs);
    frame = malloc(o_size + 256); sent = malloc(o_size + 1024);
    if (ep < 0 || !cs || !frame || !sent) die("no memory");
    header_size = header(frame, o_size, 0); framed = header_size + o_size;
    if (o_deflate) make_message();
    else if (!o_events) for (size_t i = 0; i < o_size; i++) frame[header_size + i] = (u8)(i * 7);
    open_all();
    struct timeval patience = { .tv_sec = 20 };
    setsockopt(cs[0].fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    rounds_until(now_ns() + (u64)(o_warm * 1e9));
    double cpu = proc_cpu(o_pid); u64 began = now_ns();
    u64 deliveries = rounds_until(began + (u64)(o_time * 1e9)) * (u64)o_conns;
    double seconds = (double)(now_ns() - began) / 1e9, used = proc_cpu(o_pid) - cpu;
    printf("conns=%d size=%zu secs=%.3f msgs=%llu rate=%.0f srv_cpu=%.1f srv_us_per_msg=%.4f p50_us=%.0f p99_us=%.0f\n", o_conns, o_size, seconds,
        (unsigned long long)deliveries, (double)deliveries / seconds, used / seconds * 100, deliveries ? used * 1e6 / (double)deliveries : 0,
        delay_us(0.5), delay_us(0.99));
    return 0;
}
