// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexInspector
import DuplexServer
import DuplexSharing
import Synchronization

/// The inspector of `duplex serve`, with something to see in each of its parts.
struct InspectedServer {
    static let path = "/_inspect"
    /// Pages of a folder would otherwise be of the same origin as the inspector, and could do what whoever looks may.
    static let sandbox = RouteOption.after { _, response in
        response.fields[.contentSecurityPolicy] = "sandbox allow-scripts allow-forms allow-popups"
    }

    /// What may be changed by its page.
    var changes: [String]
    /// The folder that is served, if one is.
    var folder: SharedFolder?
    /// Where its address is printed.
    let console: Console

    /// Adds the inspector.
    func add(to server: inout WebServer) {
        var options = InspectorOptions()
        options.allows = Set(changes.compactMap(InspectorChange.init))
        options.tellsAddress = { address in console.print("  The inspector: \(address)") }
        options.console = .command
        if let folder { options.folders["Served"] = folder }
        let note = Note()
        options.values.add("Note", in: "Demo") {
            note.text.withLock { $0 }
        } set: { text in
            note.text.withLock { $0 = text }
        }
        options.messages { text in .text("You said: \(text)") }
        options.commands.add("Count", .number("to", default: 10), detail: "Counts, as a table.") { arguments in
            let last = max(0, min(1_000, arguments.integer("to") ?? 0))
            return .table(columns: ["Number", "Square"], rows: (0...last).map { ["\($0)", "\($0 * $0)"] })
        }
        options.views.add("This process") { await DemoScene.take() }
        server.inspector(Self.path, options)
    }

    /// A value to try with.
    private final class Note: Sendable {
        let text = Mutex("Write something here.")
    }
}

extension InspectorConsole {
    /// That of the command, which has its log from the start.
    static let command = InspectorConsole()
}
