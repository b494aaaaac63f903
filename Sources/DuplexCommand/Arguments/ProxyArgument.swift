// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexWebSockets

/// By way of which proxy to connect: `none`, `environment`, `system`, or a URL such as `socks5h://localhost:1080`.
struct ProxyArgument: ExpressibleByArgument, Sendable {
    let settings: ProxySettings
    private let text: String

    static let none = ProxyArgument(settings: .none, text: "none")

    private init(settings: ProxySettings, text: String) {
        self.settings = settings
        self.text = text
    }

    init?(argument: String) {
        switch argument {
        case "none": settings = .none
        case "environment": settings = .fromEnvironment
        case "system": settings = .system
        default:
            guard let proxy = try? ProxySettings.url(argument) else { return nil }
            settings = proxy
        }
        text = argument
    }

    var defaultValueDescription: String { text }
}
