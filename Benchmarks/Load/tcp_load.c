// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
//
// tcp_load: an echo load generator for stream sockets, plain or TLS (epoll, non-blocking, one thread) that shares no code
// with Duplex.
//
//   tcp_load [options] PORT
//     -H ADDR   IPv4 address (127.0.0.1)          -c N   connections, at one time (50)
//     -s BYTES  message size (32)                 -d N   messages in flight per connection (1; 0 = hold idle)
//     -T SEC    measured time (3)                 -w SEC warm-up before it (0.5)
//     -P PID    sample this server process: CPU over the measured time, peak RSS (VmHWM) at its end
//     -v N      compare every byte of 1 message in N (64; 1 = all). The first 32 bytes of each are always compared.
//     -b N      connect from 127.0.0.1 to 127.0.0.N in turn (0: as the system chooses), for more ports than one has
//     -j        one line of key=value output
//     --tls            TLS 1.3 over memory BIOs; the server's certificate isn't checked, no session is resumed
//     --connect-rate   counts connections instead of messages: connect, full handshake, one echo, reset (no TIME_WAIT),
//                      again, with -c of them at a time; -s is then the size of that echo (1)
//     --websocket PATH messages are binary WebSocket messages, behind an opening handshake (RFC 6455); with
//                      --connect-rate, a closing handshake follows the echo. Only what an echo needs: the accept value
//                      isn't checked (wsload does), and a ping is a fault, so that runs must end before the first
//     --pin CPU        run on that CPU only
//
// Each message starts with an 8-digit hex sequence number (size >= 8), so order, loss and duplication are seen. After the
// measured time nothing more is sent, and the outstanding echoes are awaited (at most 20 s) and checked. Of the connection
// rate each connection counts once its echo has come back: a client's connect() succeeds before the server has accepted,
// and its handshake is over before the server's is. Exit status 1 when anything was wrong.
//
// "msgs" are echoes completed in the measured time, "total" all of them; MB/s is payload, one direction. Latency runs from
// just before the send() that takes the message's first byte is called (TLS: before it is sealed) to the recv() that
// returned its last byte; of connections, from connect() to the last byte of the echo.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load.h"

static int o_conns = 50, o_depth = 1, o_check = 64, o_sources, o_line, o_pid, o_tls, o_rate, o_pin = -1;
static size_t o_size; static int o_sized;
static const char *o_websocket;
static double o_time = 3, o_warm = 0.5;
static struct sockaddr_in server = { .sin_family = AF_INET };

// ---- connections
enum { S_CONNECT, S_HANDSHAKE, S_UPGRADE, S_OPEN, S_CLOSING, S_DONE };
struct conn {
    int fd, st, want_out, full;
    SSL *ssl; BIO *in, *out;
    u8 *buf; size_t oo, ol, oc;              // pending output [oo, ol)
    u64 *ts; u32 ts_r, ts_n;                 // send times of messages in flight (ring of depth)
    u32 seq_tx, seq_rx;
    size_t pos;                              // bytes of the current echo that have come; of the upgrade's end
    u64 began;
};
static struct conn *cs;
static SSL_CTX *ctx;
static int ep, n_open, n_done, running, measuring;
static u8 *tmpl, *rb, *pb; static size_t rbcap = 512 * 1024;
static u8 *expected, *frame; static size_t headed, framed;   // an echo and its header's size; what is sent, and its
static u64 units, total, checked_full, errors;   // units: messages, or connections
static char first_error[512], negotiated[96] = "none";

static void end(struct conn *c) {
    if (c->ssl) SSL_free(c->ssl);
    c->ssl = NULL;
    if (c->fd >= 0) close(c->fd);
    c->fd = -1;
    if (c->st != S_DONE) { c->st = S_DONE; n_done++; }
}
static void fail(struct conn *c, const char *f, ...) {
    if (!errors++) {
        va_list a; va_start(a, f);
        int n = snprintf(first_error, sizeof first_error, "conn %d: ", (int)(c - cs));
        vsnprintf(first_error + n, sizeof first_error - (size_t)n, f, a); va_end(a);
    }
    end(c);
}
static void fail_tls(struct conn *c, const char *what) {
    char text[256] = "no reason given"; unsigned long code = ERR_get_error();
    if (code) ERR_error_string_n(code, text, sizeof text);
    ERR_clear_error();
    fail(c, "%s: %s", what, text);
}
static void hex8(u32 v, u8 *o) { for (int i = 7; i >= 0; i--) { o[i] = (u8)"0123456789abcdef"[v & 15]; v >>= 4; } }

