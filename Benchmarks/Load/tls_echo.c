// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
//
// tls_echo: a TLS 1.3 echo over OpenSSL's memory BIOs, the limit that TLS servers are compared with (epoll,
// level-triggered, one thread): tcp_echo with a pair of BIOs between each socket and its bytes.
//
//   tls_echo PORT CERTIFICATE.pem KEY.pem     0 has the system choose; the port is printed once it is listened on
//
// What arrives goes by recv() into a buffer that all connections share, by BIO_write() into the connection's BIO, by
// SSL_read() into a second shared buffer; back by SSL_write(), BIO_read() into the first, and one send(). What a peer
// doesn't take at once is kept for its connection, which reads nothing meanwhile. Session tickets are as OpenSSL has them.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUF (256 * 1024)
struct conn { int fd, armed, ending; SSL *ssl; BIO *in, *out; char *left; size_t off, len, cap; };
static int ep;
static char wire[2 * BUF], plain[BUF];       // sealed bytes are more than plain ones

static void arm(struct conn *c, int w) {
    if (c->armed == w) return;
    c->armed = w;
    struct epoll_event e = { .events = w ? EPOLLOUT : EPOLLIN, .data.ptr = c };   // backpressure: stop reading while output is pending
    epoll_ctl(ep, EPOLL_CTL_MOD, c->fd, &e);
}
static void drop(struct conn *c) { ERR_clear_error(); close(c->fd); SSL_free(c->ssl); free(c->left); free(c); }

// Moves what is sealed to the socket; -1 when the connection is gone.
static int flush_out(struct conn *c) {
    size_t pending;
    while ((pending = BIO_ctrl_pending(c->out)) > 0) {
        int n = BIO_read(c->out, wire, sizeof wire);
        if (n <= 0) return -1;
        ssize_t w = send(c->fd, wire, (size_t)n, 0);
        if (w < 0) { if (errno != EAGAIN) return -1; w = 0; }
        if (w == n) continue;
        size_t left = (size_t)(n - w) + BIO_ctrl_pending(c->out);
        if (c->cap < left) {
            char *more = realloc(c->left, left);
            if (!more) return -1;
            c->left = more; c->cap = left;
        }
        memcpy(c->left, wire + w, (size_t)(n - w));
        c->off = 0; c->len = (size_t)(n - w);
        while ((n = BIO_read(c->out, c->left + c->len, (int)(left - c->len))) > 0) c->len += (size_t)n;
        arm(c, 1);
        return 0;
    }
    return c->ending ? -1 : 0;
}

// Takes what has arrived, and seals the same again; -1 when the connection is gone.
static int echo(struct conn *c) {
    ssize_t r = recv(c->fd, wire, BUF, 0);
    if (r <= 0) return r < 0 && errno == EAGAIN ? 0 : -1;
    if (BIO_write(c->in, wire, (int)r) != r) return -1;
    for (;;) {
        size_t have = 0;
        int n = 0;
        while (have < BUF && (n = SSL_read(c->ssl, plain + have, (int)(BUF - have))) > 0) have += (size_t)n;   // a record at a time
        int why = n > 0 ? SSL_ERROR_NONE : SSL_get_error(c->ssl, n);
        if (have && SSL_write(c->ssl, plain, (int)have) != (int)have) return -1;
        if (why == SSL_ERROR_NONE) continue;
        if (why == SSL_ERROR_ZERO_RETURN) { SSL_shutdown(c->ssl); c->ending = 1; }   // close_notify is answered
        else if (why != SSL_ERROR_WANT_READ) c->ending = 1;   // the alert still goes out
        return flush_out(c);
    }
}

static void accept_all(int ls, SSL_CTX *ctx) {
    int fd, one = 1;
    while ((fd = accept4(ls, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct conn *c = calloc(1, sizeof *c);
        if (!c || !(c->ssl = SSL_new(ctx)) || !(c->in = BIO_new(BIO_s_mem())) || !(c->out = BIO_new(BIO_s_mem()))) abort();
        c->fd = fd;
        SSL_set_bio(c->ssl, c->in, c->out);   // which owns both from here on
        SSL_set_accept_state(c->ssl);
        struct epoll_event x = { .events = EPOLLIN, .data.ptr = c };
        epoll_ctl(ep, EPOLL_CTL_ADD, fd, &x);
    }
}

int main(int argc, char **argv) {
    if (argc < 4) { fprintf(stderr, "usage: tls_echo PORT CERTIFICATE.pem KEY.pem\n"); return 2; }
    signal(SIGPIPE, SIG_IGN);
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    if (!ctx || !SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) || SSL_CTX_use_certificate_chain_file(ctx, argv[2]) != 1
        || SSL_CTX_use_PrivateKey_file(ctx, argv[3], SSL_FILETYPE_PEM) != 1 || SSL_CTX_check_private_key(ctx) != 1) {
        ERR_print_errors_fp(stderr);
        return 1;
    }
    int ls = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
    setsockopt(ls, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
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
            if (!c) { accept_all(ls, ctx); continue; }
            if (c->armed) {
                ssize_t w = send(c->fd, c->left + c->off, c->len - c->off, 0);
                if (w < 0) { if (errno != EAGAIN) drop(c); continue; }
                c->off += (size_t)w;
                if (c->off < c->len) continue;
                c->off = c->len = 0;
                if (c->ending) drop(c); else arm(c, 0);
                continue;
            }
            if (echo(c)) drop(c);
        }
    }
}
