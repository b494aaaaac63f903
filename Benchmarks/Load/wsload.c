// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
//
// wsload: a WebSocket echo load generator (epoll, non-blocking, one thread) that shares no code with Duplex.
//
//   wsload [options] PORT
//     -H ADDR   IPv4 address (127.0.0.1)          -c N   connections (50)
//     -s BYTES  payload size (32)                 -d N   messages in flight per connection (1; 0 = hold idle)
//     -T SEC    measured time (3)                 -w SEC warm-up before it (0.5)
//     -t        text messages, ASCII              -u     text messages, mixed 1-4 byte UTF-8
//     -r        raw TCP echo, no WebSocket: sends the size of a client frame (payload, header, mask), expects it back
//     -z        offer permessage-deflate; fails if not accepted; echoes are inflated if the server compresses
//     -Z        as -z, and ask for server_no_context_takeover
//     -k        as -z with the offer of a browser, client_max_window_bits: the server keeps a window each way, though no message of
//               the client refers to an earlier one
//     -P PID    sample this server process: CPU over the measured time, peak RSS (VmHWM) at its end
//     -p PATH   request path (/)                  -F N   send every message as N fragments (1)
//     -v N      compare every byte of 1 message in N (64; 1 = all). The first 32 bytes of each are always compared.
//     -b N      connect from 127.0.0.1 to 127.0.0.N in turn (0: as the system chooses), for more ports than one has
//     -n N      at most N messages of each connection, and an end once all of them are back (0: as many as there is time for)
//     -j        one line of key=value output
//
// Every client frame has its own random mask. Each message starts with an 8-digit hex sequence number (payload >= 8),
// so order, loss and duplication are seen (with -z it goes round at 256: the messages are compressed beforehand); each
// echo's length and opcode are checked, and the handshake's accept value too. After the measured time nothing more is
// sent, the outstanding echoes are awaited (at most 20 s) and checked, then each connection does a closing handshake.
// Exit status 1 when anything was wrong.
//
// "msgs" are echoes completed in the measured time, "total" all of them; MB/s is payload, one direction. Latency runs
// from just before the send() that takes the message's first byte is called to the recv() that returned its last byte.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

typedef uint8_t u8; typedef uint32_t u32; typedef uint64_t u64;

static int o_conns = 50, o_sources, o_depth = 1, o_raw, o_text, o_utf8, o_pmd, o_snct, o_keep, o_frag = 1, o_check = 64, o_line, o_pid;
static size_t o_size = 32;
static u32 o_count;
static double o_time = 3, o_warm = 0.5;
static const char *o_host = "127.0.0.1", *o_path = "/";
static int o_port;

static u64 now_ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec; }
static u64 rs = 0x9E3779B97F4A7C15ull;
static inline u64 rnd(void) { rs ^= rs << 13; rs ^= rs >> 7; rs ^= rs << 17; return rs * 0x2545F4914F6CDD1Dull; }

// ---- histogram: log-linear, 256 sub-buckets per power of two (error < 0.4 %)
#define SUB 8
static u64 hist[64 << SUB], hcount, hmax, hmin = ~0ull; static double hsum;
static inline void hrec(u64 v) {
    u32 i;
    if (v < (1u << SUB)) i = (u32)v;
    else { int e = 63 - __builtin_clzll(v); i = ((u32)(e - SUB + 1) << SUB) + (u32)((v >> (e - SUB)) & ((1u << SUB) - 1)); }
    hist[i]++; hcount++; hsum += (double)v; if (v > hmax) hmax = v; if (v < hmin) hmin = v;
}
static double hq(double q) {
    u64 want = (u64)(q * (double)hcount + 0.9999999), acc = 0;
    if (want < 1) want = 1;
    for (u32 i = 0; i < (64u << SUB); i++) {
        acc += hist[i];
        if (acc >= want) {
            if (i < (1u << SUB)) return i;
            int e = (int)(i >> SUB) + SUB - 1; u64 lo = (1ull << e) + ((u64)(i & ((1u << SUB) - 1)) << (e - SUB));
            double mid = (double)lo + (double)(1ull << (e - SUB)) / 2;
            return mid > (double)hmax ? (double)hmax : mid;
        }
    }
    return (double)hmax;
}

