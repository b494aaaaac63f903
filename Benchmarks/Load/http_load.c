// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
//
// http_load: a load of requests over connections that stay open (epoll, non-blocking, one thread), which shares no code
// with Duplex.
//
//   http_load [options] PORT
//     -H ADDR   IPv4 address (127.0.0.1)          -c N   connections (50)
//     -p PATH   what is asked for (/hello)        -d N   requests in flight per connection, pipelined (1)
//     -B TEXT   the body of each response ("Hello, World!")
//     -s BYTES  instead: bodies of that size, all the same; the first, asked for alone, is what the others are compared with
//     -z BYTES  as -s, in gzip: what the first inflates to has that size
//     -u BYTES  POST with a body of that size instead of GET
//     -R        PUT it instead, over what is there: each response is 204, without a body
//     -t        over TLS 1.3 with AES-256-GCM; the server's certificate isn't checked, no session is resumed
//     -T SEC    measured time (3)                 -w SEC warm-up before it (0.5)
//     -P PID    sample this server process: CPU over the measured time, peak RSS (VmHWM) at its end
//     -j        one line of key=value output
//
// Every response is checked: its status line, its framing, its coding, and its whole body; a byte more or less is a fault,
// since the next response then begins with another one. After the measured time nothing more is asked, and the outstanding
// responses are awaited (at most 20 s) and checked. Exit status 1 when anything was wrong. Needs zlib and OpenSSL
// (-lz -lssl -lcrypto).
//
// "msgs" are responses completed in the measured time, "total" all of them. Latency runs from just before the send() of
// the request is called to the recv() that returned the response's last byte.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "load.h"

static int o_conns = 50, o_depth = 1, o_line, o_pid, o_port, o_put, o_tls;
static double o_time = 3, o_warm = 0.5;
static size_t o_size, o_plain, o_upload;
static const char *o_host = "127.0.0.1", *o_path = "/hello", *o_body = "Hello, World!";

// ---- connections
enum { S_CONNECT, S_HANDSHAKE, S_OPEN, S_DONE };
enum { AT_HEAD, IN_BODY, AT_CHUNK, BEHIND_CHUNK, AT_END };
enum { HEAD = 4096 };
struct conn {
    int fd, st, want_out;
    SSL *ssl;
    size_t owed;                             // bytes of requests still to send
    u64 *ts; u32 ts_r, ts_n;                 // send times of requests in flight (ring of depth)
    char in[HEAD + 1]; size_t il;            // a head, or a line of a chunk, that hasn't come whole
    char head[HEAD]; size_t hl;              // the last head that was checked: the next is often the same
    int is_chunked; size_t length;           // what it says of the body
    int at; size_t left, got;                // where in a response; what is left of the body or its chunk; what has come of it
};
static struct conn *cs;
static SSL_CTX *ctx;
static int ep, n_open, n_done, running, measuring;
static char *requests; static size_t request_size;   // one for each in flight
static char *body; static size_t body_size;          // of each response, coded as it comes
static int learning;                                 // the first response says what it is
static u64 msgs, total, errors;
static char first_error[512];
static char rb[512 * 1024];