static void want(struct conn *c, int w) {
    if (c->want_out == w) return;
    c->want_out = w;
    struct epoll_event e = { .events = EPOLLIN | (w ? EPOLLOUT : 0u), .data.ptr = c };
    epoll_ctl(ep, EPOLL_CTL_MOD, c->fd, &e);
}
static u8 *reserve(struct conn *c, size_t n) {
    if (c->oo == c->ol) c->oo = c->ol = 0;
    if (c->ol + n > c->oc) {
        if (c->oo) { memmove(c->buf, c->buf + c->oo, c->ol - c->oo); c->ol -= c->oo; c->oo = 0; }
        if (c->ol + n > c->oc) { c->oc = (c->ol + n) * 2; c->buf = realloc(c->buf, c->oc); if (!c->buf) abort(); }
    }
    return c->buf + c->ol;
}
static void put(struct conn *c, const u8 *p, size_t n) {
    if (c->ssl) {
        if (SSL_write(c->ssl, p, (int)n) != (int)n) fail_tls(c, "SSL_write");
    } else { memcpy(reserve(c, n), p, n); c->ol += n; }
}
static size_t header(u8 *h, size_t n, int mask) {   // of a binary message
    h[0] = 0x82;
    if (n < 126) { h[1] = (u8)(mask | (int)n); return 2; }
    int wide = n > 0xffff; size_t size = wide ? 10 : 4;
    h[1] = (u8)(mask | (wide ? 127 : 126));
    for (size_t i = 2; i < size; i++) h[i] = (u8)(n >> (8 * (size - 1 - i)));
    return size;
}
static void put_msg(struct conn *c) {
    if (o_size >= 8) hex8(c->seq_tx, tmpl);
    c->seq_tx++;
    if (!o_websocket) { put(c, tmpl, o_size); return; }
    static u32 key = 0x9E3779B9; key = key * 1664525 + 1013904223;
    size_t h = header(frame, o_size, 0x80), i = 0; u64 wide = (u64)key << 32 | key;
    memcpy(frame + h, &key, 4); h += 4;
    for (; i + 8 <= o_size; i += 8) { u64 v; memcpy(&v, tmpl + i, 8); v ^= wide; memcpy(frame + h + i, &v, 8); }
    for (; i < o_size; i++) frame[h + i] = tmpl[i] ^ (u8)(key >> (8 * (i & 3)));
    put(c, frame, framed);
}
static void upgrade(struct conn *c) {        // the key is that of RFC 6455 section 1.3
    char head[512];
    int n = snprintf(head, sizeof head, "GET %s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n", o_websocket);
    c->st = S_UPGRADE;
    put(c, (u8 *)head, (size_t)n);
}
static void opened(struct conn *c) {
    if (o_websocket) upgrade(c); else { c->st = S_OPEN; n_open++; }
}
static void flush_out(struct conn *c) {
    size_t sealed = c->ssl ? BIO_ctrl_pending(c->out) : 0;
    if (sealed) {
        int n = BIO_read(c->out, reserve(c, sealed), (int)sealed);
        if (n > 0) c->ol += (size_t)n;
    }
    while (c->oo < c->ol) {
        ssize_t w = send(c->fd, c->buf + c->oo, c->ol - c->oo, MSG_NOSIGNAL);
        if (w < 0) {
            if (errno == EAGAIN) { want(c, 1); return; }
            if (errno == EINTR) continue;
            fail(c, "send: %s", strerror(errno)); return;
        }
        c->oo += (size_t)w;
    }
    want(c, 0);
}
static void refill(struct conn *c) {         // top up to depth, then one send for all of them
    u32 depth = (u32)(o_rate ? 1 : o_depth);
    if (running && c->st == S_OPEN && c->ts_n < depth && !(o_rate && c->seq_tx)) {
        u64 t = now_ns();
        while (c->fd >= 0 && c->ts_n < depth) { c->ts[(c->ts_r + c->ts_n) % depth] = t; c->ts_n++; put_msg(c); }
    }
    if (c->fd >= 0 && !c->want_out) flush_out(c);
}

