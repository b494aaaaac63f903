// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import Synchronization
import Testing

@testable import DuplexInspector

@Suite("The page of views")
struct ViewsRoomTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1]

    private static func root() -> InspectorView {
        var label = InspectorView("label", type: "Label", width: 1, height: 1, properties: ["text": "hello"])
        label.picture = .png(png)
        return InspectorView("root", type: "Window", width: 9, height: 9, children: [label])
    }

    @Test("The tree, a view's properties, a search and a picture")
    func routes() async throws {
        try await InspectedApp.run {
            $0.views.add("Main window") { Self.root() }
        } _: { app async throws in
            #expect(try await app.get("/views").value(ViewsRoom.Scenes.self).scenes == ["Main window"])
            let scene = "scene=Main%20window"
            // What a page names is looked for in the tree that was shown, and there is none yet.
            #expect(try await app.get("/views/picture?\(scene)&id=label").status == .notFound)
            #expect(try await app.get("/views/tree?\(scene)").value(ViewTree.Drawing.self).ids == ["root", "label"])
            let node = try await app.get("/views/node?\(scene)&id=label")
            #expect(
                try node.value() == ViewTree.Node.Details(id: "label", type: "Label", properties: [["text", "hello"]])
            )
            let found = try await app.get("/views/search?\(scene)&text=HELLO").value(ViewsRoom.Found.self)
            #expect(found.ids == ["label"])
            let picture = try await app.get("/views/picture?\(scene)&id=label")
            #expect(picture.body == Self.png && picture.headers[.contentType] == "image/png")
            #expect(picture.headers[.xContentTypeOptions] == "nosniff")
            #expect(picture.headers[.contentSecurityPolicy] == "default-src 'none'; frame-ancestors 'none'")
        }
    }

    @Test("Views and trees that there are none of are refused")
    func refusals() async throws {
        try await InspectedApp.run {
            $0.views.add("a") { Self.root() }
            $0.views.add("b") { throw Problem(.badRequest, "There is no window.") }
        } _: { app async throws in
            _ = try await app.get("/views/tree?scene=a")
            for path in ["tree?scene=c", "tree", "node?scene=a&id=x", "node?scene=a", "picture?scene=a&id=root"] {
                #expect(try await app.get("/views/\(path)").status == .notFound, "\(path)")
            }
            let broken = try await app.get("/views/tree?scene=b")
            #expect(broken.status == .badRequest && broken.text.contains("There is no window."))
        }
    }
}

@Suite("A tree of views, looked at")
struct ViewSceneTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1]

    private static func node(_ id: String, _ picture: InspectorView.Picture? = nil) -> InspectorView {
        var node = InspectorView(id, type: "View", width: 1, height: 1)
        node.picture = picture
        return node
    }

    private static func scene(_ root: @escaping @Sendable () async throws -> InspectorView) -> ViewScene {
        let provider = ViewProvider(name: "a", limit: .seconds(20), root: root)
        return ViewScene(provider, on: ContinuousClock(), freshness: .seconds(600))
    }

    @Test("Several who watch have the app asked once, and who looks anew has it asked again")
    func looks() async throws {
        let looks = Mutex(0)
        let scene = Self.scene {
            let count = looks.withLock { looks in
                looks += 1
                return looks
            }
            return Self.node("\(count)")
        }
        #expect(scene.present == nil && looks.withLock { $0 } == 0)
        _ = try await scene.look(isFresh: true)
        _ = try await scene.look(isFresh: true)
        #expect(looks.withLock { $0 } == 2 && scene.present?["2"] != nil)
        for _ in 0..<3 { _ = try await scene.look() }
        #expect(looks.withLock { $0 } == 2)
    }

    @Test("What the app throws is told, and the tree before stays")
    func failures() async throws {
        struct Failure: Error {}
        let isGood = Mutex(true)
        let scene = Self.scene {
            if isGood.withLock({ $0 }) { return Self.node("a") }
            throw Failure()
        }
        _ = try await scene.look(isFresh: true)
        isGood.withLock { $0 = false }
        let problem = await #expect(throws: Problem.self) { try await scene.look(isFresh: true) }
        #expect(problem?.detail == "The app gives no tree: Failure()")
        #expect(scene.present?["a"] != nil)
    }

    @Test("A picture is a PNG, or none")
    func pictures() async throws {
        let scene = Self.scene { Self.node("a") }
        let made = InspectorView.Picture.made { $0 == "b" ? Self.png : nil }
        for picture in [.png(Self.png), made] {
            #expect(try await scene.picture(of: ViewTree(Self.node("b", picture)).nodes[0]) == Self.png)
        }
        for (picture, status) in [(made, 404), (nil, 404), (.png(Array("<svg>".utf8)), 502)] {
            let problem = await #expect(throws: Problem.self) {
                try await scene.picture(of: ViewTree(Self.node("a", picture)).nodes[0])
            }
            #expect(problem?.status.code == status)
        }
        let large = InspectorView.Picture.png(Self.png + [UInt8](repeating: 0, count: 8 * 1_048_576))
        await #expect(throws: Problem.self) { try await scene.picture(of: ViewTree(Self.node("a", large)).nodes[0]) }
    }

    @Test("No more than eight pictures are made at a time")
    func bound() async throws {
        let gate = Bulletin(0)
        let scene = Self.scene { Self.node("a") }
        let made = InspectorView.Picture.made { _ in
            gate.change { $0 += 1 }
            _ = try await gate.wait { $0 >= 100 ? true : nil }
            return Self.png
        }
        let node = ViewTree(Self.node("a", made)).nodes[0]
        try await withThrowingTaskGroup(of: [UInt8].self) { tasks in
            for _ in 0..<8 { tasks.addTask { try await scene.picture(of: node) } }
            _ = try await gate.wait { $0 == 8 ? true : nil }
            let problem = await #expect(throws: Problem.self) { try await scene.picture(of: node) }
            #expect(problem?.status == .serviceUnavailable)
            gate.change { $0 = 100 }
            for try await picture in tasks { #expect(picture == Self.png) }
        }
        #expect(try await scene.picture(of: node) == Self.png)
    }
}
