// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexInspector
import DuplexServer
import DuplexTestTimes
import DuplexWire
import Foundation
import Synchronization
import Testing

extension PeerTests.InspectedAppTests {
    /// Red, 2 × 2.
    private static let png: [UInt8] =
        Base16.decode(
            "89504e470d0a1a0a0000000d4948445200000002000000020802000000fdd49a73000000104944415478da63b8232202440c100a001f9e"
                + "04115aecfe060000000049454e44ae426082"
        ) ?? []

    /// A window with lists, and lists with rows: as many views as wanted.
    private static func window(_ count: Int, looks: Int) -> InspectorView {
        var window = InspectorView("window", type: "Window", width: 1_000, height: 800)
        let lists = 10
        let rows = max(1, (count - 1 - lists) / lists / 2)
        for list in 0..<lists {
            var node = InspectorView("list-\(list)", type: "List", x: Double(list * 100), width: 96, height: 800)
            node.properties = [.init("looks", "\(looks)")]
            node.clips = true
            for row in 0..<rows {
                let height = 1_600 / Double(rows)
                var cell = InspectorView("cell-\(list)-\(row)", type: "Cell", width: 88, height: height * 0.9)
                (cell.x, cell.y) = (4, Double(row) * height)
                var label = InspectorView("label-\(list)-\(row)", type: "Label", width: 60, height: height * 0.5)
                (label.x, label.y) = (8, height * 0.2)
                label.properties = [.init("text", row == 3 ? "needle \(list)" : "text")]
                label.isHidden = row == 5
                if row < 4 { label.picture = row == 2 ? .made { _ in png } : .png(png) }
                cell.children = [label]
                node.children.append(cell)
            }
            window.children.append(node)
        }
        return window
    }

    @Test(
        "Chromium turns, zooms, picks, searches, filters and freezes views, by WebGL and without it",
        .timeLimit(minutes: 4)
    )
    func views() async throws {
        let looks = Mutex(0)
        let lines = try await Self.browse("inspector_views.py") { options, _ in
            options.views.add("Small <b>") {
                Self.window(
                    211,
                    looks: looks.withLock { looks in
                        looks += 1
                        return looks
                    }
                )
            }
            options.views.add("Large") { Self.window(5_000, looks: 0) }
            options.views.add("Broken") { throw Problem(.badRequest, "There is no window.") }
        }
        #expect(lines.count == 11 && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(lines)")
    }
}
#endif