static void fail(struct conn *c, const char *f, ...) {
    if (!errors++) { va_list a; va_start(a, f); int n = snprintf(first_error, sizeof first_error, "conn %d: ", (int)(c - cs)); vsnprintf(first_error + n, sizeof first_error - (size_t)n, f, a); va_end(a); }
    if (c->fd >= 0) { SSL_free(c->ssl); c->ssl = NULL; close(c->fd); c->fd = -1; }
    if (c->st != S_DONE) { c->st = S_DONE; n_done++; }
}
static void want(struct conn *c, int w) {
    if (c->want_out == w) return;
    c->want_out = w;
    struct epoll_event e = { .events = EPOLLIN | (w ? EPOLLOUT : 0), .data.ptr = c };
    epoll_ctl(ep, EPOLL_CTL_MOD, c->fd, &e);
}
// A failed call of OpenSSL, told as recv() and send() tell it.
static ssize_t failed_tls(struct conn *c) {
    int why = SSL_get_error(c->ssl, 0);
    if (why == SSL_ERROR_ZERO_RETURN) return 0;
    errno = why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? EAGAIN : EPROTO;
    return -1;
}
// As recv(), of all records that have come.
static ssize_t get(struct conn *c, char *p, size_t n) {
    if (!c->ssl) return recv(c->fd, p, n, 0);
    size_t all = 0, some;
    ERR_clear_error();
    while (all < n && SSL_read_ex(c->ssl, p + all, n - all, &some)) all += some;
    return all ? (ssize_t)all : failed_tls(c);
}
// As send().
static ssize_t put(struct conn *c, const char *p, size_t n) {
    if (!c->ssl) return send(c->fd, p, n, MSG_NOSIGNAL);
    size_t some;
    ERR_clear_error();
    return SSL_write_ex(c->ssl, p, n, &some) ? (ssize_t)some : failed_tls(c);
}
// The requests are all the same, so where a send goes on follows from how much is left.
static void flush_out(struct conn *c) {
    while (c->owed) {
        size_t skip = (request_size - c->owed % request_size) % request_size, most = request_size * (size_t)o_depth - skip;
        ssize_t w = put(c, requests + skip, c->owed < most ? c->owed : most);
        if (w < 0) { if (errno == EAGAIN) { want(c, 1); return; } if (errno == EINTR) continue; fail(c, "send: %s", strerror(errno)); return; }
        c->owed -= (size_t)w;
    }
    want(c, 0);
}
static void refill(struct conn *c) {         // top up to depth, then one send for all of them
    if (running && c->ts_n < (u32)o_depth) {
        u64 t = now_ns();
        for (; c->ts_n < (u32)o_depth; c->ts_n++) { c->ts[(c->ts_r + c->ts_n) % (u32)o_depth] = t; c->owed += request_size; }
    }
    if (c->owed && !c->want_out) flush_out(c);
}

