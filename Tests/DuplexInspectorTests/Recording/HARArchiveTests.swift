// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import Testing

@testable import DuplexInspector

@Suite struct HARArchiveTests {
    @Test("An archive has all that the format asks for, and the members that nobody's standard has by their names")
    func members() throws {
        let text = String(decoding: try HARFile.write(Sample.recording()), as: UTF8.self)
        let log = try CompactJSON.value(HARArchive.self, of: text).log
        #expect(log.version == "1.2" && log.creator.name == "Duplex" && log.entries.count == 2)
        #expect(Set(log.entries.map(\.resourceType)) == ["fetch", "websocket"])
        let socket = try #require(log.entries.first { $0.resourceType == "websocket" })
        #expect(socket.messages?.isEmpty == false && socket.request.headersSize == -1)
        for name in ["cache", "pages", "_resourceType", "_webSocketMessages"] {
            #expect(text.contains("\"\(name)\":"), "\(name)")
        }
    }
}
