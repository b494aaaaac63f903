// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import HTTPTypes

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
            let text = try request.queryItems["text"] ?? ""
            let found = try Self.scene(request, scenes).present?.search(text) ?? []
            return try InspectorAnswer.json(Found(ids: found))
        }
        routes.get("/views/picture") { request in
            let (node, scene) = try Self.node(request, scenes)
            let bytes = try await scene.picture(of: node)
            return Response(type: "image/png", fields: [.cacheControl: "no-store"], body: bytes)
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
        let name = try request.queryItems["scene"]
        guard let scene = scenes.first(where: { $0.name == name }) else {
            throw Problem(.notFound, "There is no such tree.")
        }
        return scene
    }

    /// The view that a page names, if the present tree has it.
    private static func node(_ request: Request, _ scenes: [ViewScene]) throws -> (ViewTree.Node, ViewScene) {
        let scene = try scene(request, scenes)
        guard let id = try request.queryItems["id"], let node = scene.present?[id] else {
            throw Problem(.notFound, "The tree has no such view any more.")
        }
        return (node, scene)
    }
}
