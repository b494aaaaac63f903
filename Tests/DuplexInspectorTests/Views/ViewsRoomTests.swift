// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import Testing

@testable import DuplexInspector

@Suite("The page of views")
struct ViewsRoomTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1]

    private static func root() -> ViewNode {
        var label = ViewNode("label", type: "Label", frame: .init(width: 1, height: 1), properties: ["text": "hello"])
        label.picture = .png(png)
        return ViewNode("root", type: "Window", frame: .init(width: 9, height: 9), children: [label])
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
            #expect(picture.body == Self.png && picture.fields[.contentType] == "image/png")
            #expect(picture.fields[.xContentTypeOptions] == "nosniff")
            #expect(picture.fields[.contentSecurityPolicy] == "default-src 'none'; frame-ancestors 'none'")
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
