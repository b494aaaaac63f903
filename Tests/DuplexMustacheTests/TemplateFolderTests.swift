// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Testing

@testable import DuplexMustache

@Suite("Folders of templates")
struct TemplateFolderTests {
    @Test("A folder that isn't there is an error, and an empty one isn't")
    func folders() async throws {
        try await withTemplates([:]) { folder async throws in
            #expect(try TemplateFolder(path: folder, suffix: "mustache").contents().stamps.isEmpty)
            let missing = TemplateFolder(path: folder + "/no", suffix: "mustache")
            let error = #expect(throws: TemplateError.self) { try missing.contents() }
            #expect(error?.code == .unreadable)
        }
    }

    @Test("Files of the suffix are templates, by their names without it")
    func names() async throws {
        try await withTemplates(["a.html": "", "b/c.html": "", "d.htm": "", ".html": ""]) { folder async throws in
            let stamps = try TemplateFolder(path: folder, suffix: "html").stamps()
            #expect(Set(stamps.keys) == ["a", "b/c", ""])
            let link = folder + ".link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder)
            defer { try? FileManager.default.removeItem(atPath: link) }
            #expect(try TemplateFolder(path: link, suffix: "html").stamps() == stamps)
            #expect(throws: TemplateError.self) {
                try TemplateFolder(path: folder + "/a.html", suffix: "html").stamps()
            }
        }
    }
}