// ---- SHA-1 + base64, for the accept value
static void sha1(const u8 *d, size_t n, u8 out[20]) {
    u32 h[5] = { 0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0 };
    u8 m[256]; memset(m, 0, sizeof m); memcpy(m, d, n); m[n] = 0x80;
    size_t tot = ((n + 8) / 64 + 1) * 64; u64 bits = n * 8;
    for (int i = 0; i < 8; i++) m[tot - 1 - i] = (u8)(bits >> (8 * i));
    for (size_t o = 0; o < tot; o += 64) {
        u32 w[80];
        for (int i = 0; i < 16; i++) w[i] = (u32)m[o+i*4] << 24 | (u32)m[o+i*4+1] << 16 | (u32)m[o+i*4+2] << 8 | m[o+i*4+3];
        for (int i = 16; i < 80; i++) { u32 x = w[i-3] ^ w[i-8] ^ w[i-14] ^ w[i-16]; w[i] = x << 1 | x >> 31; }
        u32 a = h[0], b = h[1], c = h[2], dd = h[3], e = h[4];
        for (int i = 0; i < 80; i++) {
            u32 f, k;
            if (i < 20) { f = (b & c) | (~b & dd); k = 0x5A827999; }
            else if (i < 40) { f = b ^ c ^ dd; k = 0x6ED9EBA1; }
            else if (i < 60) { f = (b & c) | (b & dd) | (c & dd); k = 0x8F1BBCDC; }
            else { f = b ^ c ^ dd; k = 0xCA62C1D6; }
            u32 t = (a << 5 | a >> 27) + f + e + k + w[i]; e = dd; dd = c; c = b << 30 | b >> 2; b = a; a = t;
        }
        h[0] += a; h[1] += b; h[2] += c; h[3] += dd; h[4] += e;
    }
    for (int i = 0; i < 20; i++) out[i] = (u8)(h[i/4] >> (24 - 8 * (i % 4)));
}
static void b64(const u8 *d, int n, char *o) {
    static const char t[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < n; i += 3) {
        u32 v = (u32)d[i] << 16 | (i + 1 < n ? (u32)d[i+1] << 8 : 0) | (i + 2 < n ? d[i+2] : 0);
        *o++ = t[v >> 18]; *o++ = t[v >> 12 & 63]; *o++ = i + 1 < n ? t[v >> 6 & 63] : '='; *o++ = i + 2 < n ? t[v & 63] : '=';
    }
    *o = 0;
}

// ---- connections
enum { S_CONNECT, S_HTTP, S_OPEN, S_CLOSING, S_DONE };
struct conn {
    int fd, st, want_out, pmd, blocked;
    char accept[32];
    u8 *out; size_t oo, ol, oc;              // pending output [oo, ol)
    u64 *ts; u32 ts_r, ts_n;                 // send times of messages in flight (ring of depth)
    u32 seq_tx, seq_rx;
    u8 hdr[14]; int hn, need;                // frame header being read
    u64 left; int op, fin, rsv1, in_frame;   // current frame
    int mop, mcomp, full; u64 mpos;          // current message
    u8 ctl[125]; int cn;
    char http[4096]; int hl;
    z_stream zi; int zinit;
    size_t rawpos;
};
static struct conn *cs;
static int ep, n_open, n_done;
static u8 *tmpl;                             // expected payload (sequence number over its first 8 bytes)
static size_t rawlen;
static u64 msgs, msgs_total, checked_full, fragments_rx, errors;
static int running, measuring;
static u32 seq_mask = ~0u;
static char first_error[512];

static void fail(struct conn *c, const char *f, ...) {
    if (!errors++) { va_list a; va_start(a, f); int n = snprintf(first_error, sizeof first_error, "conn %d: ", (int)(c - cs)); vsnprintf(first_error + n, sizeof first_error - (size_t)n, f, a); va_end(a); }
    if (c->fd >= 0) { close(c->fd); c->fd = -1; }
    if (c->st != S_DONE) { c->st = S_DONE; n_done++; }
}
static void hex8(u32 v, u8 *o) { for (int i = 7; i >= 0; i--) { o[i] = (u8)"0123456789abcdef"[v & 15]; v >>= 4; } }

