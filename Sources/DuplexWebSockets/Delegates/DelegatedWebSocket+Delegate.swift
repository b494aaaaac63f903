// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Who is told what happens to the connection.

extension DelegatedWebSocket {
    /// Who is told what happens from here on, on the main queue; kept weakly.
    ///
    /// While there is none, messages that come are dropped.
    @MainActor public var delegate: (any WebSocketDelegate)? {
        get { delegates.delegate }
        set { delegates.tellOnMain { [weak newValue] in newValue } }
    }

    /// Sets who is told what happens from here on, on the queue that this object was made with; kept weakly.
    ///
    /// - Parameter delegate: may be called on any thread; `nil` for nobody.
    public func setDelegate(_ delegate: (any WebSocketDelegate & Sendable)?) {
        delegates.tell { [weak delegate] in delegate }
    }
}