// Checks a head, which ends in an empty line. Most servers send a Date, so that it differs once in a second.
static int check_head(struct conn *c, const char *p, size_t n) {
    if (n == c->hl && !memcmp(p, c->head, n)) return 0;
    if (n >= HEAD) { fail(c, "a head of %zu bytes", n); return -1; }
    memcpy(c->head, p, n); c->head[n - 2] = 0; c->hl = 0;
    const char *status = o_put ? "HTTP/1.1 204 " : "HTTP/1.1 200 ";
    if (strncmp(c->head, status, 13)) { fail(c, "not %s: %.40s", status, c->head); return -1; }
    int lengths = 0, chunks = 0, coded = 0;
    for (const char *l = strstr(c->head, "\r\n"); l && l[2]; l = strstr(l + 2, "\r\n")) {
        if (!strncasecmp(l + 2, "Connection: close", 17)) { fail(c, "the server wants to close"); return -1; }
        if (!strncasecmp(l + 2, "Transfer-Encoding: chunked\r\n", 28)) chunks++;
        if (!strncasecmp(l + 2, "Content-Encoding: gzip\r\n", 24)) coded++;
        if (strncasecmp(l + 2, "Content-Length:", 15)) continue;
        char *end; c->length = strtoul(l + 17, &end, 10); lengths++;
        if (strncmp(end, "\r\n", 2)) { fail(c, "a Content-Length that isn't a number"); return -1; }
        if (!learning && c->length != body_size) { fail(c, "Content-Length: %zu, want %zu", c->length, body_size); return -1; }
    }
    if (lengths + chunks != !o_put) { fail(c, "%d Content-Length fields, %d times chunked", lengths, chunks); return -1; }
    if (coded != (o_plain > 0)) { fail(c, coded ? "in gzip, unasked" : "not in gzip"); return -1; }
    c->is_chunked = chunks;
    memcpy(c->head, p, n); c->hl = n;
    return 0;
}
// Compares a piece of a body.
static int check_body(struct conn *c, const char *p, size_t n) {
    if (learning) {
        body = realloc(body, c->got + n);
        if (!body) abort();
        memcpy(body + c->got, p, n); body_size = c->got + n;
    } else if (c->got + n > body_size || memcmp(p, body + c->got, n)) { fail(c, "another body at byte %zu", c->got); return -1; }
    c->got += n; c->left -= n;
    return 0;
}
static int finish(struct conn *c, u64 t) {
    if (c->got != body_size) { fail(c, "a body of %zu bytes, want %zu", c->got, body_size); return -1; }
    if (!c->ts_n) { fail(c, "a response nobody asked for"); return -1; }
    if (measuring) { msgs++; hrec(t - c->ts[c->ts_r]); }
    total++; c->ts_r = (c->ts_r + 1) % (u32)o_depth; c->ts_n--;
    c->at = AT_HEAD; c->got = 0;
    return 0;
}
// Takes what has come, except for a head or a line without an end; returns how many bytes; -1 after a fault.
static ssize_t take(struct conn *c, const char *p, size_t n, u64 t) {
    size_t at = 0;
    for (;;) {
        const char *q = p + at, *end;
        size_t rest = n - at;
        switch (c->at) {
        case AT_HEAD:
            if (!(end = memmem(q, rest, "\r\n\r\n", 4))) return (ssize_t)at;
            if (check_head(c, q, (size_t)(end + 4 - q))) return -1;
            at += (size_t)(end + 4 - q);
            c->at = c->is_chunked ? AT_CHUNK : IN_BODY; c->left = c->length;
            break;
        case IN_BODY:
            if (!rest && c->left) return (ssize_t)at;
            if (rest > c->left) rest = c->left;
            if (check_body(c, q, rest)) return -1;
            at += rest;
            if (c->left) break;
            if (c->is_chunked) c->at = BEHIND_CHUNK; else if (finish(c, t)) return -1;
            break;
        case AT_CHUNK: {
            if (!(end = memmem(q, rest, "\r\n", 2))) return (ssize_t)at;
            char *digits; c->left = strtoul(q, &digits, 16);
            if (digits == q || digits != end) { fail(c, "a chunk without a size"); return -1; }
            at += (size_t)(end + 2 - q);
            c->at = c->left ? IN_BODY : AT_END;
            break;
        }
        default:
            if (rest < 2) return (ssize_t)at;
            if (memcmp(q, "\r\n", 2)) { fail(c, "a chunk, or the last of them, doesn't end"); return -1; }
            at += 2;
            if (c->at == BEHIND_CHUNK) c->at = AT_CHUNK; else if (finish(c, t)) return -1;
        }
    }
}
static void readable(struct conn *c) {
    // What is left of the last piece comes first.
    memcpy(rb, c->in, c->il);
    ssize_t r = get(c, rb + c->il, sizeof rb - c->il - 1);
    if (r == 0) { fail(c, "connection ended by the server"); return; }
    if (r < 0) { if (errno != EAGAIN && errno != EINTR) fail(c, "recv: %s", strerror(errno)); return; }
    size_t n = c->il + (size_t)r; rb[n] = 0;
    ssize_t used = take(c, rb, n, now_ns());
    if (used < 0) return;
    c->il = n - (size_t)used;
    if (c->il > HEAD) { fail(c, "a head that doesn't end"); return; }
    memcpy(c->in, rb + used, c->il);
    refill(c);
}
static void opened(struct conn *c) { c->st = S_OPEN; n_open++; want(c, 0); }
static void shake_hands(struct conn *c) {
    ERR_clear_error();
    int r = SSL_connect(c->ssl), why = SSL_get_error(c->ssl, r);
    if (r == 1) opened(c);
    else if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) want(c, why == SSL_ERROR_WANT_WRITE);
    else fail(c, "handshake: %s", ERR_reason_error_string(ERR_get_error()));
}
static void connected(struct conn *c) {
    int e = 0; socklen_t l = sizeof e; getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &e, &l);
    if (e) { fail(c, "connect: %s", strerror(e)); return; }
    if (!o_tls) { opened(c); return; }
    if (!(c->ssl = SSL_new(ctx)) || !SSL_set_fd(c->ssl, c->fd)) abort();
    c->st = S_HANDSHAKE;
    shake_hands(c);
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
            if (c->st == S_HANDSHAKE) { shake_hands(c); continue; }
            if (ev[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) readable(c);
            if (c->fd >= 0 && (ev[i].events & EPOLLOUT)) flush_out(c);
        }
    }
}
static int all_open(void) { return n_open + n_done >= o_conns; }
static int one_open(void) { return n_open + n_done >= 1; }
static int all_done(void) { return n_done >= o_conns; }
static int drained(void) { for (int i = 0; i < o_conns; i++) if (cs[i].fd >= 0 && cs[i].ts_n) return 0; return 1; }

