// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// What the kernel says of its network (netlink(7), rtnetlink(7)): links, addresses, routes. Linux only.

#ifndef CDUPLEX_NETLINK_H
#define CDUPLEX_NETLINK_H

#if defined(__linux__)

#include <stdint.h>
#include <sys/types.h>

/// A new non-blocking socket that receives changes of links, addresses and routes of IPv4 and IPv6; -1 with errno set.
int cduplex_netlink_open(void);

/// The number by which the kernel knows the socket; 0 when there is none.
uint32_t cduplex_netlink_port(int descriptor);

/// Asks for all that there is of a kind, by RTM_GETLINK or RTM_GETADDR; 0, or -1 with errno set.
int cduplex_netlink_ask(int descriptor, uint16_t type, uint32_t sequence);

/// Receives one datagram without waiting: its length, 0 for one that isn't the kernel's, or -1 with errno set.
///
/// One that is longer than the room for it counts as lost, with ENOBUFS.
ssize_t cduplex_netlink_receive(int descriptor, void *buffer, size_t size);

#endif

#endif