static void want(struct conn *c, int w) {
    if (c->want_out == w) return;
    c->want_out = w;
    struct epoll_event e = { .events = EPOLLIN | (w ? EPOLLOUT : 0), .data.ptr = c };
    epoll_ctl(ep, EPOLL_CTL_MOD, c->fd, &e);
}
static u8 *reserve(struct conn *c, size_t n) {
    if (c->oo == c->ol) c->oo = c->ol = 0;
    if (c->ol + n > c->oc) {
        if (c->oo) { memmove(c->out, c->out + c->oo, c->ol - c->oo); c->ol -= c->oo; c->oo = 0; }
        if (c->ol + n > c->oc) { c->oc = (c->ol + n) * 2; c->out = realloc(c->out, c->oc); if (!c->out) abort(); }
    }
    return c->out + c->ol;
}
static void mask_copy(u8 *restrict d, const u8 *restrict s, size_t n, u32 key) {
    u64 k = (u64)key << 32 | key; size_t i = 0;
    for (; i + 8 <= n; i += 8) { u64 v; memcpy(&v, s + i, 8); v ^= k; memcpy(d + i, &v, 8); }
    for (; i < n; i++) d[i] = s[i] ^ (u8)(key >> (8 * (i & 3)));
}
static void put_frame(struct conn *c, int op, int fin, int rsv1, const u8 *p, size_t n) {
    u8 *o = reserve(c, n + 14); int h = 2;
    o[0] = (u8)((fin ? 0x80 : 0) | (rsv1 ? 0x40 : 0) | op);
    if (n < 126) o[1] = (u8)(0x80 | n);
    else if (n < 65536) { o[1] = 0x80 | 126; o[2] = (u8)(n >> 8); o[3] = (u8)n; h = 4; }
    else { o[1] = 0x80 | 127; for (int i = 0; i < 8; i++) o[2 + i] = (u8)((u64)n >> (56 - 8 * i)); h = 10; }
    u32 key = (u32)(rnd() >> 16); memcpy(o + h, &key, 4); h += 4;
    mask_copy(o + h, p, n, key);
    c->ol += (size_t)h + n;
}
static u8 *zmsg[256]; static size_t zlen[256];   // -z: 256 messages compressed beforehand, each on its own
static void precompress(void) {
    z_stream z; memset(&z, 0, sizeof z); deflateInit2(&z, 6, Z_DEFLATED, o_keep ? -9 : -15, 8, Z_DEFAULT_STRATEGY);
    size_t cap = deflateBound(&z, o_size) + 64; u8 *b = malloc(cap);
    for (u32 i = 0; i < 256; i++) {
        if (o_size >= 8) hex8(i, tmpl);
        deflateReset(&z); z.next_in = tmpl; z.avail_in = (uInt)o_size; z.next_out = b; z.avail_out = (uInt)cap;
        deflate(&z, Z_SYNC_FLUSH);
        zlen[i] = cap - z.avail_out - 4; zmsg[i] = malloc(zlen[i]); memcpy(zmsg[i], b, zlen[i]);
    }
    free(b); deflateEnd(&z);
}
static void put_msg(struct conn *c) {
    if (o_size >= 8) hex8(c->seq_tx & seq_mask, tmpl);
    c->seq_tx++;
    const u8 *p = tmpl; size_t n = o_size; int rsv1 = 0;
    if (o_raw) { u8 *o = reserve(c, rawlen); memcpy(o, tmpl, rawlen); c->ol += rawlen; return; }
    if (c->pmd) { u32 i = (c->seq_tx - 1) & 255; p = zmsg[i]; n = zlen[i]; rsv1 = 1; }
    int op = o_text ? 1 : 2;
    if (o_frag <= 1 || n < (size_t)o_frag) { put_frame(c, op, 1, rsv1, p, n); return; }
    size_t step = n / (size_t)o_frag, at = 0;
    for (int i = 0; i < o_frag; i++) {
        size_t k = i == o_frag - 1 ? n - at : step;
        put_frame(c, i ? 0 : op, i == o_frag - 1, i ? 0 : rsv1, p + at, k); at += k;
    }
}
static void flush_out(struct conn *c) {
    while (c->oo < c->ol) {
        ssize_t w = send(c->fd, c->out + c->oo, c->ol - c->oo, MSG_NOSIGNAL);
        if (w < 0) { if (errno == EAGAIN) { want(c, 1); return; } if (errno == EINTR) continue; fail(c, "send: %s", strerror(errno)); return; }
        c->oo += (size_t)w;
    }
    want(c, 0);
}
static void refill(struct conn *c) {        // top up to depth, then one send for all of them
    if (running && c->ts_n < (u32)o_depth) {
        u64 t = now_ns();
        while (c->ts_n < (u32)o_depth && (!o_count || c->seq_tx < o_count)) { c->ts[(c->ts_r + c->ts_n) % (u32)o_depth] = t; c->ts_n++; put_msg(c); }
    }
    if (c->oo < c->ol && !c->want_out) flush_out(c);
}

