// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
import DuplexSharing
import DuplexSockets
import DuplexWire
import Logging

/// The inspector of a server: its parts, and who may look at them.
public final class Inspector: Sendable {
    /// Where it is below the server, with a slash at its end.
    package let path: String
    /// What the address has to name; see ``InspectorAccess/token``.
    public var token: String { entrance.token }
    private let entrance: InspectorGuard
    private let options: InspectorOptions
    private let rooms: [any InspectorRoom]
    private let logger: Logger

    init(at path: String, _ options: InspectorOptions, rooms: [any InspectorRoom], logger: Logger) {
        self.path = path.hasSuffix("/") ? path : path + "/"
        self.options = options
        self.rooms = rooms
        self.logger = logger
        entrance = InspectorGuard(
            options.access,
            hosts: options.hosts,
            answersOtherMachines: options.answersOtherMachines
        )
    }

    /// The address of the page for whoever is to look, with the token where one is needed.
    ///
    /// - Parameter url: the server's, as in `RunningServer.urls`, or as a proxy shows it.
    /// - Returns: the address. Hazard: whoever has it can look.
    public func address(below url: String) -> String {
        let page = (url.hasSuffix("/") ? String(url.dropLast()) : url) + path
        return options.access == .users ? page : "\(page)?token=\(PercentEncoding.segment(token))"
    }

    /// Adds everything below the path, behind the guard.
    func add(to group: inout RouteGroup) {
        group.use(entrance.option)
        var routes = InspectorRoutes(group, allowed: options.allowedChanges, logger: logger)
        for room in rooms { room.add(to: &routes) }
        let state = State(pages: rooms.map(\.page), allows: options.allowedChanges.map(\.rawValue).sorted())
        routes.get("/state") { _ in try InspectorAnswer.json(state) }
        let viewer = LiveViewer(topics: routes.topics)
        group = routes.group
        group.webSocket("/live") { socket in try await viewer.serve(socket) }
        InspectorSite.add(to: &group)
    }

    /// What the page is to show.
    struct State: Codable {
        var pages: [String]
        var allows: [String]
    }
}

extension WebServer {
    /// Shows the inside of the app in the browser, to everybody with the token.
    ///
    /// Hazard: pages of the app are of the same origin as the inspector. A script in one of them, from an uploaded file
    /// or by a fault of the app, can do what the viewer may do. A server of its own, on another port, keeps them apart.
    ///
    /// - Parameters:
    ///   - path: where the page is, such as `/_inspect`.
    ///   - settings: settings of these routes that differ from the server's, such as the app's own authentication.
    ///   - options: what is shown, who may look, and what may be changed. Default: as in ``InspectorOptions``.
    /// - Returns: the inspector, which knows its token.
    @discardableResult
    public mutating func inspector(
        _ path: String,
        _ settings: RouteOption...,
        options: InspectorOptions = InspectorOptions()
    ) -> Inspector {
        let base = path.hasSuffix("/") ? String(path.dropLast()) : path
        let history = RequestHistory(options.requests)
        use(.observed(by: history))
        let rooms = InspectorRooms.all(options, history, below: base, on: eventLoops)
        let inspector = Inspector(at: path, options, rooms: rooms, logger: logger)
        group(base, .all([InspectorGuard.marking, .checking(options.durations)] + settings)) { group in
            inspector.add(to: &group)
        }
        onServing.append { urls in
            for url in urls { options.onStart(inspector.address(below: url)) }
        }
        return inspector
    }
}

/// The parts that an inspector has by its options, in the order in which the page lists them.
enum InspectorRooms {
    static func all(
        _ options: InspectorOptions,
        _ history: RequestHistory,
        below base: String,
        on group: EventLoopGroup?
    ) -> [any InspectorRoom] {
        let mask = SecretMask(options.secrets)
        var rooms: [any InspectorRoom] = []
        let recorder = FrameRecorder()
        rooms.append(ConnectionsRoom(recorder: recorder, mask: mask, own: "WebSocket \(base)/live"))
        rooms.append(RequestsRoom(history: history, mask: mask))
        if let console = options.console { rooms.append(ConsoleRoom(console: console)) }
        let catalogue = DatabaseCatalogue(named: options.databases, folders: options.folders)
        if !options.folders.isEmpty { rooms.append(FileRoom(options.folders, catalogue)) }
        if !options.databases.isEmpty || !options.folders.isEmpty {
            rooms.append(DatabaseRoom(catalogue: catalogue, sqlTime: options.sqlTime, sqlRows: options.sqlRows))
        }
        rooms.append(ValuesRoom(options.values))
        rooms.append(CommandsRoom(options.commands))
        rooms.append(ViewsRoom(options.views))
        let recordings = RecordingsRoom(mask: mask) { await recorder.recording(with: history.ring.all) }
        recordings.show(options.recordings)
        rooms.append(recordings)
        rooms.append(MachineRoom(group: { group ?? .shared }))
        return rooms
    }
}

/// The inspector's page.
enum InspectorSite {
    static let files = PageFile.all(in: "inspector")

    static let contentSecurityPolicy = PageSite.policy(images: "blob:", "data:")

    static func add(to routes: inout RouteGroup) {
        PageSite(files, policy: contentSecurityPolicy).add(at: "/", to: &routes)
    }
}