static void start(struct conn *c);
static void again(struct conn *c) {          // a connection of the connection rate is over
    struct linger reset = { 1, 0 };
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    if (measuring) { units++; hrec(now_ns() - c->began); }
    total++;
    n_open--;
    end(c);
    if (running) { n_done--; start(c); }
}

// Bytes of the answer to the upgrade: how many there are, 0 when it is wrong. Ends where the empty line does.
static size_t answer(struct conn *c, const u8 *p, size_t n) {
    static const char end_of_head[] = "\r\n\r\n";
    if (!c->full && n >= 12) {               // the first piece has the status in it
        if (memcmp(p, "HTTP/1.1 101", 12)) { fail(c, "not a 101: %.40s", (const char *)p); return 0; }
        c->full = 1;
    }
    size_t i = 0;
    while (i < n && c->pos < 4) { c->pos = p[i] == (u8)end_of_head[c->pos] ? c->pos + 1 : p[i] == '\r'; i++; }
    if (c->pos == 4) { c->st = S_OPEN; n_open++; c->pos = 0; }
    return i;
}
static int closed(struct conn *c, const u8 *p, size_t n) {   // the close frame that answers ours; 1 when it is over
    static const u8 frame_1000[] = { 0x88, 2, 3, 0xe8 };
    for (; n && c->pos < 4; p++, n--, c->pos++) if (*p != frame_1000[c->pos]) { fail(c, "not the close frame"); return 1; }
    if (c->pos < 4) return 0;
    again(c);
    return 1;
}
// Bytes of echoes; 1 when the connection is over.
static int body(struct conn *c, const u8 *p, size_t n, u64 t) {
    if (c->st == S_UPGRADE) {
        size_t k = answer(c, p, n);
        if (!k) return 1;
        p += k; n -= k;
    }
    if (c->st == S_CLOSING) return closed(c, p, n);
    while (n) {
        size_t size = headed + o_size, k = size - c->pos < n ? size - c->pos : n;
        size_t check = c->full ? k : c->pos < 32 ? (k < 32 - c->pos ? k : 32 - c->pos) : 0;
        if (!c->ts_n) { fail(c, "an echo nobody asked for"); return 1; }
        if (check) {
            if (o_size >= 8) hex8(c->seq_rx, expected + headed);
            if (memcmp(p, expected + c->pos, check)) { fail(c, "message %u differs near byte %zu", c->seq_rx, c->pos); return 1; }
        }
        c->pos += k; p += k; n -= k;
        if (c->pos < size) continue;
        u32 depth = (u32)(o_rate ? 1 : o_depth);
        u64 sent = c->ts[c->ts_r];
        c->pos = 0; c->ts_r = (c->ts_r + 1) % depth; c->ts_n--; c->seq_rx++;
        if (c->full) checked_full++;
        c->full = o_check <= 1 || c->seq_rx % (u32)o_check == 0;
        if (o_rate && o_websocket) {         // a masked close frame with code 1000
            c->st = S_CLOSING;
            put(c, (const u8 *)"\x88\x82\x11\x22\x33\x44\x12\xca", 8);
            return n ? closed(c, p, n) : 0;
        }
        if (o_rate) { again(c); return 1; }
        total++;
        if (measuring) { units++; hrec(t - sent); }
    }
    return 0;
}

