// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The guarantee for each message that a reconnecting client sends.
public enum ReconnectDelivery: Sendable {
    /// It is written to one connection at most: it may be lost together with that connection, and never comes twice.
    case atMostOnce
    /// It is written again, in order, to each connection that follows until it is acknowledged: it may come more than
    /// once, and isn't lost while the client lives.
    ///
    /// `isAcknowledged` says whether a message that came acknowledges one that was sent. It is called on the loop of
    /// the client for each message that comes and each that is unacknowledged, so it must be quick.
    case atLeastOnce(isAcknowledged: @Sendable (_ sent: Message, _ by: Message) -> Bool)
}
