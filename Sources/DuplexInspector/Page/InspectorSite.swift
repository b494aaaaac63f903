// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSharing

/// The inspector's page.
enum InspectorSite {
    static let files = PageFile.all(in: "inspector")

    static let contentSecurityPolicy = PageSite.policy(images: "blob:", "data:")

    static func add(to routes: inout RouteGroup) {
        PageSite(files, policy: contentSecurityPolicy).add(at: "/", to: &routes)
    }
}
