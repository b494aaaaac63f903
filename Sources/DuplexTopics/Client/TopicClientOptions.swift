// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWebSockets
public import DuplexWire

/// How a ``TopicClient`` connects, how long it waits, and how much it keeps.
public struct TopicClientOptions: Sendable {
    /// How it connects.
    ///
    /// Default: those of `ReconnectOptions`.
    public var connection = ReconnectOptions()
    /// When it connects again, and when it gives up.
    ///
    /// Default: for ever, after waits of up to 250 ms that double up to 30 s.
    public var policy = ReconnectPolicy.standard
    /// How long a request waits for its answer, the time without a connection included.
    ///
    /// Default: 10 s.
    public var requestTimeout = Duration.seconds(10)
    /// How many requests may wait for their answers.
    ///
    /// Default: 1,000.
    public var mostRequests = 1_000
    /// How many bytes of them may.
    ///
    /// Default: 16 MiB.
    public var requestSize = ByteCount.mebibytes(16)
    /// How many messages wait for a slow task; the oldest are dropped then, and counted in ``TopicMessage/missed``.
    ///
    /// Default: 1,000 for each subscription.
    public var mostMessages = 1_000
    /// How many bytes of them wait.
    ///
    /// Default: 16 MiB for each subscription.
    public var messageSize = ByteCount.mebibytes(16)

    /// Makes options with the defaults.
    public init() {}
}