// What the memory BIO holds; 1 when the connection is over.
static int unseal(struct conn *c, u64 t) {
    if (c->st == S_HANDSHAKE) {
        int r = SSL_do_handshake(c->ssl);
        if (r != 1) {
            if (SSL_get_error(c->ssl, r) == SSL_ERROR_WANT_READ) { flush_out(c); return c->fd < 0; }
            fail_tls(c, "handshake"); return 1;
        }
        if (SSL_session_reused(c->ssl)) { fail(c, "the session was resumed"); return 1; }
        if (negotiated[0] == 'n') snprintf(negotiated, sizeof negotiated, "%s/%s", SSL_get_version(c->ssl), SSL_get_cipher_name(c->ssl));
        opened(c);
    }
    int n;
    while ((n = SSL_read(c->ssl, pb, (int)rbcap)) > 0) if (body(c, pb, (size_t)n, t)) return 1;
    int why = SSL_get_error(c->ssl, n);
    if (why == SSL_ERROR_WANT_READ) return 0;
    if (why == SSL_ERROR_ZERO_RETURN) fail(c, "connection ended by the server"); else fail_tls(c, "SSL_read");
    return 1;
}
static void readable(struct conn *c) {
    for (;;) {
        ssize_t r = recv(c->fd, rb, rbcap, 0);
        if (r == 0) { fail(c, "connection ended by the server"); return; }
        if (r < 0) {
            if (errno == EAGAIN) return;
            if (errno == EINTR) continue;
            fail(c, "recv: %s", strerror(errno)); return;
        }
        u64 t = now_ns();
        if (c->ssl) {
            if (BIO_write(c->in, rb, (int)r) != r) { fail(c, "no memory"); return; }
            if (unseal(c, t)) return;
        } else if (body(c, rb, (size_t)r, t)) return;
        refill(c);
        if (c->fd < 0 || (size_t)r < rbcap) return;
    }
}
static void connected(struct conn *c) {
    int e = 0; socklen_t l = sizeof e;
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &e, &l);
    if (e) { fail(c, "connect: %s", strerror(e)); return; }
    if (o_tls) {
        c->ssl = SSL_new(ctx); c->in = BIO_new(BIO_s_mem()); c->out = BIO_new(BIO_s_mem());
        if (!c->ssl || !c->in || !c->out) abort();
        SSL_set_bio(c->ssl, c->in, c->out);
        SSL_set_tlsext_host_name(c->ssl, "localhost");
        SSL_set_connect_state(c->ssl);
        c->st = S_HANDSHAKE;
        unseal(c, 0);
    } else { opened(c); refill(c); }
    if (c->fd >= 0 && c->oo == c->ol) want(c, 0);
}
static void start(struct conn *c) {
    int one = 1;
    c->st = S_CONNECT; c->want_out = 1; c->full = !o_websocket; c->oo = c->ol = c->pos = 0; c->ts_r = c->ts_n = c->seq_tx = c->seq_rx = 0;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (c->fd < 0) { perror("socket"); exit(2); }
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (o_sources) {                         // the port is chosen at connect(), when the whole tuple is known
        struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + (u32)((c - cs) % o_sources)) };
        setsockopt(c->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
        if (bind(c->fd, (void *)&from, sizeof from)) { perror("bind"); exit(2); }
    }
    c->began = now_ns();
    if (connect(c->fd, (void *)&server, sizeof server) && errno != EINPROGRESS) { fail(c, "connect: %s", strerror(errno)); return; }
    struct epoll_event e = { .events = EPOLLIN | EPOLLOUT, .data.ptr = c };
    epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &e);
}

