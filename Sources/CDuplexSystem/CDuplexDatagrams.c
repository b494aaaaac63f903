// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#define _GNU_SOURCE
#define __APPLE_USE_RFC_3542
#include "CDuplexDatagrams.h"

#include <netinet/in.h>
#include <string.h>

// Room for the packet information of both families, which an IPv6 socket gets together for a datagram over IPv4, and for
// some that a borrower of the descriptor may have asked for.
#define CONTROL_SIZE 256

struct control {
    _Alignas(struct cmsghdr) char bytes[CONTROL_SIZE];
};

static void set_ip(struct cduplex_ip *ip, int version, const void *bytes) {
    ip->version = version;
    memcpy(ip->bytes, bytes, version == 4 ? 4 : 16);
}

static void take_control(struct msghdr *message, struct cduplex_datagram *datagram) {
    for (struct cmsghdr *item = CMSG_FIRSTHDR(message); item; item = CMSG_NXTHDR(message, item)) {
        if (item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(item), sizeof info);
            set_ip(&datagram->local, 4, &info.ipi_addr);
            set_ip(&datagram->source, 4, &info.ipi_spec_dst);
            datagram->interface = (uint32_t)info.ipi_ifindex;
        } else if (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == IPV6_PKTINFO) {
            // Over IPv4 the other form tells more, in whichever order the two come.
            if (datagram->local.version == 4) continue;
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(item), sizeof info);
            set_ip(&datagram->local, 6, &info.ipi6_addr);
            datagram->interface = (uint32_t)info.ipi6_ifindex;
        }
    }
}

static void prepare_receive(
    struct msghdr *message, struct iovec *piece, struct control *control, struct cduplex_datagram *datagram
) {
    *piece = (struct iovec){.iov_base = datagram->bytes, .iov_len = datagram->count};
    memset(message, 0, sizeof *message);
    message->msg_name = &datagram->peer;
    message->msg_namelen = sizeof datagram->peer;
    message->msg_iov = piece;
    message->msg_iovlen = 1;
    message->msg_control = control->bytes;
    message->msg_controllen = sizeof control->bytes;
}

static void finish_receive(struct msghdr *message, size_t count, struct cduplex_datagram *datagram) {
    datagram->count = count;
    datagram->peer_length = message->msg_namelen;
    datagram->is_truncated = (message->msg_flags & MSG_TRUNC) != 0;
    take_control(message, datagram);
}

static struct cmsghdr *add_control(struct msghdr *message, struct control *control, int level, int type, size_t size) {
    memset(control, 0, sizeof *control);
    message->msg_control = control->bytes;
    message->msg_controllen = CMSG_SPACE(size);
    struct cmsghdr *item = CMSG_FIRSTHDR(message);
    item->cmsg_level = level;
    item->cmsg_type = type;
    item->cmsg_len = CMSG_LEN(size);
    return item;
}

static void prepare_send(
    struct msghdr *message, struct iovec *piece, struct control *control, const struct cduplex_datagram *datagram
) {
    *piece = (struct iovec){.iov_base = datagram->bytes, .iov_len = datagram->count};
    memset(message, 0, sizeof *message);
    if (datagram->peer_length > 0) {
        message->msg_name = (void *)&datagram->peer;
        message->msg_namelen = datagram->peer_length;
    }
    message->msg_iov = piece;
    message->msg_iovlen = 1;
    if (datagram->source.version == 4) {
        struct in_pktinfo info;
        memset(&info, 0, sizeof info);
        memcpy(&info.ipi_spec_dst, datagram->source.bytes, 4);
        info.ipi_ifindex = datagram->interface;
        memcpy(CMSG_DATA(add_control(message, control, IPPROTO_IP, IP_PKTINFO, sizeof info)), &info, sizeof info);
    } else if (datagram->source.version == 6) {
        struct in6_pktinfo info;
        memset(&info, 0, sizeof info);
        memcpy(&info.ipi6_addr, datagram->source.bytes, 16);
        info.ipi6_ifindex = datagram->interface;
        memcpy(CMSG_DATA(add_control(message, control, IPPROTO_IPV6, IPV6_PKTINFO, sizeof info)), &info, sizeof info);
    }
}

#if defined(__linux__)

