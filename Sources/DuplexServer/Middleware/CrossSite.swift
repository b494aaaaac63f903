// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

// Requests that a page of another site has a browser make in the name of whoever looks at it.

extension RouteOption {
    /// Refuses requests of other sites' pages that would change something (cross-site request forgery), with 403.
    ///
    /// Browsers say where a request comes from by `Sec-Fetch-Site`, and older ones by `Origin`. GET, HEAD and OPTIONS go
    /// through, since they change nothing; so does what has neither field, which no browser sent. WebSockets have
    /// ``origins(_:)``.
    ///
    /// - Parameter origins: whose pages may make such requests, too, such as `https://app.example`: those that ``cors(_:)``
    ///   lets in. Default: nobody's.
    /// - Returns: the option.
    public static func sameSite(or origins: String...) -> RouteOption {
        let trusted = Set(origins)
        return .before { request in
            if let origin = request.head.value(of: .origin), trusted.contains(origin) { return nil }
            guard CrossSite.isForged(request) else { return nil }
            throw Problem(.forbidden, "A page of another site has made this request.")
        }
    }
}

enum CrossSite {
    static func isForged(_ request: Request) -> Bool {
        switch request.method {
        case .get, .head, .options: return false
        default: break
        }
        if let site = request.head.value(of: .secFetchSite) { return site != "same-origin" && site != "none" }
        guard let origin = request.head.value(of: .origin) else { return false }
        let host = origin.split(separator: "://", maxSplits: 1).last.map(String.init) ?? ""
        return host.lowercased() != request.head.host.lowercased()
    }
}
