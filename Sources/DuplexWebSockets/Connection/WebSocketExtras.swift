// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// What few connections need at a time: those who wait for a pong or for the end, and a timer of the end.
///
/// Behind one reference, because an idle connection is little more than the room for what it might need.
final class WebSocketRarities {
    var pings: [WebSocket.PingWaiter] = []
    var closers: [Waiter<Void>] = []
    /// Observers of each round trip.
    var latencyWatchers: [UInt64: AsyncStream<Duration>.Continuation] = [:]
    /// Of the end, or of a pause because the peer is too fast.
    var graceTimer: TimerID?
    /// Looks for the peer's close behind a full inbox, while that is received.
    var closeSearch: CloseSearch?
    /// Pings and pongs that wait for the delegate; of a connection with one.
    let controlInbox: ControlInbox?

    init(_ controlInbox: ControlInbox? = nil) {
        self.controlInbox = controlInbox
    }
}

extension WebSocket {
    var pings: [PingWaiter] {
        get { rarities?.pings ?? [] }
        set { if rarities != nil || !newValue.isEmpty { neededRarities.pings = newValue } }
    }

    var closers: [Waiter<Void>] {
        get { rarities?.closers ?? [] }
        set { if rarities != nil || !newValue.isEmpty { neededRarities.closers = newValue } }
    }

    var latencyWatchers: [UInt64: AsyncStream<Duration>.Continuation] {
        get { rarities?.latencyWatchers ?? [:] }
        set { if rarities != nil || !newValue.isEmpty { neededRarities.latencyWatchers = newValue } }
    }

    var graceTimer: TimerID? {
        get { rarities?.graceTimer }
        set { if rarities != nil || newValue != nil { neededRarities.graceTimer = newValue } }
    }

    var closeSearch: CloseSearch? {
        get { rarities?.closeSearch }
        set { if rarities != nil || newValue != nil { neededRarities.closeSearch = newValue } }
    }

    private var neededRarities: WebSocketRarities {
        if let rarities { return rarities }
        let made = WebSocketRarities()
        rarities = made
        return made
    }
}
