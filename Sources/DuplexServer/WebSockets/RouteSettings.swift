// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire

/// What holds for the requests and the WebSockets of a route: the server's settings, narrowed by its groups and by itself.
struct RouteSettings: Sendable {
    var messages = MessageLimits.internet
    var http = HTTPLimits.internet
    var keepalive = Keepalive.every(.seconds(20), timeout: .seconds(20))
    var closeTimeout = Duration.seconds(10)
    var subprotocols: [String] = []
    var requiresSubprotocol = false
    var origins = OriginPolicy.sameHost
    var compression = WebSocketCompression.disabled
    var compressionQuirks = CompressionQuirks.known

    func with(_ options: [RouteOption]) -> RouteSettings {
        var copy = self
        for option in options { option.apply(&copy) }
        return copy
    }
}
