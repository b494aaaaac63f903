// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#include "CDuplexNetlink.h"

#if defined(__linux__)

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int cduplex_netlink_open(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK};
    address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

uint32_t cduplex_netlink_port(int descriptor) {
    struct sockaddr_nl address = {0};
    socklen_t length = sizeof address;
    return getsockname(descriptor, (struct sockaddr *)&address, &length) == 0 ? address.nl_pid : 0;
}

int cduplex_netlink_ask(int descriptor, uint16_t type, uint32_t sequence) {
    struct {
        struct nlmsghdr header;
        struct rtgenmsg body;
    } request;
    memset(&request, 0, sizeof request);
    request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.body);
    request.header.nlmsg_type = type;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.header.nlmsg_seq = sequence;
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t sent;
    do {
        sent = sendto(
            descriptor, &request, request.header.nlmsg_len, MSG_NOSIGNAL, (struct sockaddr *)&kernel, sizeof kernel
        );
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? -1 : 0;
}

ssize_t cduplex_netlink_receive(int descriptor, void *buffer, size_t size) {
    struct sockaddr_nl sender = {0};
    socklen_t length = sizeof sender;
    ssize_t count;
    do {
        count = recvfrom(descriptor, buffer, size, MSG_TRUNC, (struct sockaddr *)&sender, &length);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return -1;
    // Only the kernel's word counts, and its number is 0.
    if (length < sizeof sender || sender.nl_pid != 0) return 0;
    if ((size_t)count > size) {
        errno = ENOBUFS;
        return -1;
    }
    return count;
}

#endif
