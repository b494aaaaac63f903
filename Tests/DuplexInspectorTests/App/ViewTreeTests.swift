// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("Trees of views, taken apart")
struct ViewTreeTests {
    private func node(_ id: String, _ type: String = "View", children: [InspectorView] = []) -> InspectorView {
        InspectorView(id, type: type, x: 1, y: 2, width: 30, height: 40.126, children: children)
    }

    @Test("Parents come in front of their children, in the order of the app")
    func order() {
        let tree = ViewTree(node("a", children: [node("b", children: [node("c")]), node("d")]))
        #expect(tree.nodes.map(\.id) == ["a", "b", "c", "d"])
        #expect(tree.nodes.map(\.parent) == [-1, 0, 1, 0])
        #expect(tree["c"]?.id == "c" && tree["x"] == nil && tree.cuts.isEmpty)
    }

    @Test("Its JSON has what is drawn, and neither properties nor pictures")
    func drawing() throws {
        var root = node("a", "Window", children: [node("b\u{7}"), node("c", "Window")])
        root.properties = [.init("secret", "hush")]
        root.isHidden = true
        root.clips = true
        root.alpha = 0.12345
        root.picture = .made { _ in nil }
        let drawing = ViewTree(root).drawing
        #expect(drawing.types == ["Window", "View"] && drawing.ids == ["a", "b\u{7}", "c"] && drawing.cut == nil)
        #expect(
            drawing.nodes == [
                [0, -1, 1, 2, 30, 40.13, 3, 0.123, 1], [1, 0, 1, 2, 30, 40.13, 0, 1, 0],
                [0, 0, 1, 2, 30, 40.13, 0, 1, 0],
            ]
        )
        #expect(try CompactJSON.value(of: CompactJSON.text(of: drawing)) == drawing)
    }

    @Test("A picture that is another one has another number")
    func pictures() {
        func drawing(_ bytes: [UInt8]) -> ViewTree.Drawing {
            var node = node("a")
            node.picture = .png(bytes)
            return ViewTree(node).drawing
        }
        #expect(drawing([1]) == drawing([1]) && drawing([1]) != drawing([2]))
    }

    @Test("Numbers that can't be drawn become such that can")
    func numbers() {
        var root = node("a")
        (root.x, root.y, root.width, root.height) = (.nan, -.infinity, -5, 1e300)
        root.alpha = 7
        let taken = ViewTree(root).nodes[0]
        #expect(taken.frame == .init(x: 0, y: 0, width: 0, height: 1e7) && taken.alpha == 1)
    }

    @Test("Two views of one identity have their own in the tree")
    func identities() {
        let tree = ViewTree(node("a", children: [node("a", "Second"), node("a", "Third")]))
        #expect(tree.nodes.map(\.id) == ["a", "a (2)", "a (3)"])
        #expect(tree["a (3)"]?.type == "Third")
    }

    @Test("A tree that is too large, too deep or too long is cut, which is said")
    func bounds() {
        var limits = ViewTree.Limits()
        limits.nodes = 3
        let wide = ViewTree(node("a", children: (0..<5).map { node("\($0)") }), limits)
        #expect(wide.nodes.map(\.id) == ["a", "0", "1"] && wide.cuts == ["Only the first 3 views are shown."])
        limits = ViewTree.Limits()
        limits.depth = 2
        let deep = ViewTree(node("a", children: [node("b", children: [node("c")]), node("d")]), limits)
        #expect(deep.nodes.map(\.id) == ["a", "b", "d"] && deep.cuts == ["Views deeper than 2 are left out."])
        limits = ViewTree.Limits()
        limits.bytes = 1_024
        limits.text = 512
        var long = node("a")
        long.properties = (0..<4).map { .init("\($0)", String(repeating: "x", count: 1_000)) }
        let cut = ViewTree(long, limits)
        #expect(cut.nodes[0].properties.count == 1 && cut.nodes[0].properties[0].value.utf8.count == 515)
        #expect(cut.cuts == ["Texts behind the first 1 KiB are left out."])
        #expect(cut.drawing.cut == "Texts behind the first 1 KiB are left out.")
    }

    @Test("Views are found by identity, class and properties, in any case")
    func search() {
        var label = node("label", "Text")
        label.properties = [.init("title", "Hello World")]
        let tree = ViewTree(node("root", "Window", children: [label, node("other")]))
        #expect(tree.search("WIN") == ["root"] && tree.search("label") == ["label"])
        #expect(tree.search("hello w") == ["label"] && tree.search("title") == ["label"])
        #expect(tree.search("none") == [])
    }
}
