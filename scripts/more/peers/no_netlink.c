// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
//
// Loaded into the browser (LD_PRELOAD), which then hears nothing of networks that come and go: at each change of this
// machine's addresses, as other tests make them, it would fail all that it has asked for (ERR_NETWORK_CHANGED).

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int socket(int domain, int type, int protocol) {
    if (domain == AF_NETLINK) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    return (int)syscall(SYS_socket, domain, type, protocol);
}
