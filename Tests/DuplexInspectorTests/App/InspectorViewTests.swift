// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexInspector
import Testing

@Suite struct InspectorViewTests {
    @Test("A view is shown, opaque and without a picture, and keeps its properties in their order")
    func defaults() {
        let properties: KeyValuePairs = ["b": "1", "a": "2", "b ": "3"]
        let child = InspectorView("2", type: "Label", x: 1, y: 2, width: 3, height: 4, properties: properties)
        let node = InspectorView("1", type: "Window", width: 3, height: 4, children: [child])
        #expect(!node.isHidden && !node.clips && node.alpha == 1 && node.picture == nil && node.properties.isEmpty)
        #expect([node.x, node.y, node.width, node.height] == [0, 0, 3, 4])
        #expect([child.x, child.y, child.width, child.height] == [1, 2, 3, 4])
        #expect(node.children.map(\.id) == ["2"])
        #expect(child.properties.map(\.name) == ["b", "a", "b "] && child.properties.map(\.value) == ["1", "2", "3"])
    }
}
