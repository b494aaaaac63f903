// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

// Sending clients that come in the clear to where they are secured.

extension RouteOption {
    /// Redirects what comes in the clear to the same URL by `https:`, with 308, which keeps the method and the body.
    ///
    /// What has come by TLS goes on. ``SecurityHeaders/transportSecurity`` makes browsers use TLS themselves.
    ///
    /// Hazard: the host is the one that the request names; ``WebServer/allowedHosts`` says which there are.
    ///
    /// - Parameters:
    ///   - port: where TLS is served. Default: 443.
    ///   - trustsProxy: whether `X-Forwarded-Proto` says by what a client has come to a proxy in front, which replaces that
    ///     field of the client's own. Default: false.
    /// - Returns: the option.
    public static func redirectToHTTPS(port: Int = 443, trustsProxy: Bool = false) -> RouteOption {
        .before { request in
            if request.tls != nil { return nil }
            if trustsProxy, request.head.value(of: .xForwardedProto)?.lowercased() == "https" { return nil }
            let host = AllowedHosts.name(of: request.head.host)
            guard !host.isEmpty else {
                throw Problem(.badRequest, "The request names no host.")
            }
            let authority = port == 443 ? host : "\(host):\(port)"
            let query = request.query.map { "?" + $0 } ?? ""
            let path = request.path.hasPrefix("/") ? request.path : "/"
            return .redirect(to: "https://\(authority)\(path)\(query)", .permanentRedirect)
        }
    }
}
