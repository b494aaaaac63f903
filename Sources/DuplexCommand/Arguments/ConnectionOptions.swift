// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// How a client connects.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: .customLong("header"),
        parsing: .singleValue,
        help: ArgumentHelp("A field to send with the request; may be repeated.", valueName: "Name: value")
    )
    var headers: [HeaderArgument] = []

    @Option(
        name: .customLong("subprotocol"),
        parsing: .singleValue,
        help: ArgumentHelp("A subprotocol to offer, the preferred one first; may be repeated.", valueName: "name")
    )
    var subprotocols: [String] = []

    @Option(help: "Whether to have messages compressed (permessage-deflate), if the server does it, too.")
    var compression = CompressionArgument.on

    @Option(help: ArgumentHelp("How long connecting may take, handshake and all: 10s, 250ms.", valueName: "time"))
    var timeout = TimeArgument.seconds(10)

    @OptionGroup var tls: ClientTLSArguments

    @OptionGroup var limits: LimitOptions

    /// - Throws: `SocketError` when a file lacks what it should have.
    var webSocketOptions: WebSocketOptions {
        get throws { try makeWebSocketOptions() }
    }

    /// How a connection of bytes is made.
    ///
    /// - Throws: as ``webSocketOptions``.
    var connectOptions: ConnectOptions {
        get throws {
            var options = ConnectOptions(timeout: timeout.duration)
            options.tls = try tls.apply(to: options.tls)
            return options
        }
    }

    private func makeWebSocketOptions() throws -> WebSocketOptions {
        var options = WebSocketOptions()
        options.tls = try tls.apply(to: options.tls)
        options.subprotocols = subprotocols
        options.compression = compression.compression
        for header in headers { options.headers.append(header.field) }
        options.connectTimeout = timeout.duration
        options.limits = limits.limits
        return options
    }
}
