// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Datagrams with what goes beside them. The control messages of sendmsg(2) and recvmsg(2) are walked by macros, which Swift
// doesn't see; sendmmsg(2) and recvmmsg(2) are Linux's, and declared only with _GNU_SOURCE.

#ifndef CDUPLEX_DATAGRAMS_H
#define CDUPLEX_DATAGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/// The most datagrams that go over in one call.
#define CDUPLEX_DATAGRAM_BATCH 64

/// An IP address without a port.
struct cduplex_ip {
    /// 4 or 6; 0 for none.
    int version;
    uint8_t bytes[16];
};

/// A datagram that is sent, or the place for one that is received.
struct cduplex_datagram {
    void *bytes;
    /// How many bytes there are; for one to receive, how many there is room for, and afterwards how many came.
    size_t count;
    /// Where it goes, or who sent it; a length of 0 for none.
    struct sockaddr_storage peer;
    socklen_t peer_length;
    /// Received: which address it was sent to.
    struct cduplex_ip local;
    /// Which address an answer should come from, or this one does.
    struct cduplex_ip source;
    /// Which interface it came over or goes over; 0 for any.
    uint32_t interface;
    /// Received: whether it was longer than the room for it.
    bool is_truncated;
};

/// Receives what is there, CDUPLEX_DATAGRAM_BATCH at most, without waiting.
///
/// Returns how many came, or -1 with errno set.
int cduplex_receive_datagrams(int descriptor, struct cduplex_datagram *datagrams, int count);

/// Sends, CDUPLEX_DATAGRAM_BATCH at most, without waiting.
///
/// Returns how many were sent, fewer than all when the one behind them wasn't taken; or -1 with errno set when the first
/// wasn't.
int cduplex_send_datagrams(int descriptor, const struct cduplex_datagram *datagrams, int count);

/// Throws one message of the queue of errors away, which only sockets with IP_RECVERR have; 0 when there was one.
int cduplex_drop_queued_error(int descriptor);

/// Joins or leaves a multicast group of either family, of every source or of one. An interface of 0 has the system choose.
int cduplex_set_membership(
    int descriptor, bool joins, uint32_t interface, const struct sockaddr *group, socklen_t group_length,
    const struct sockaddr *source, socklen_t source_length
);

/// Sets the interface that IPv4 multicast goes out by; 0 has the system choose.
int cduplex_set_multicast_interface4(int descriptor, uint32_t interface);

#endif
