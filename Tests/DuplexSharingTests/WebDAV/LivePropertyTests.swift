// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexWire
import Testing

@testable import DuplexSharing

@Suite("Properties that the server knows")
struct LivePropertyTests {
    @Test("They are found by their names in DAV:")
    func names() {
        #expect(LiveProperty(.dav("getetag")) == .tag && LiveProperty(.dav("none")) == nil)
        #expect(LiveProperty(XMLName("getetag", in: "u:")) == nil)
        #expect(LiveProperty.allCases.filter { !$0.isProtected } == [.displayName])
        #expect(LiveProperty.allCases.filter { !$0.isCommon } == [.room, .used])
    }

    @Test("A folder has other ones than a file")
    func kinds() async throws {
        try await withTestFolder(["a.png": "x", "f/": ""]) { root in
            let folder = try SharedFolder(root)
            let entries = try await folder.entries(of: .root).entries
            let file = try #require(entries.first { $0.name == "a.png" })
            let inner = try #require(entries.first { $0.name == "f" })
            func properties(_ entry: FolderEntry) -> Set<LiveProperty> {
                Set(LiveProperty.allCases.filter { $0.element(LiveProperty.Facts(entry: entry)) != nil })
            }
            #expect(properties(file).subtracting(properties(inner)) == [.length, .contentType, .tag])
            #expect(properties(inner).isSubset(of: properties(file)))
            #expect(LiveProperty.contentType.element(LiveProperty.Facts(entry: file))?.text == "image/png")
        }
    }
}
