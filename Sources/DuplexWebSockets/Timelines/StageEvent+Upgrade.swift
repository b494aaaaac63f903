// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets

extension StageEvent.Stage {
    /// The server is asked for the WebSocket; again, on a new connection, where it redirects or asks who this is.
    public static let upgrade = StageEvent.Stage("upgrade")
}
