// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexInspector
import DuplexServer

/// The inspector of `duplex serve`, with something to see in each of its parts.
enum InspectedServer {
    static let path = "/_inspect"

    /// Adds the inspector.
    ///
    /// - Parameters:
    ///   - server: what is looked into.
    ///   - changes: what may be changed by its page.
    ///   - console: where its address is told.
    static func add(to server: inout WebServer, allowing changes: [String], _ console: Console) {
        var options = InspectorOptions()
        options.allows = Set(changes.compactMap(InspectorChange.init))
        options.tellsAddress = { address in console.print("  The inspector: \(address)") }
        server.inspector(path, options)
    }
}