// payload bytes of the current message (after inflating)
static int body(struct conn *c, const u8 *p, size_t n) {
    u64 pos = c->mpos, lim = o_raw ? rawlen : o_size;
    c->mpos += n;
    if (c->mpos > lim) { fail(c, "echo too long: %llu > %llu", (unsigned long long)c->mpos, (unsigned long long)lim); return -1; }
    size_t k = c->full ? n : (pos < 32 ? (n < 32 - pos ? n : (size_t)(32 - pos)) : 0);
    if (k) {
        if (o_size >= 8) hex8(c->seq_rx & seq_mask, tmpl);
        if (memcmp(p, tmpl + pos, k)) {
            size_t i = 0; while (p[i] == tmpl[pos + i]) i++;
            fail(c, "payload differs at byte %llu of message %u (got %02x, want %02x)", (unsigned long long)pos + i, c->seq_rx, p[i], tmpl[pos + i]); return -1;
        }
    }
    return 0;
}
static int inflate_body(struct conn *c, const u8 *p, size_t n, int last) {
    static u8 ob[65536]; static const u8 tail[4] = { 0, 0, 0xff, 0xff };
    for (int pass = 0; pass < (last ? 2 : 1); pass++) {
        c->zi.next_in = (Bytef *)(pass ? tail : p); c->zi.avail_in = pass ? 4 : (uInt)n;
        do {
            c->zi.next_out = ob; c->zi.avail_out = sizeof ob;
            int r = inflate(&c->zi, Z_SYNC_FLUSH);
            if (r != Z_OK && r != Z_BUF_ERROR && r != Z_STREAM_END) { fail(c, "inflate: %d %s", r, c->zi.msg ? c->zi.msg : ""); return -1; }
            size_t got = sizeof ob - c->zi.avail_out;
            if (got && body(c, ob, got)) return -1;
            if (r == Z_STREAM_END) { inflateReset(&c->zi); break; }
            if (r == Z_BUF_ERROR) break;
        } while (c->zi.avail_in || c->zi.avail_out == 0);
    }
    return 0;
}
static int msg_done(struct conn *c, u64 t) {
    u64 lim = o_raw ? rawlen : o_size;
    if (c->mpos != lim) { fail(c, "echo length %llu, want %llu", (unsigned long long)c->mpos, (unsigned long long)lim); return -1; }
    if (!c->ts_n) { fail(c, "an echo nobody asked for"); return -1; }
    if (measuring) { msgs++; hrec(t - c->ts[c->ts_r]); }
    msgs_total++; if (c->full) checked_full++;
    c->ts_r = (c->ts_r + 1) % (u32)o_depth; c->ts_n--; c->seq_rx++;
    c->mop = 0; c->mpos = 0;
    c->full = o_check <= 1 || c->seq_rx % (u32)o_check == 0;
    return 0;
}
static void open_conn(struct conn *c) { c->st = S_OPEN; n_open++; }

