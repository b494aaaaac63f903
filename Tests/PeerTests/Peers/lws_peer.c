// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// The library libwebsockets, for C, as a server that echoes and as a client that checks an echo.
//
//     lws_peer server on|off            prints its port, then sends back every message on every path until it is ended
//     lws_peer client on|off PORT PATH  prints "ok" and ends with 0, or prints a reason and ends with 1
//
// The second word says whether permessage-deflate is offered or accepted. Compiled by scripts/setup --tests.

#include <libwebsockets.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The client's messages: their lengths, around the places where the form of a frame's length changes, each as a text and
// as a binary message, in one frame and in several.
static const size_t lengths[] = {1, 2, 125, 126, 127, 1000, 65535, 65536, 65537, 100000};
static const int message_count = 4 * sizeof lengths / sizeof lengths[0];
static const size_t fragment_length = 20000;

// One connection. What it writes has room in front of it, as the library wants it.
struct session {
    unsigned char *incoming, *outgoing, *frame;
    size_t incoming_length, outgoing_length, written;
    int is_binary, is_writing;
    int message;
};

static int status = 1, is_over;
static const struct lws_extension extensions[] = {
    {"permessage-deflate", lws_extension_callback_pm_deflate, "permessage-deflate; client_max_window_bits"},
    {NULL, NULL, NULL},
};

static void fail(const char *reason, int number)
{
    printf("failed: %s (%d)\n", reason, number);
    exit(1);
}

static void give_up(int number)
{
    fail("it took too long", number);
}

static void keep(struct session *session, const void *bytes, size_t length)
{
    session->incoming = realloc(session->incoming, session->incoming_length + length + 1);
    if (!session->incoming) fail("no memory", 0);
    if (length) memcpy(session->incoming + session->incoming_length, bytes, length);
    session->incoming_length += length;
}

static void prepare(struct session *session, size_t length)
{
    session->outgoing = realloc(session->outgoing, LWS_PRE + length + 1);
    if (!session->outgoing) fail("no memory", 0);
    session->outgoing_length = length;
    session->written = 0;
    session->is_writing = 1;
}

// Writes one frame of what is to be written. The library may go on compressing it after the call, until it asks for the
// next one, and masks it where it lies.
static int write_frame(struct lws *wsi, struct session *session, size_t most)
{
    size_t rest = session->outgoing_length - session->written;
    size_t length = rest < most ? rest : most;
    int kind = session->is_binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT;
    int is_last = length == rest;
    enum lws_write_protocol form = lws_write_ws_flags(kind, session->written == 0, is_last);
    free(session->frame);
    session->frame = malloc(LWS_PRE + length + 1);
    if (!session->frame) fail("no memory", 0);
    memcpy(session->frame + LWS_PRE, session->outgoing + LWS_PRE + session->written, length);
    int count = lws_write(wsi, session->frame + LWS_PRE, length, form);
    if (count < (int)length) return -1;
    session->written += length;
    if (is_last) session->is_writing = 0;
    return 0;
}

static void begin_message(struct lws *wsi, struct session *session)
{
    size_t length = lengths[session->message / 4];
    prepare(session, length);
    session->is_binary = session->message & 1;
    for (size_t i = 0; i < length; i++) session->outgoing[LWS_PRE + i] = 'a' + (i * i / 7 + session->message) % 26;
    lws_callback_on_writable(wsi);
}

// Compares an echo with its message, and goes on to the next one.
static int check(struct lws *wsi, struct session *session, int is_binary)
{
    int number = session->message;
    if (is_binary != session->is_binary) fail("a message came back as another kind", number);
    if (session->incoming_length != session->outgoing_length) fail("a message came back with another length", number);
    if (memcmp(session->incoming, session->outgoing + LWS_PRE, session->incoming_length)) {
        fail("a message came back changed", number);
    }
    session->incoming_length = 0;
    session->message += 1;
    if (session->message < message_count) {
        begin_message(wsi, session);
        return 0;
    }
    lws_close_reason(wsi, LWS_CLOSE_STATUS_GOINGAWAY, (unsigned char *)"done", 4);
    status = 0;
    return -1;
}

static int handle(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *bytes, size_t length)
{
    struct session *session = user;
    switch (reason) {
    case LWS_CALLBACK_RECEIVE:
        keep(session, bytes, length);
        if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi)) return 0;
        prepare(session, session->incoming_length);
        memcpy(session->outgoing + LWS_PRE, session->incoming, session->incoming_length);
        session->is_binary = lws_frame_is_binary(wsi);
        session->incoming_length = 0;
        // One message after the other.
        lws_rx_flow_control(wsi, 0);
        lws_callback_on_writable(wsi);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        if (!session->is_writing) return 0;
        if (write_frame(wsi, session, session->outgoing_length)) return -1;
        lws_rx_flow_control(wsi, 1);
        return 0;
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        begin_message(wsi, session);
        return 0;
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        if (!session->is_writing) return 0;
        if (write_frame(wsi, session, session->message & 2 ? fragment_length : session->outgoing_length)) return -1;
        if (session->is_writing) lws_callback_on_writable(wsi);
        return 0;
    case LWS_CALLBACK_CLIENT_RECEIVE:
        keep(session, bytes, length);
        if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi)) return 0;
        return check(wsi, session, lws_frame_is_binary(wsi));
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        fail(bytes ? bytes : "no connection", 0);
        return 0;
    case LWS_CALLBACK_CLIENT_CLOSED:
    case LWS_CALLBACK_CLOSED:
        free(session->incoming);
        free(session->outgoing);
        free(session->frame);
        if (reason == LWS_CALLBACK_CLIENT_CLOSED) is_over = 1;
        return 0;
    default: return 0;
    }
}

static const struct lws_protocols protocols[] = {
    {"chat.v1", handle, sizeof(struct session), 4096, 0, NULL, 0},
    {NULL, NULL, 0, 0, 0, NULL, 0},
};

int main(int count, char **words)
{
    int is_server = count == 3 && !strcmp(words[1], "server");
    if (!is_server && (count != 5 || strcmp(words[1], "client"))) fail("no such use", count);
    lws_set_log_level(LLL_ERR, NULL);
    struct lws_context_creation_info info = {0};
    info.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS;
    info.port = is_server ? 0 : CONTEXT_PORT_NO_LISTEN;
    info.iface = "127.0.0.1";
    info.protocols = protocols;
    info.extensions = strcmp(words[2], "on") ? NULL : extensions;
    info.gid = info.uid = -1;
    struct lws_context *context = lws_create_context(&info);
    struct lws_vhost *host = context ? lws_create_vhost(context, &info) : NULL;
    if (!host) fail("the library doesn't start", 0);
    if (is_server) {
        printf("%d\n", lws_get_vhost_listen_port(host));
        fflush(stdout);
    } else {
        signal(SIGALRM, give_up);
        const char *factor = getenv("DUPLEX_TEST_TIME_FACTOR");
        alarm((unsigned)(60 * (factor ? atof(factor) : 1)));
        struct lws_client_connect_info connect = {0};
        connect.context = context;
        connect.vhost = host;
        connect.address = connect.host = "127.0.0.1";
        connect.port = atoi(words[3]);
        connect.path = words[4];
        connect.protocol = "chat.v1";
        if (!lws_client_connect_via_info(&connect)) fail("no connection", 0);
    }
    while (!is_over && lws_service(context, 0) >= 0) {}
    if (!status) printf("ok: %d messages came back\n", message_count);
    lws_context_destroy(context);
    return status;
}
