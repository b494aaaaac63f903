// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
package import Tracing

// The two sides of a connection, by OpenTelemetry's names.

extension SpanAttributes {
    /// Takes `host[:port]`, as a request names it.
    package mutating func setServer(_ host: String) {
        let colon = host.lastIndex(of: ":")
        if let colon, let port = Int(host[host.index(after: colon)...]) {
            self["server.address"] = String(host[..<colon])
            self["server.port"] = port
        } else {
            self["server.address"] = host
        }
    }

    package mutating func setPeer(_ address: SocketAddress?) {
        guard let address else { return }
        self["network.peer.address"] = address.path ?? address.host
        if address.path == nil { self["network.peer.port"] = address.port }
    }
}
