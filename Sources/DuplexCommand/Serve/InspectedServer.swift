// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexInspector
import DuplexServer
import DuplexSharing
import DuplexSockets
import DuplexWebSockets
import Foundation
import Synchronization

/// The inspector of `duplex serve`, with something to see in each of its parts.
struct InspectedServer {
    static let path = "/_inspect"
    /// Pages of a folder would otherwise be of the same origin as the inspector, and could do what whoever looks may.
    static let sandbox = RouteOption.after { _, response in
        response.headers[.contentSecurityPolicy] = "sandbox allow-scripts allow-forms allow-popups"
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
        options.allowedChanges = Set(changes.compactMap(InspectorChange.init))
        options.onStart = { address in console.print("  The inspector: \(address)") }
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
        server.inspector(Self.path, options: options)
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

/// The process's own scene for the inspector's page of views: its servers with their connections, and its loops, as boxes.
///
/// A WebSocket has boxes of its own: how full its inbox and its output are; one that is empty is hidden.
enum DemoScene {
    /// The connections of one server that are drawn.
    static let limit = 1_000

    private static let width = 1_200.0
    private static let cell = (width: 180.0, height: 70.0)
    private static let gap = 12.0
    private static let columns = 6

    /// The scene as it is now.
    static func take() async -> InspectorView {
        var parts: [InspectorView] = []
        for (number, server) in ServingLoops.all.enumerated() { parts.append(await node(of: server, number + 1)) }
        parts.append(await loops())
        var top = gap
        for index in parts.indices {
            parts[index].x = gap
            parts[index].y = top
            top += parts[index].height + gap
        }
        let process = ProcessInfo.processInfo
        return InspectorView(
            "process",
            type: "Process",
            width: width,
            height: top,
            properties: [
                "name": process.processName, "id": "\(process.processIdentifier)", "host": process.hostName,
                "system": process.operatingSystemVersionString,
            ],
            children: parts
        )
    }

    // MARK: Servers

    private static func node(of server: ServingLoops, _ number: Int) async -> InspectorView {
        let connections = await server.connections.sorted { $0.age > $1.age }
        var children: [InspectorView] = []
        for connection in connections.prefix(limit) { children.append(await node(of: connection)) }
        return panel("server \(number)", "WebServer", ["connections": "\(connections.count)"], children)
    }

    private static func node(of connection: ServerConnection) async -> InspectorView {
        let peer = connection.remoteAddress.map { "\($0)" } ?? "somebody"
        let age = "\(connection.age.components.seconds) s"
        let route = connection.route ?? "between two requests"
        guard case .webSocket(let socket) = connection.kind else {
            // Of that connection alone, as long as it is there.
            let identity = connection.client.map { UInt32(truncatingIfNeeded: ObjectIdentifier($0).hashValue) } ?? 0
            let id = "connection \(String(identity, radix: 36))"
            return InspectorView(
                id,
                type: "HTTP",
                width: cell.width,
                height: cell.height,
                properties: ["peer": peer, "route": route, "age": age]
            )
        }
        let now = await socket.snapshot
        let id = "\(socket.id)"
        return InspectorView(
            id,
            type: "WebSocket",
            width: cell.width,
            height: cell.height,
            properties: [
                "peer": peer, "route": route, "age": age, "state": "\(now.state)",
                "received": "\(now.counts.messagesReceived) messages, \(now.counts.bytesReceived) bytes",
                "sent": "\(now.counts.messagesSent) messages, \(now.counts.bytesSent) bytes",
                "compression": now.compression.map { "\($0)" } ?? "none",
            ],
            children: [
                bar(id, "inbox", at: 10, filled: Double(now.inboxBytes), of: 1_048_576),
                bar(id, "output", at: 40, filled: Double(now.queuedBytes), of: 1_048_576),
            ]
        )
    }

    /// How full something is.
    private static func bar(
        _ id: String,
        _ name: String,
        at y: Double,
        filled bytes: Double,
        of most: Double
    ) -> InspectorView {
        let inner = cell.width - 20
        let filled = InspectorView(
            "\(id), \(name), filled",
            type: "Filled",
            width: max(2, inner * min(1, bytes / most)),
            height: 20,
            properties: ["bytes": "\(Int(bytes))"]
        )
        var bar = InspectorView(
            "\(id), \(name)",
            type: "Buffer",
            x: 10,
            y: y,
            width: inner,
            height: 20,
            properties: ["name": name],
            children: [filled]
        )
        bar.clips = true
        bar.children[0].isHidden = bytes == 0
        return bar
    }

    // MARK: Loops

    private static func loops() async -> InspectorView {
        var children: [InspectorView] = []
        for (number, loop) in EventLoop.all.enumerated() {
            let kinds = await loop.look { "\(type(of: $0))" }
            let counts = Dictionary(kinds.map { ($0, 1) }, uniquingKeysWith: +).sorted { $0.key < $1.key }
            var node = InspectorView(
                "loop \(number + 1)",
                type: "EventLoop",
                width: cell.width,
                height: cell.height
            )
            node.properties = counts.map { .init($0.key, "\($0.value)") }
            children.append(node)
        }
        return panel("loops", "EventLoopGroup", ["loops": "\(children.count)"], children)
    }

    /// A box with others in rows.
    private static func panel(
        _ id: String,
        _ type: String,
        _ properties: KeyValuePairs<String, String>,
        _ children: [InspectorView]
    ) -> InspectorView {
        var placed = children
        for index in placed.indices {
            placed[index].x = gap + Double(index % columns) * (cell.width + gap)
            placed[index].y = gap + Double(index / columns) * (cell.height + gap)
        }
        let rows = Double(max(1, (children.count + columns - 1) / columns))
        return InspectorView(
            id,
            type: type,
            width: width - 2 * gap,
            height: rows * (cell.height + gap) + gap,
            properties: properties,
            children: placed
        )
    }
}
