// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexInspector
import Testing

@Suite struct ViewNodeTests {
    @Test("A view is shown, opaque and without a picture, and keeps its properties in their order")
    func defaults() {
        let properties: KeyValuePairs = ["b": "1", "a": "2", "b ": "3"]
        let child = ViewNode("2", type: "Label", frame: .init(x: 1, y: 2, width: 3, height: 4), properties: properties)
        let node = ViewNode("1", type: "Window", frame: .init(width: 3, height: 4), children: [child])
        #expect(!node.isHidden && !node.clips && node.alpha == 1 && node.picture == nil && node.properties.isEmpty)
        #expect(node.frame == ViewNode.Frame(x: 0, y: 0, width: 3, height: 4))
        #expect(node.children.map(\.id) == ["2"])
        #expect(child.properties.map(\.name) == ["b", "a", "b "] && child.properties.map(\.value) == ["1", "2", "3"])
    }
}
