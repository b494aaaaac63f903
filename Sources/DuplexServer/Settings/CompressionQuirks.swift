// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

/// Clients that offer permessage-deflate and can't do it, by what their requests say of them.
///
/// An offer of such a client is declined, and the WebSocket opens without compression. Where compression is required, the
/// client is refused.
public struct CompressionQuirks: Sendable {
    private let isBroken: @Sendable (Request) -> Bool

    /// A rule of your own, in place of what is known.
    ///
    /// - Parameter isBroken: whether the client that sent the request can't be sent compressed messages; it runs on the
    ///   connection's loop and must not block it. `CompressionQuirks.known.decline(request)` asks for what is known.
    public init(_ isBroken: @escaping @Sendable (Request) -> Bool) {
        self.isBroken = isBroken
    }

    /// Every offer is taken seriously.
    public static let none = CompressionQuirks { _ in false }

    /// Safari 15.0 to 15.3, whose connections fail once compressed messages come.
    public static let known = CompressionQuirks { request in
        request.fields[.userAgent].map(isBrokenSafari) ?? false
    }

    /// Whether the offer in that request is declined.
    ///
    /// - Parameter request: the request for a WebSocket.
    /// - Returns: whether it is.
    public func decline(_ request: Request) -> Bool { isBroken(request) }

    /// Other browsers on Apple's systems have a `Safari/` too, but no `Version/`.
    private static func isBrokenSafari(_ userAgent: String) -> Bool {
        let products = userAgent.split(separator: " ")
        guard products.contains(where: { $0.hasPrefix("Safari/") }),
            let version = products.first(where: { $0.hasPrefix("Version/") })
        else { return false }
        let numbers = version.dropFirst("Version/".count).split(separator: ".").map { Int($0) }
        return numbers.first == 15 && (numbers.count < 2 || (numbers[1] ?? .max) <= 3)
    }
}
