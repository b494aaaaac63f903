// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
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

    @Option(help: ArgumentHelp("How long connecting may take, handshake and all: 10s, 250ms.", valueName: "time"))
    var timeout = TimeArgument.seconds(10)

    @OptionGroup var limits: LimitOptions

    var webSocketOptions: WebSocketOptions {
        var options = WebSocketOptions()
        options.subprotocols = subprotocols
        for header in headers { options.headers.append(header.field) }
        options.connectTimeout = timeout.duration
        options.limits = limits.limits
        return options
    }
}