static void spin(u64 until, int (*stop)(void)) {
    struct epoll_event ev[512];
    for (;;) {
        u64 t = now_ns();
        if (t >= until || (stop && stop())) return;
        int n = epoll_wait(ep, ev, 512, (int)((until - t) / 1000000) + 1);
        for (int i = 0; i < n; i++) {
            struct conn *c = ev[i].data.ptr;
            if (c->fd < 0) continue;
            if (c->st == S_CONNECT) { if (ev[i].events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) connected(c); continue; }
            if (ev[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) { readable(c); if (c->fd < 0 || c->st == S_CONNECT) continue; }
            if (ev[i].events & EPOLLOUT) { flush_out(c); if (c->fd >= 0 && !c->want_out) refill(c); }
        }
    }
}
static int all_open(void) { return n_open + n_done >= o_conns; }
static int all_done(void) { return n_done >= o_conns; }
static int drained(void) {
    for (int i = 0; i < o_conns; i++) if (cs[i].fd >= 0 && (o_rate || cs[i].ts_n || cs[i].oo < cs[i].ol)) return 0;
    return 1;
}

static void usage(void) { fprintf(stderr, "usage: tcp_load [options] PORT (see the head of tcp_load.c)\n"); exit(2); }
static void options(int argc, char **argv) {
    static const struct option longs[] = { { "tls", 0, NULL, 1 }, { "connect-rate", 0, NULL, 2 }, { "pin", 1, NULL, 3 },
        { "websocket", 1, NULL, 4 }, { 0 } };
    int o;
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    while ((o = getopt_long(argc, argv, "H:c:s:d:T:w:P:v:b:j", longs, NULL)) != -1) switch (o) {
        case 'H': if (inet_pton(AF_INET, optarg, &server.sin_addr) != 1) usage(); break;
        case 'c': o_conns = atoi(optarg); break; case 's': o_size = strtoul(optarg, NULL, 10); o_sized = 1; break;
        case 'd': o_depth = atoi(optarg); break; case 'T': o_time = atof(optarg); break; case 'w': o_warm = atof(optarg); break;
        case 'P': o_pid = atoi(optarg); break; case 'v': o_check = atoi(optarg); break; case 'b': o_sources = atoi(optarg); break;
        case 'j': o_line = 1; break; case 1: o_tls = 1; break; case 2: o_rate = 1; break; case 3: o_pin = atoi(optarg); break;
        case 4: o_websocket = optarg; break;
        default: usage();
    }
    if (!o_sized) o_size = o_rate ? 1 : 32;
    if (optind + 1 != argc || o_conns < 1 || o_depth < 0 || o_size < 1 || o_size > 1 << 30) usage();
    server.sin_port = htons((uint16_t)atoi(argv[optind]));
}
static void prepare(void) {
    if (o_pin >= 0) {
        cpu_set_t set; CPU_ZERO(&set); CPU_SET((unsigned)o_pin, &set);
        if (sched_setaffinity(0, sizeof set, &set)) { perror("--pin"); exit(2); }
    }
    signal(SIGPIPE, SIG_IGN);
    if (o_tls) {
        ctx = SSL_CTX_new(TLS_client_method());
        if (!ctx || !SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION)) { ERR_print_errors_fp(stderr); exit(2); }
        SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    }
    tmpl = malloc(o_size + 8); rb = malloc(rbcap); pb = malloc(rbcap); cs = calloc((size_t)o_conns, sizeof *cs);
    if (!tmpl || !rb || !pb || !cs) { perror("malloc"); exit(2); }
    u64 x = now_ns() | 1;
    for (size_t i = 0; i < o_size; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; tmpl[i] = (u8)(x >> 33); }
    expected = malloc(o_size + 18); frame = malloc(o_size + 14);
    if (!expected || !frame) { perror("malloc"); exit(2); }
    if (o_websocket) { headed = header(expected, o_size, 0); framed = headed + 4 + o_size; }
    memcpy(expected + headed, tmpl, o_size);
    ep = epoll_create1(0);
}

