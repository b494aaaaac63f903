// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets

// The receiver of the connection's events.

extension DelegatedWebSocket {
    /// The delegate, which gets all events from here on, on the main queue; kept weakly.
    ///
    /// While there is none, messages that come are dropped.
    @MainActor public var delegate: (any WebSocketDelegate)? {
        get { delegates.delegate }
        set { delegates.tellOnMain { [weak newValue] in newValue } }
    }

    /// Sets the delegate, which gets all events from here on, on the queue that this object was made with; kept weakly.
    ///
    /// - Parameter delegate: may be called on any thread; `nil` for nobody.
    public func setDelegate(_ delegate: (any WebSocketDelegate & Sendable)?) {
        delegates.tell { [weak delegate] in delegate }
    }

    /// Calls the method of the delegate that is for an event.
    func tell(_ event: ToldEvent, to delegate: any WebSocketDelegate) {
        switch event {
        case .message(let message): delegate.webSocket(self, didReceive: message)
        case .ping(let payload): delegate.webSocket(self, didReceivePing: payload)
        case .pong(let payload, let roundTrip):
            delegate.webSocket(self, didReceivePong: payload)
            if let roundTrip { delegate.webSocket(self, didReceivePong: roundTrip) }
        }
    }
}