static int frames(struct conn *c, const u8 *p, size_t n, u64 t) {
    if (o_raw) {
        while (n) {
            size_t k = rawlen - (size_t)c->mpos; if (k > n) k = n;
            if (body(c, p, k)) return -1;
            p += k; n -= k;
            if (c->mpos == rawlen && msg_done(c, t)) return -1;
        }
        return 0;
    }
    while (n || (c->in_frame && !c->left)) {
        if (!c->in_frame) {
            while (n && c->hn < c->need) { c->hdr[c->hn++] = *p++; n--; if (c->hn == 2) { int l = c->hdr[1] & 127; c->need = l == 126 ? 4 : l == 127 ? 10 : 2; } }
            if (c->hn < c->need) return 0;
            u8 b0 = c->hdr[0], b1 = c->hdr[1];
            if (b1 & 0x80) { fail(c, "masked frame from the server"); return -1; }
            if (b0 & 0x30) { fail(c, "RSV2/3 set"); return -1; }
            u64 l = b1 & 127;
            if (l == 126) { l = (u64)c->hdr[2] << 8 | c->hdr[3]; if (l < 126) { fail(c, "length not minimal"); return -1; } }
            else if (l == 127) { l = 0; for (int i = 0; i < 8; i++) l = l << 8 | c->hdr[2 + i]; if (l < 65536) { fail(c, "length not minimal"); return -1; } }
            c->op = b0 & 15; c->fin = b0 >> 7; c->rsv1 = b0 >> 6 & 1; c->left = l; c->in_frame = 1; c->hn = 0; c->need = 2; c->cn = 0;
            if (c->op >= 8) { if (!c->fin || l > 125 || c->rsv1) { fail(c, "bad control frame %02x", b0); return -1; } }
            else if (c->op == 0) { if (!c->mop) { fail(c, "continuation without a message"); return -1; } if (c->rsv1) { fail(c, "RSV1 on a continuation"); return -1; } fragments_rx++; }
            else if (c->op <= 2) {
                if (c->mop) { fail(c, "new message inside a message"); return -1; }
                if (c->op != (o_text ? 1 : 2)) { fail(c, "opcode %d, want %d", c->op, o_text ? 1 : 2); return -1; }
                if (c->rsv1 && !c->pmd) { fail(c, "RSV1 without permessage-deflate"); return -1; }
                c->mop = c->op; c->mcomp = c->rsv1; c->mpos = 0;
            } else { fail(c, "opcode %d", c->op); return -1; }
        }
        size_t k = c->left < n ? (size_t)c->left : n;
        c->left -= k;
        if (c->op >= 8) { memcpy(c->ctl + c->cn, p, k); c->cn += (int)k; }
        else if (c->mcomp) { if (inflate_body(c, p, k, c->fin && !c->left)) return -1; }
        else if (body(c, p, k)) return -1;
        p += k; n -= k;
        if (c->left) return 0;
        c->in_frame = 0;
        if (c->op == 9) put_frame(c, 10, 1, 0, c->ctl, (size_t)c->cn);
        else if (c->op == 8) {
            if (c->st == S_CLOSING) { close(c->fd); c->fd = -1; c->st = S_DONE; n_done++; return -1; }
            fail(c, "server closed: code %d", c->cn >= 2 ? c->ctl[0] << 8 | c->ctl[1] : 0); return -1;
        } else if (c->op < 3 && c->fin && msg_done(c, t)) return -1;
    }
    return 0;
}
static const char *header(const char *h, const char *name) {
    size_t n = strlen(name);
    for (const char *l = strstr(h, "\r\n"); l; l = strstr(l + 2, "\r\n")) if (!strncasecmp(l + 2, name, n) && l[2 + n] == ':') { l += 3 + n; while (*l == ' ' || *l == '\t') l++; return l; }
    return NULL;
}
static u8 *rb; static size_t rbcap = 512 * 1024;
static void readable(struct conn *c) {
    for (;;) {
        ssize_t r = recv(c->fd, rb, rbcap, 0);
        if (r == 0) { if (c->st == S_CLOSING) { close(c->fd); c->fd = -1; c->st = S_DONE; n_done++; } else fail(c, "connection ended by the server"); return; }
        if (r < 0) {
            if (errno == EAGAIN) return;
            if (errno == EINTR) continue;
            if (c->st == S_CLOSING) { close(c->fd); c->fd = -1; c->st = S_DONE; n_done++; } else fail(c, "recv: %s", strerror(errno));
            return;
        }
        const u8 *p = rb; size_t n = (size_t)r;
        if (c->st == S_HTTP) {
            size_t take = n < sizeof c->http - 1 - (size_t)c->hl ? n : sizeof c->http - 1 - (size_t)c->hl;
            memcpy(c->http + c->hl, p, take); int before = c->hl; c->hl += (int)take; c->http[c->hl] = 0;
            char *e = strstr(c->http, "\r\n\r\n");
            if (!e) { if (c->hl >= (int)sizeof c->http - 1) fail(c, "response too long"); return; }
            size_t used = (size_t)(e + 4 - c->http) - (size_t)before; p += used; n -= used; e[2] = 0;
            if (strncmp(c->http, "HTTP/1.1 101", 12)) { fail(c, "not a 101: %.40s", c->http); return; }
            const char *a = header(c->http, "Sec-WebSocket-Accept");
            if (!a || strncmp(a, c->accept, 28)) { fail(c, "bad accept value"); return; }
            const char *x = header(c->http, "Sec-WebSocket-Extensions");
            if (x && !o_pmd) { fail(c, "an extension nobody offered"); return; }
            if (o_pmd) {
                if (!x || strncmp(x, "permessage-deflate", 18)) { fail(c, "permessage-deflate not accepted"); return; }
                c->pmd = 1; memset(&c->zi, 0, sizeof c->zi); inflateInit2(&c->zi, -15); c->zinit = 1;
            }
            open_conn(c);
        }
        if (n && frames(c, p, n, now_ns())) return;
        refill(c);
        if (c->fd < 0 || (size_t)r < rbcap) return;
    }
}
static void writable(struct conn *c) {
    if (c->st == S_CONNECT) {
        int e = 0; socklen_t l = sizeof e; getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &e, &l);
        if (e) { fail(c, "connect: %s", strerror(e)); return; }
        if (o_raw) { open_conn(c); want(c, 0); return; }
        u8 k[16], d[20]; char key[32], cat[128], *o = (char *)reserve(c, 2048);
        for (int i = 0; i < 16; i++) k[i] = (u8)(rnd() >> 24);
        b64(k, 16, key); snprintf(cat, sizeof cat, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
        sha1((u8 *)cat, strlen(cat), d); b64(d, 20, c->accept);
        c->ol += (size_t)sprintf(o, "GET %s HTTP/1.1\r\nHost: %s:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n%s\r\n",
            o_path, o_host, o_port, key, o_keep ? "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n" : o_pmd ? (o_snct ? "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover; server_no_context_takeover\r\n" : "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover\r\n") : "");
        c->st = S_HTTP;
    }
    flush_out(c);
    if (c->st == S_OPEN && c->fd >= 0 && !c->want_out) refill(c);
}
static void spin(u64 until, int (*stop)(void)) {
    struct epoll_event ev[512];
    for (;;) {
        u64 t = now_ns();
        if (t >= until || (stop && stop())) return;
        int ms = (int)((until - t) / 1000000) + 1;
        int n = epoll_wait(ep, ev, 512, ms);
        for (int i = 0; i < n; i++) {
            struct conn *c = ev[i].data.ptr;
            if (c->fd < 0) continue;
            if (c->st == S_CONNECT) { if (ev[i].events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) writable(c); continue; }
            if (ev[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) readable(c);
            if (c->fd >= 0 && (ev[i].events & EPOLLOUT)) writable(c);
        }
    }
}
static int all_open(void) { return n_open + n_done >= o_conns; }
static int all_back(void) { return n_done >= o_conns || (o_count && msgs_total >= (u64)o_count * (u64)o_conns); }
static int all_done(void) { return n_done >= o_conns; }
static int drained(void) { for (int i = 0; i < o_conns; i++) if (cs[i].fd >= 0 && (cs[i].ts_n || cs[i].oo < cs[i].ol)) return 0; return 1; }

// The CPU clock of the process counts nanoseconds; /proc counts ticks of 10 ms, too coarse for a run of a second.
static double proc_cpu(int pid) {
    clockid_t clock; struct timespec t;
    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t)) return -1;
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static long proc_kb(int pid, const char *key) {
    char f[64], l[256]; snprintf(f, sizeof f, "/proc/%d/status", pid); FILE *fp = fopen(f, "r"); long v = -1;
    if (!fp) return -1;
    while (fgets(l, sizeof l, fp)) if (!strncmp(l, key, strlen(key))) { v = strtol(l + strlen(key) + 1, NULL, 10); break; }
    fclose(fp); return v;
}
static double self_cpu(void) { struct rusage r; getrusage(RUSAGE_SELF, &r); return (double)r.ru_utime.tv_sec + (double)r.ru_stime.tv_sec + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6; }