static void usage(void) { fprintf(stderr, "usage: http_load [options] PORT (see the head of http_load.c)\n"); exit(2); }
static void options(int argc, char **argv) {
    int o;
    while ((o = getopt(argc, argv, "H:c:p:d:B:s:z:u:RtT:w:P:j")) != -1) switch (o) {
        case 'H': o_host = optarg; break; case 'c': o_conns = atoi(optarg); break; case 'p': o_path = optarg; break;
        case 'd': o_depth = atoi(optarg); break; case 'B': o_body = optarg; break; case 'T': o_time = atof(optarg); break;
        case 's': o_size = strtoul(optarg, NULL, 10); break; case 'z': o_plain = strtoul(optarg, NULL, 10); break;
        case 'u': o_upload = strtoul(optarg, NULL, 10); break;
        case 'R': o_put = 1; o_body = ""; break; case 't': o_tls = 1; break;
        case 'w': o_warm = atof(optarg); break; case 'P': o_pid = atoi(optarg); break; case 'j': o_line = 1; break;
        default: usage();
    }
    if (optind + 1 != argc || o_conns < 1 || o_depth < 1 || strlen(o_path) >= HEAD / 2) usage();
    o_port = atoi(argv[optind]); body_size = strlen(o_body);
    if (!(body = strdup(o_body))) abort();
}
static void make_context(void) {
    ctx = SSL_CTX_new(TLS_client_method());
    if (!ctx || !SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) || !SSL_CTX_set_ciphersuites(ctx, "TLS_AES_256_GCM_SHA384")) {
        ERR_print_errors_fp(stderr); exit(2);
    }
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    // The requests are all the same, so a send may go on from another copy of them.
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}
static void make_requests(void) {
    char one[HEAD], length[128] = "";
    if (o_upload) snprintf(length, sizeof length, "Content-Type: application/octet-stream\r\nContent-Length: %zu\r\n", o_upload);
    size_t head = (size_t)snprintf(one, sizeof one, "%s %s HTTP/1.1\r\nHost: %s:%d\r\nUser-Agent: http_load\r\nAccept: */*\r\n%s%s\r\n",
        o_put ? "PUT" : o_upload ? "POST" : "GET", o_path, o_host, o_port, o_plain ? "Accept-Encoding: gzip\r\n" : "", length);
    request_size = head + o_upload;
    requests = calloc((size_t)o_depth, request_size);
    if (!requests) abort();
    for (int i = 0; i < o_depth; i++) memcpy(requests + (size_t)i * request_size, one, head);
}
static void start(struct conn *c, struct sockaddr_in *a) {
    int one = 1;
    c->ts = malloc(sizeof(u64) * (size_t)o_depth);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (c->fd < 0 || !c->ts) { perror("socket"); exit(2); }
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    c->st = S_CONNECT; c->want_out = 1;
    if (connect(c->fd, (void *)a, sizeof *a) && errno != EINPROGRESS) { fail(c, "connect: %s", strerror(errno)); return; }
    struct epoll_event e = { .events = EPOLLIN | EPOLLOUT, .data.ptr = c };
    epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &e);
}

