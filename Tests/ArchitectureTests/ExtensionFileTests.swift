// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@Suite("Files of extensions are named Type+Topic.swift")
struct ExtensionFileTests {
    private static func faults(_ files: [SourceFile]) -> [String] {
        files.filter { file in
            let declared = file.declarations
            let name = file.path.split(separator: "/").last.map { $0.prefix { $0 != "." } } ?? ""
            if let plus = name.firstIndex(of: "+") { return !declared.extended.contains(String(name[..<plus])) }
            // A file that extends several types is named by what it gives them.
            return declared.types.isEmpty && !declared.hasFunction && declared.extended.count == 1
        }.map(\.path)
    }

    @Test("Each source file with nothing but extensions of one type has the type's name and a topic")
    func filesAreNamed() {
        #expect(Self.faults(Repository.sources) == [])
    }

    @Test(
        "A file with another name is found",
        arguments: [
            ("A/SocketReading.swift", "extension Socket {}", true),
            ("A/Socket+Reading.swift", "extension Socket {}", false),
            ("A/Socket+Reading.swift", "struct Reading {}", true),
            ("A/Reading.swift", "struct Reading {}\nextension A {}", false),
            ("A/Numbers.swift", "extension Int {}\nextension Double {}", false), ("A/a.swift", "import B", false),
        ]
    )
    func findsFaults(path: String, text: String, isFault: Bool) {
        #expect(Self.faults([SourceFile(path: path, text: text)]).isEmpty == !isFault)
    }
}
