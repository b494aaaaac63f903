// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
//
// Answers with uWebSockets on one event loop, through the C interface that the Python package socketify brings along in a
// library of its own: prints its port, then serves until it is ended.
//
//   uws_server FOLDER     GET /hello, GET /json-ready (FOLDER/items.json, read once), POST /count; WebSockets at /all are subscribed
//                         to one topic, and what one of them sends is published to it
//   uws_server            the same without /json-ready
//
// Linked against libsocketify_linux_amd64.so, which needs libuv (libuv1); see fetch_uws in Benchmarks/web.sh. The package
// has no header for this part of the library, so what is used of it is declared here.
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct app app;
typedef struct response response;
typedef struct request request;
typedef struct listener listener;
typedef struct {
    const char *key, *certificate, *passphrase, *parameters, *authorities, *ciphers;
    int is_small;
} tls_options;
typedef struct {
    int port;
    const char *host;
    int options;
} listen_options;

// The callbacks of WebSockets; without `upgrade` each request is taken.
typedef struct socket socket_;
typedef void (*socket_handler)(socket_ *, void *);
typedef struct {
    int compression;
    unsigned int max_payload;
    unsigned short idle_timeout;
    unsigned int max_backpressure;
    bool closes_on_backpressure, resets_timeout_on_send, sends_pings;
    unsigned short max_lifetime;
    void (*upgrade)(response *, request *, void *, void *);
    socket_handler open;
    void (*message)(socket_ *, const char *, size_t, int, void *);
    socket_handler drain;
    void (*ping)(socket_ *, const char *, size_t, void *), (*pong)(socket_ *, const char *, size_t, void *);
    void (*close)(socket_ *, int, const char *, size_t, void *);
    void (*subscription)(socket_ *, const char *, size_t, int, int, void *);
} socket_behavior;

// The first argument is whether it is over TLS.
void uws_ws(int, app *, const char *, socket_behavior, void *);
bool uws_ws_subscribe(int, socket_ *, const char *, size_t);
bool uws_publish(int, app *, const char *, size_t, const char *, size_t, int, bool);
app *uws_create_app(int, tls_options);
void uws_app_get(int, app *, const char *, void (*)(response *, request *, void *), void *);
void uws_app_post(int, app *, const char *, void (*)(response *, request *, void *), void *);
void uws_app_listen_with_config(int, app *, listen_options, void (*)(listener *, listen_options, void *), void *);
void uws_app_run(int, app *);
int us_socket_local_port(int, listener *);
void uws_res_write_header(int, response *, const char *, size_t, const char *, size_t);
void uws_res_end(int, response *, const char *, size_t, bool);
void uws_res_on_data(int, response *, void (*)(response *, const char *, size_t, bool, void *), void *);
void uws_res_on_aborted(int, response *, void (*)(response *, void *), void *);

static char json[4096];
static size_t json_size;

static void send_text(response *to, const char *type, size_t type_size, const char *body, size_t size) {
    uws_res_write_header(0, to, "Content-Type", 12, type, type_size);
    uws_res_end(0, to, body, size, false);
}

static void hello(response *to, request *from, void *unused) {
    (void)from, (void)unused;
    send_text(to, "text/plain", 10, "Hello, World!", 13);
}

static void items(response *to, request *from, void *unused) {
    (void)from, (void)unused;
    send_text(to, "application/json", 16, json, json_size);
}

static void add(response *to, const char *piece, size_t size, bool is_last, void *count) {
    (void)piece;
    size_t *sum = count;
    *sum += size;
    if (!is_last) return;
    char text[24];
    int length = snprintf(text, sizeof text, "%zu", *sum);
    free(sum);
    send_text(to, "text/plain", 10, text, (size_t)length);
}

static void forget(response *to, void *count) { (void)to, free(count); }

static void count_body(response *to, request *from, void *unused) {
    (void)from, (void)unused;
    size_t *sum = calloc(1, sizeof *sum);
    if (!sum) abort();
    uws_res_on_aborted(0, to, forget, sum);
    uws_res_on_data(0, to, add, sum);
}

static void join(socket_ *from, void *unused) {
    (void)unused;
    if (!uws_ws_subscribe(0, from, "all", 3)) abort();
}

static void publish(socket_ *from, const char *bytes, size_t size, int kind, void *server) {
    (void)from;
    uws_publish(0, server, "all", 3, bytes, size, kind, false);
}

static void listening(listener *on, listen_options options, void *unused) {
    (void)options, (void)unused;
    if (!on) exit(1);
    printf("%d\n", us_socket_local_port(0, on));
    fflush(stdout);
}

int main(int count, char **arguments) {
    if (count > 2) return 64;
    if (count == 2) {
        char path[4096];
        snprintf(path, sizeof path, "%s/items.json", arguments[1]);
        FILE *file = fopen(path, "r");
        if (!file) return perror(path), 1;
        json_size = fread(json, 1, sizeof json, file);
        fclose(file);
    }

    app *server = uws_create_app(0, (tls_options){0});
    socket_behavior all = {.max_payload = 1 << 20, .max_backpressure = 1 << 20, .open = join, .message = publish};
    uws_ws(0, server, "/all", all, server);
    uws_app_get(0, server, "/hello", hello, NULL);
    uws_app_get(0, server, "/json-ready", items, NULL);
    uws_app_post(0, server, "/count", count_body, NULL);
    uws_app_listen_with_config(0, server, (listen_options){0, "127.0.0.1", 0}, listening, NULL);
    uws_app_run(0, server);
}
