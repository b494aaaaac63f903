// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import HTTPTypes
import Synchronization

/// The page of views.
struct ViewsRoom: InspectorRoom {
    private let scenes: [ViewScene]

    init(_ views: InspectorViews, on clock: any Clock<Duration> = ContinuousClock()) {
        scenes = views.all.map { ViewScene($0, on: clock) }
    }

    var page: String { "views" }

    /// The names of the trees.
    struct Scenes: Codable {
        var scenes: [String]
    }

    /// The views that have a text in them.
    struct Found: Codable {
        var ids: [String]
    }

    func add(to routes: inout InspectorRoutes) {
        addTopics(to: &routes)
        let scenes = scenes
        routes.get("/views") { _ in
            try InspectorAnswer.json(Scenes(scenes: scenes.map(\.name)))
        }
        routes.get("/views/tree") { request in
            try InspectorAnswer.json(await Self.scene(request, scenes).look(isFresh: true))
        }
        routes.get("/views/node") { request in
            let (node, _) = try Self.node(request, scenes)
            return try InspectorAnswer.json(node.details)
        }
        routes.get("/views/search") { request in
            let text = try request.query["text"] ?? ""
            let found = try Self.scene(request, scenes).present?.search(text) ?? []
            return try InspectorAnswer.json(Found(ids: found))
        }
        routes.get("/views/picture") { request in
            let (node, scene) = try Self.node(request, scenes)
            let bytes = try await scene.picture(of: node)
            return Response(type: "image/png", headers: [.cacheControl: "no-store"], body: bytes)
        }
    }

    private func addTopics(to routes: inout InspectorRoutes) {
        let scenes = scenes
        routes.watch("views") { parameters in
            guard let scene = scenes.first(where: { $0.name == parameters["scene"] }) else {
                throw LiveRefusal("There is no such tree.")
            }
            return LiveState { try await scene.look() }
        }
        routes.watch("views-node") { parameters in
            guard let scene = scenes.first(where: { $0.name == parameters["scene"] }), let id = parameters["id"] else {
                throw LiveRefusal("There is no such tree.")
            }
            return LiveState {
                _ = try await scene.look()
                return scene.present?[id]?.details
            }
        }
    }

    private static func scene(_ request: Request, _ scenes: [ViewScene]) throws -> ViewScene {
        let name = try request.query["scene"]
        guard let scene = scenes.first(where: { $0.name == name }) else {
            throw Problem(.notFound, "There is no such tree.")
        }
        return scene
    }

    /// The view that a page names, if the present tree has it.
    private static func node(_ request: Request, _ scenes: [ViewScene]) throws -> (ViewTree.Node, ViewScene) {
        let scene = try scene(request, scenes)
        guard let id = try request.query["id"], let node = scene.present?[id] else {
            throw Problem(.notFound, "The tree has no such view any more.")
        }
        return (node, scene)
    }
}

/// A tree of views, and how it was when somebody last looked.
final class ViewScene: Sendable {
    /// How many pictures the app makes at a time, and how long each may take.
    static let pictureCount = 8
    static let pictureTime = Duration.seconds(5)
    static let pictureSize = 8 * 1_048_576
    let name: String
    private let call: AppCall<ViewTree>
    private let clock: any Clock<Duration>
    private let freshness: Duration
    private let state = Mutex(State())

    fileprivate struct State {
        var tree: ViewTree?
        var drawing: ViewTree.Drawing?
        var taken: ContinuousClock.Instant?
        var pictures = 0
    }

    /// - Parameters:
    ///   - provider: what gives the tree.
    ///   - clock: the time by which its deadlines go.
    ///   - freshness: how old a tree may be for another viewer. Default: half a second.
    init(_ provider: ViewProvider, on clock: any Clock<Duration>, freshness: Duration = .milliseconds(500)) {
        name = provider.name
        self.clock = clock
        self.freshness = freshness
        call = AppCall(within: provider.limit, on: clock) { ViewTree(try await provider.root()) }
    }

    /// The tree that pages have been shown.
    var present: ViewTree? { state.withLock { $0.tree } }

    /// Asks the app for the tree.
    ///
    /// - Parameter isFresh: whether it is asked even where another viewer has just been given one.
    /// - Returns: the tree as the page draws it.
    /// - Throws: `LiveRefusal`'s kin: `Problem` where the app fails or is late.
    func look(isFresh: Bool = false) async throws -> ViewTree.Drawing {
        if !isFresh, let drawing = state.withLock({ $0.recent(freshness) }) { return drawing }
        let tree: ViewTree
        do {
            tree = try await call.value()
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(.badGateway, "The app gives no tree: \(AppFailure.text(of: error))")
        }
        let drawing = tree.drawing
        state.withLock { state in
            state.tree = tree
            state.drawing = drawing
            state.taken = .now
        }
        return drawing
    }

    /// The picture of a view of the tree.
    func picture(of node: ViewTree.Node) async throws -> [UInt8] {
        switch node.picture {
        case nil: throw Problem(.notFound, "The view has no picture.")
        case .png(let bytes): return try Self.check(bytes)
        case .made(let make):
            let isFree = state.withLock { state in
                if state.pictures >= Self.pictureCount { return false }
                state.pictures += 1
                return true
            }
            guard isFree else { throw Problem(.serviceUnavailable, "The app is making other pictures.") }
            let call = AppCall(within: Self.pictureTime, on: clock) { [self] in
                defer { state.withLock { $0.pictures -= 1 } }
                return try await make(node.id)
            }
            guard let bytes = try await call.value() else { throw Problem(.notFound, "The view has no picture.") }
            return try Self.check(bytes)
        }
    }

    private static func check(_ bytes: [UInt8]) throws -> [UInt8] {
        guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) else {
            throw Problem(.badGateway, "The app's picture is no PNG.")
        }
        if bytes.count > pictureSize { throw Problem(.badGateway, "The app's picture is longer than 8 MiB.") }
        return bytes
    }
}

extension ViewScene.State {
    /// The tree, if it isn't older than that.
    fileprivate func recent(_ age: Duration) -> ViewTree.Drawing? {
        guard let taken, taken.duration(to: .now) < age else { return nil }
        return drawing
    }
}