static void make_template(size_t n) {
    tmpl = malloc(n + 64); size_t i = 0;
    if (o_utf8) {
        static const char *cp[] = { "a", "b", " ", "\xc3\xa9", "\xd0\x96", "\xe2\x82\xac", "\xe6\x97\xa5", "\xf0\x9f\x98\x80" };
        while (i < n && i < 8) tmpl[i++] = 'x';
        while (i < n) { const char *s = cp[rnd() >> 61]; size_t l = strlen(s); if (i + l > n) s = "z", l = 1; memcpy(tmpl + i, s, l); i += l; }
    } else if (o_text || o_pmd) {            // JSON-like, compressible
        while (i < n) { char b[96]; int l = snprintf(b, sizeof b, "{\"id\":%u,\"name\":\"user%u\",\"price\":%u.%02u,\"ok\":true},", (u32)(rnd() >> 44), (u32)(rnd() >> 50), (u32)(rnd() >> 54), (u32)(rnd() >> 58));
            for (int k = 0; k < l && i < n; k++) tmpl[i++] = (u8)b[k]; }
    } else for (; i < n; i++) tmpl[i] = (u8)(rnd() >> 33);
}

int main(int argc, char **argv) {
    int o;
    while ((o = getopt(argc, argv, "H:c:s:d:T:w:turzZkP:p:F:v:b:n:j")) != -1) switch (o) {
        case 'H': o_host = optarg; break; case 'c': o_conns = atoi(optarg); break; case 's': o_size = strtoul(optarg, NULL, 10); break;
        case 'd': o_depth = atoi(optarg); break; case 'T': o_time = atof(optarg); break; case 'w': o_warm = atof(optarg); break;
        case 't': o_text = 1; break; case 'u': o_text = o_utf8 = 1; break; case 'r': o_raw = 1; break;
        case 'z': o_pmd = 1; break; case 'Z': o_pmd = o_snct = 1; break; case 'k': o_pmd = o_keep = 1; break; case 'P': o_pid = atoi(optarg); break; case 'p': o_path = optarg; break;
        case 'n': o_count = (u32)strtoul(optarg, NULL, 10); break;
        case 'F': o_frag = atoi(optarg); break; case 'v': o_check = atoi(optarg); break; case 'b': o_sources = atoi(optarg); break; case 'j': o_line = 1; break;
        default: fprintf(stderr, "see the head of wsload.c\n"); return 2;
    }
    if (optind >= argc) { fprintf(stderr, "usage: wsload [options] PORT (see the head of wsload.c)\n"); return 2; }
    o_port = atoi(argv[optind]);
    signal(SIGPIPE, SIG_IGN);
    rs ^= now_ns() * 0x9E3779B97F4A7C15ull; if (!rs) rs = 1;
    rawlen = o_size + (o_size < 126 ? 6 : o_size < 65536 ? 8 : 14);
    make_template(o_raw ? rawlen : o_size);
    if (o_pmd) { seq_mask = 255; precompress(); }
    rb = malloc(rbcap);
    ep = epoll_create1(0);
    cs = calloc((size_t)o_conns, sizeof *cs);
    u64 t0 = now_ns();
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)o_port) };
    if (inet_pton(AF_INET, o_host, &a.sin_addr) != 1) { fprintf(stderr, "bad address\n"); return 2; }
    for (int i = 0; i < o_conns; i++) {
        struct conn *c = &cs[i]; int one = 1;
        c->need = 2; c->full = 1; c->ts = malloc(sizeof(u64) * (size_t)(o_depth ? o_depth : 1));
        c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (c->fd < 0) { perror("socket"); return 2; }
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (o_sources) {                     // the port is chosen at connect(), when the whole tuple is known
            struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + (u32)(i % o_sources)) };
            setsockopt(c->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
            if (bind(c->fd, (void *)&from, sizeof from)) { perror("bind"); return 2; }
        }
        c->st = S_CONNECT; c->want_out = 1;
        if (connect(c->fd, (void *)&a, sizeof a) && errno != EINPROGRESS) { fail(c, "connect: %s", strerror(errno)); continue; }
        struct epoll_event e = { .events = EPOLLIN | EPOLLOUT, .data.ptr = c };
        epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &e);
        if ((i & 255) == 255) spin(now_ns() + 1000000, NULL);
    }
    spin(now_ns() + 20000000000ull, all_open);
    double t_conn = (double)(now_ns() - t0) / 1e9;
    if (n_open < o_conns || errors) { printf("FAILED: %d of %d connected; %s\n", n_open, o_conns, first_error); return 1; }
    running = o_depth > 0;
    for (int i = 0; i < o_conns; i++) refill(&cs[i]);
    spin(now_ns() + (u64)(o_warm * 1e9), all_back);
    double c0 = o_pid ? proc_cpu(o_pid) : 0, s0 = self_cpu(); u64 m0 = now_ns(); measuring = 1;
    spin(m0 + (u64)(o_time * 1e9), all_back);
    measuring = 0; double el = (double)(now_ns() - m0) / 1e9, s1 = self_cpu(), c1 = o_pid ? proc_cpu(o_pid) : 0;
    long hwm = o_pid ? proc_kb(o_pid, "VmHWM") : 0, rss = o_pid ? proc_kb(o_pid, "VmRSS") : 0;
    running = 0;
    spin(now_ns() + 20000000000ull, drained);
    u64 lost = 0; for (int i = 0; i < o_conns; i++) lost += cs[i].ts_n;
    if (lost && !errors) { errors++; snprintf(first_error, sizeof first_error, "%llu messages never came back", (unsigned long long)lost); }
    for (int i = 0; i < o_conns; i++) { struct conn *c = &cs[i]; if (c->fd < 0) continue;
        if (o_raw) { close(c->fd); c->fd = -1; continue; }
        c->st = S_CLOSING; put_frame(c, 8, 1, 0, (const u8 *)"\x03\xe8", 2); flush_out(c); }
    if (!o_raw) spin(now_ns() + 1000000000ull, all_done);
    int unclosed = 0; for (int i = 0; i < o_conns; i++) if (cs[i].fd >= 0) unclosed++;
    double rate = (double)msgs / el, mb = rate * (double)o_size / 1e6, us = 1e-3;
    double cpu = (c1 - c0) / el * 100, cl = (s1 - s0) / el * 100, per = msgs ? (c1 - c0) * 1e6 / (double)msgs : 0;
    if (o_line) printf("conns=%d size=%zu depth=%d secs=%.3f msgs=%llu total=%llu rate=%.0f mbps=%.1f p50_us=%.1f p90_us=%.1f p99_us=%.1f p999_us=%.1f max_us=%.1f mean_us=%.1f srv_cpu=%.1f srv_us_per_msg=%.3f load_cpu=%.1f hwm_kb=%ld rss_kb=%ld connect_s=%.4f full_checked=%llu fragments=%llu unclosed=%d errors=%llu%s%s\n",
        o_conns, o_size, o_depth, el, (unsigned long long)msgs, (unsigned long long)msgs_total, rate, mb, hcount ? hq(.5) * us : 0, hcount ? hq(.9) * us : 0, hcount ? hq(.99) * us : 0, hcount ? hq(.999) * us : 0, (double)hmax * us, hcount ? hsum / (double)hcount * us : 0,
        cpu, per, cl, hwm, rss, t_conn, (unsigned long long)checked_full, (unsigned long long)fragments_rx, unclosed, (unsigned long long)errors, errors ? " first_error=" : "", first_error);
    else {
        printf("%d connections, %zu B %s, depth %d, %.2f s (connected in %.3f s)\n", o_conns, o_size, o_raw ? "raw TCP (+ frame header)" : o_utf8 ? "UTF-8 text" : o_text ? "text" : "binary", o_depth, el, t_conn);
        printf("  %.0f msgs/s   %.1f MB/s payload one way   load generator CPU %.0f %%\n", rate, mb, cl);
        if (hcount) printf("  latency us: p50 %.1f  p90 %.1f  p99 %.1f  p99.9 %.1f  max %.1f  mean %.1f\n", hq(.5) * us, hq(.9) * us, hq(.99) * us, hq(.999) * us, (double)hmax * us, hsum / (double)hcount * us);
        if (o_pid) printf("  server CPU %.0f %%  (%.3f us/msg)   peak RSS %.1f MiB, now %.1f MiB\n", cpu, per, (double)hwm / 1024, (double)rss / 1024);
        printf("  %llu echoes checked (%llu in full), %llu continuation frames, %d without a closing handshake, %llu errors%s%s\n", (unsigned long long)msgs_total, (unsigned long long)checked_full, (unsigned long long)fragments_rx, unclosed, (unsigned long long)errors, errors ? ": " : "", first_error);
    }
    return errors != 0;
}