int cduplex_receive_datagrams(int descriptor, struct cduplex_datagram *datagrams, int count) {
    struct mmsghdr messages[CDUPLEX_DATAGRAM_BATCH];
    struct iovec pieces[CDUPLEX_DATAGRAM_BATCH];
    struct control controls[CDUPLEX_DATAGRAM_BATCH];
    if (count > CDUPLEX_DATAGRAM_BATCH) count = CDUPLEX_DATAGRAM_BATCH;
    for (int index = 0; index < count; index++) {
        prepare_receive(&messages[index].msg_hdr, &pieces[index], &controls[index], &datagrams[index]);
        messages[index].msg_len = 0;
    }
    int received = recvmmsg(descriptor, messages, (unsigned)count, MSG_DONTWAIT, NULL);
    for (int index = 0; index < received; index++) {
        finish_receive(&messages[index].msg_hdr, messages[index].msg_len, &datagrams[index]);
    }
    return received;
}

int cduplex_send_datagrams(int descriptor, const struct cduplex_datagram *datagrams, int count) {
    struct mmsghdr messages[CDUPLEX_DATAGRAM_BATCH];
    struct iovec pieces[CDUPLEX_DATAGRAM_BATCH];
    struct control controls[CDUPLEX_DATAGRAM_BATCH];
    if (count > CDUPLEX_DATAGRAM_BATCH) count = CDUPLEX_DATAGRAM_BATCH;
    for (int index = 0; index < count; index++) {
        prepare_send(&messages[index].msg_hdr, &pieces[index], &controls[index], &datagrams[index]);
        messages[index].msg_len = 0;
    }
    return sendmmsg(descriptor, messages, (unsigned)count, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int cduplex_drop_queued_error(int descriptor) {
    char byte;
    struct iovec piece = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    return recvmsg(descriptor, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0 ? -1 : 0;
}

#else

// One call for each datagram; what was done before one fails counts, and the failure comes again with the next call.

int cduplex_receive_datagrams(int descriptor, struct cduplex_datagram *datagrams, int count) {
    int received = 0;
    while (received < count && received < CDUPLEX_DATAGRAM_BATCH) {
        struct msghdr message;
        struct iovec piece;
        struct control control;
        prepare_receive(&message, &piece, &control, &datagrams[received]);
        ssize_t length = recvmsg(descriptor, &message, MSG_DONTWAIT);
        if (length < 0) return received > 0 ? received : -1;
        finish_receive(&message, (size_t)length, &datagrams[received]);
        received++;
    }
    return received;
}

int cduplex_send_datagrams(int descriptor, const struct cduplex_datagram *datagrams, int count) {
    int sent = 0;
    while (sent < count && sent < CDUPLEX_DATAGRAM_BATCH) {
        struct msghdr message;
        struct iovec piece;
        struct control control;
        prepare_send(&message, &piece, &control, &datagrams[sent]);
        if (sendmsg(descriptor, &message, MSG_DONTWAIT) < 0) return sent > 0 ? sent : -1;
        sent++;
    }
    return sent;
}

int cduplex_drop_queued_error(int descriptor) { return -1; }

#endif

int cduplex_set_membership(
    int descriptor, bool joins, uint32_t interface, const struct sockaddr *group, socklen_t group_length,
    const struct sockaddr *source, socklen_t source_length
) {
    int level = group->sa_family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
    if (!source) {
        struct group_req request;
        memset(&request, 0, sizeof request);
        request.gr_interface = interface;
        memcpy(&request.gr_group, group, group_length);
        return setsockopt(descriptor, level, joins ? MCAST_JOIN_GROUP : MCAST_LEAVE_GROUP, &request, sizeof request);
    }
    struct group_source_req request;
    memset(&request, 0, sizeof request);
    request.gsr_interface = interface;
    memcpy(&request.gsr_group, group, group_length);
    memcpy(&request.gsr_source, source, source_length);
    int name = joins ? MCAST_JOIN_SOURCE_GROUP : MCAST_LEAVE_SOURCE_GROUP;
    return setsockopt(descriptor, level, name, &request, sizeof request);
}

int cduplex_set_multicast_interface4(int descriptor, uint32_t interface) {
    struct ip_mreqn request;
    memset(&request, 0, sizeof request);
    request.imr_ifindex = (int)interface;
    return setsockopt(descriptor, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request);
}
