// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// State that few connections need: those who wait for a pong or for the end, and a timer of the end.
///
/// Behind one reference, because an idle connection is little more than the room for what it might need.
final class WebSocketExtras {
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
        get { extras?.pings ?? [] }
        set { if extras != nil || !newValue.isEmpty { neededExtras.pings = newValue } }
    }

    var closers: [Waiter<Void>] {
        get { extras?.closers ?? [] }
        set { if extras != nil || !newValue.isEmpty { neededExtras.closers = newValue } }
    }

    var latencyWatchers: [UInt64: AsyncStream<Duration>.Continuation] {
        get { extras?.latencyWatchers ?? [:] }
        set { if extras != nil || !newValue.isEmpty { neededExtras.latencyWatchers = newValue } }
    }

    var graceTimer: TimerID? {
        get { extras?.graceTimer }
        set { if extras != nil || newValue != nil { neededExtras.graceTimer = newValue } }
    }

    var closeSearch: CloseSearch? {
        get { extras?.closeSearch }
        set { if extras != nil || newValue != nil { neededExtras.closeSearch = newValue } }
    }

    private var neededExtras: WebSocketExtras {
        if let extras { return extras }
        let made = WebSocketExtras()
        extras = made
        return made
    }
}
