// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire

/// Options of a ``ReconnectingWebSocket``: how it connects, and what it keeps.
///
/// Changes of the network are noticed once ``follow(_:)`` is called, or by ``ReconnectingWebSocket/networkChanged()``, and not by
/// default: a monitor is a socket and a watch for the whole process, which the app pays for once, with
/// `NetworkMonitor.shared()`, for all of its clients. Without it, a lost line is noticed by pings.
public struct ReconnectOptions: Sendable {
    /// The options of each connection.
    public var webSocketOptions = WebSocketOptions()
    /// Called before each attempt, which it may change: the URL, headers, a token.
    ///
    /// Default: nothing.
    ///
    /// An error that it throws fails the attempt, with the kind `configurationFailed`. The closure runs on the client's loop, as
    /// handlers of servers do: a call that blocks holds up all connections of the loop.
    public var configure: (@Sendable (inout ReconnectConnection) async throws -> Void)?
    /// How long one attempt may take, with ``configure``, connecting and `onOpen` together.
    ///
    /// Default: 30 s.
    ///
    /// Connecting alone has `WebSocketOptions.connectTimeout` besides.
    public var attemptTimeout = Duration.seconds(30)
    /// The guarantee for what ``ReconnectingWebSocket/send(_:)-(Message)`` takes.
    ///
    /// Default: at most once.
    public var delivery = ReconnectDelivery.atMostOnce
    /// The most messages that wait to be sent or to be acknowledged; `send` waits while there are so many.
    ///
    /// Default: 1,024.
    public var outboxMessages = 1_024
    /// The most bytes of them; a larger message goes when it is the only one.
    ///
    /// Default: 1 MiB.
    public var outboxBytes = ByteCount.mebibytes(1)
    /// How long an open connection has for a pong when the network has changed.
    ///
    /// Default: 5 s.
    package var probeTimeout = Duration.seconds(5)

    /// The durations that are set here.
    ///
    /// Those of ``webSocketOptions`` are checked after ``configure`` has changed them.
    package var durations: [DurationSetting] {
        [DurationSetting("attemptTimeout", attemptTimeout), DurationSetting("probeTimeout", probeTimeout)]
    }

    /// What the client draws its waits from, so that a test knows them.
    package var random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()

    /// Waits for changes of the network, and reports each.
    var networkChanges: (@Sendable (_ tell: @Sendable (_ isLoss: Bool) async -> Void) async -> Void)?

    /// The defaults.
    public init() {}

    /// Treats each element of a sequence as a change of the network; see ``ReconnectingWebSocket/networkChanged()``.
    ///
    /// ```swift
    /// options.follow(try NetworkMonitor.shared().changes)
    /// ```
    ///
    /// It is iterated by a task of its own from the first attempt to the client's end. An error of it is the same as
    /// its end.
    ///
    /// No change is lost, but those that come together count as one: a link that comes up is an interface, its
    /// addresses and a route. The first is acted on at once, the next 100 ms later, and where links come and go all the
    /// time, every 2 seconds in the end. An attempt that a change has begun isn't given up for another one for 5
    /// seconds, unless the first was a loss (`NetworkChange.interfaceDown`, `.addressRemoved`) and the other isn't;
    /// when it fails, the next is made at once.
    public mutating func follow(_ changes: some AsyncSequence & Sendable) {
        networkChanges = { tell in
            do {
                for try await change in changes { await tell((change as? NetworkChange)?.isLoss == true) }
            } catch {
                // A monitor that has failed reports nothing more; attempts go on by the policy.
                return
            }
        }
    }
}

/// One attempt as it is about to be made; see ``ReconnectOptions/configure``.
public struct ReconnectConnection: Sendable {
    /// Which attempt it is, and for which of the URLs.
    public let attempt: ReconnectAttempt
    /// Where it goes.
    public var url: String
    /// What it is made with.
    public var options: WebSocketOptions
}