struct figures { double secs, cpu, each, load, connect; long hwm, rss; };
static void print_line(struct figures f) {
    double rate = (double)units / f.secs;
    printf("conns=%d size=%zu depth=%d secs=%.3f %s=%llu total=%llu rate=%.0f mbps=%.1f ", o_conns, o_size, o_rate ? 1 : o_depth,
        f.secs, o_rate ? "connects" : "msgs", (unsigned long long)units, (unsigned long long)total, rate, rate * (double)o_size / 1e6);
    printf("p50_us=%.1f p90_us=%.1f p99_us=%.1f p999_us=%.1f max_us=%.1f mean_us=%.1f ", hq(.5), hq(.9), hq(.99), hq(.999),
        (double)hmax * 1e-3, hcount ? hsum / (double)hcount * 1e-3 : 0);
    printf("srv_cpu=%.1f %s=%.3f load_cpu=%.1f hwm_kb=%ld rss_kb=%ld connect_s=%.4f full_checked=%llu tls=%s errors=%llu%s%s\n", f.cpu,
        o_rate ? "srv_us_per_conn" : "srv_us_per_msg", f.each, f.load, f.hwm, f.rss, f.connect, (unsigned long long)checked_full,
        negotiated, (unsigned long long)errors, errors ? " first_error=" : "", first_error);
}
static void print_text(struct figures f) {
    const char *unit = o_rate ? "connection" : "message";
    double rate = (double)units / f.secs;
    printf("%d connections%s, %zu B, depth %d, TLS: %s, %.2f s\n", o_conns, o_rate ? " at a time" : "", o_size, o_rate ? 1 : o_depth, negotiated, f.secs);
    printf("  %.0f %ss/s", rate, unit);
    if (!o_rate) printf("   %.1f MB/s payload one way", rate * (double)o_size / 1e6);
    printf("   load generator CPU %.0f %%\n", f.load);
    if (hcount) printf("  latency us: p50 %.1f  p90 %.1f  p99 %.1f  p99.9 %.1f  max %.1f  mean %.1f\n", hq(.5), hq(.9), hq(.99), hq(.999), (double)hmax * 1e-3, hsum / (double)hcount * 1e-3);
    if (o_pid) printf("  server CPU %.0f %%  (%.3f us/%s)   peak RSS %.1f MiB, now %.1f MiB\n", f.cpu, f.each, unit, (double)f.hwm / 1024, (double)f.rss / 1024);
    printf("  %llu echoes checked (%llu in full), %llu errors%s%s\n", (unsigned long long)total, (unsigned long long)checked_full, (unsigned long long)errors, errors ? ": " : "", first_error);
}

int main(int argc, char **argv) {
    options(argc, argv);
    prepare();
    u64 t0 = now_ns();
    running = o_rate;                        // of messages, all connections begin together
    for (int i = 0; i < o_conns; i++) {
        cs[i].ts = malloc(sizeof(u64) * (size_t)(o_depth && !o_rate ? o_depth : 1));
        if (!cs[i].ts) abort();
        cs[i].fd = -1;
    }
    for (int i = 0; i < o_conns; i++) { start(&cs[i]); if ((i & 255) == 255) spin(now_ns() + 1000000, NULL); }
    if (!o_rate) spin(t0 + 20000000000ull, all_open);
    struct figures f = { .connect = (double)(now_ns() - t0) / 1e9 };
    if (errors || (!o_rate && n_open < o_conns)) { printf("FAILED: %d of %d connected; %s\n", n_open, o_conns, first_error); return 1; }
    running = o_rate || o_depth > 0;
    if (!o_rate) for (int i = 0; i < o_conns; i++) refill(&cs[i]);
    spin(now_ns() + (u64)(o_warm * 1e9), all_done);
    double c0 = proc_cpu(o_pid), s0 = self_cpu(); u64 m0 = now_ns();
    measuring = 1;
    spin(m0 + (u64)(o_time * 1e9), all_done);
    measuring = 0;
    f.secs = (double)(now_ns() - m0) / 1e9;
    double used = proc_cpu(o_pid) - c0;
    f.cpu = used / f.secs * 100; f.each = units ? used * 1e6 / (double)units : 0; f.load = (self_cpu() - s0) / f.secs * 100;
    f.hwm = proc_kb(o_pid, "VmHWM"); f.rss = proc_kb(o_pid, "VmRSS");
    running = 0;
    if (o_rate) for (int i = 0; i < o_conns; i++) if (cs[i].fd >= 0 && !cs[i].ts_n) end(&cs[i]);   // not asked for an echo yet
    spin(now_ns() + 20000000000ull, drained);
    u64 lost = 0;
    for (int i = 0; i < o_conns; i++) lost += cs[i].fd >= 0 ? cs[i].ts_n : 0;
    if (lost && !errors) { errors++; snprintf(first_error, sizeof first_error, "%llu echoes never came back", (unsigned long long)lost); }
    if (o_line) print_line(f); else print_text(f);
    return errors != 0;
}