static int one_done(void) { return total == 1 || errors; }
// Asks once, alone, for what all others are to be, and looks whether it has the right size.
static void learn(struct sockaddr_in *a) {
    struct conn *c = &cs[0];
    learning = 1;
    start(c, a);
    spin(now_ns() + 20000000000ull, one_open);
    c->ts[0] = now_ns(); c->ts_n = 1; c->owed = request_size;
    flush_out(c);
    spin(now_ns() + 20000000000ull, one_done);
    learning = 0;
    if (!errors && total != 1) fail(c, "no response");
    size_t size = body_size;
    if (!errors && o_plain) {
        char *plain = malloc(o_plain + 1);
        z_stream z = { .next_in = (u8 *)body, .avail_in = (uInt)body_size, .next_out = (u8 *)plain, .avail_out = (uInt)(o_plain + 1) };
        if (!plain || inflateInit2(&z, 31) != Z_OK || inflate(&z, Z_FINISH) != Z_STREAM_END || z.avail_in) fail(c, "not gzip");
        size = z.total_out; inflateEnd(&z); free(plain);
    }
    size_t wanted = o_plain ? o_plain : o_size;
    if (!errors && size != wanted) fail(c, "a body of %zu bytes, want %zu", size, wanted);
    if (errors) { printf("FAILED: %s\n", first_error); exit(1); }
}

int main(int argc, char **argv) {
    options(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    make_requests();
    if (o_tls) make_context();
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)o_port) };
    if (inet_pton(AF_INET, o_host, &a.sin_addr) != 1) usage();
    ep = epoll_create1(0);
    cs = calloc((size_t)o_conns, sizeof *cs);
    if (!cs) abort();
    if (o_size || o_plain) learn(&a);
    for (int i = o_size || o_plain; i < o_conns; i++) start(&cs[i], &a);
    spin(now_ns() + 20000000000ull, all_open);
    if (n_open < o_conns || errors) { printf("FAILED: %d of %d connected; %s\n", n_open, o_conns, first_error); return 1; }
    running = 1;
    for (int i = 0; i < o_conns; i++) refill(&cs[i]);
    spin(now_ns() + (u64)(o_warm * 1e9), all_done);
    double c0 = proc_cpu(o_pid), s0 = self_cpu(); u64 m0 = now_ns();
    measuring = 1;
    spin(m0 + (u64)(o_time * 1e9), all_done);
    measuring = 0;
    double secs = (double)(now_ns() - m0) / 1e9, used = proc_cpu(o_pid) - c0, load = (self_cpu() - s0) / secs * 100;
    long hwm = proc_kb(o_pid, "VmHWM"), rss = proc_kb(o_pid, "VmRSS");
    running = 0;
    spin(now_ns() + 20000000000ull, drained);
    u64 lost = 0;
    for (int i = 0; i < o_conns; i++) lost += cs[i].fd >= 0 ? cs[i].ts_n : 0;
    if (lost && !errors) { errors++; snprintf(first_error, sizeof first_error, "%llu responses never came", (unsigned long long)lost); }
    double rate = (double)msgs / secs, each = msgs ? used * 1e6 / (double)msgs : 0, mean = hcount ? hsum / (double)hcount * 1e-3 : 0;
    if (o_line) printf("conns=%d depth=%d secs=%.3f msgs=%llu total=%llu rate=%.0f p50_us=%.1f p90_us=%.1f p99_us=%.1f p999_us=%.1f max_us=%.1f mean_us=%.1f srv_cpu=%.1f srv_us_per_msg=%.3f load_cpu=%.1f hwm_kb=%ld rss_kb=%ld errors=%llu%s%s\n",
        o_conns, o_depth, secs, (unsigned long long)msgs, (unsigned long long)total, rate, hq(.5), hq(.9), hq(.99), hq(.999), (double)hmax * 1e-3, mean,
        used / secs * 100, each, load, hwm, rss, (unsigned long long)errors, errors ? " first_error=" : "", first_error);
    else {
        printf("%d connections, depth %d, %.2f s\n  %.0f requests/s   load generator CPU %.0f %%\n", o_conns, o_depth, secs, rate, load);
        printf("  latency us: p50 %.1f  p90 %.1f  p99 %.1f  p99.9 %.1f  max %.1f  mean %.1f\n", hq(.5), hq(.9), hq(.99), hq(.999), (double)hmax * 1e-3, mean);
        if (o_pid) printf("  server CPU %.0f %%  (%.3f us/request)   peak RSS %.1f MiB, now %.1f MiB\n", used / secs * 100, each, (double)hwm / 1024, (double)rss / 1024);
        printf("  %llu responses checked, %llu errors%s%s\n", (unsigned long long)total, (unsigned long long)errors, errors ? ": " : "", first_error);
    }
    return errors != 0;
}
