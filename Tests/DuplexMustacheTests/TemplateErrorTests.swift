// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexMustache
import Testing

@Suite("What is wrong with templates")
struct TemplateErrorTests {
    @Test("A malformed one is named with the line")
    func malformed() async throws {
        try await withTemplates(["a.mustache": "one\n{{#two}}\nthree"]) { folder async throws in
            let error = #expect(throws: TemplateError.self) { try MustacheTemplates(folder: folder) }
            #expect(error?.code == .malformed && error?.template == "a")
            #expect(error?.description.contains("line 3") == true, "\(error?.description ?? "")")
        }
    }
}
