// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSharing

/// A folder that clients may change, by a page and as a disk on the network.
struct SharedContent: Sendable {
    /// Where the disk is.
    static let webDAVPath = "/dav"

    let folder: SharedFolder
    /// Whether there is the page; else there are the files, and listings.
    let hasPage: Bool
    let hasWebDAV: Bool
    /// How the disk is shared.
    var sharing = WebDAVOptions()

    /// Adds its routes to a server.
    ///
    /// - Parameters:
    ///   - server: what to add them to.
    ///   - option: settings of these routes that differ from the server's.
    func addRoutes(to server: inout WebServer, _ option: RouteOption) {
        var options = sharing
        // Beside other hidden names those of the Finder are nothing special.
        options.takesFinderFiles = folder.options.showsHidden
        if hasWebDAV { server.webDAV(Self.webDAVPath, option, root: folder, sharing: options) }
        if hasPage { server.uploader("/", option, root: folder) }
    }
}
