// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexTestProcesses
import DuplexTestTimes
import DuplexWire
import Foundation
import Testing

@testable import DuplexServer
@testable import DuplexSockets

@Suite("Files that are kept compressed", .timeLimit(minutes: 1))
struct CompressedFilesTests {
    private static let text = String(repeating: "the same again, ", count: 20_000)

    /// The forms of files of those names, all with the same text.
    private func withForms(
        _ names: String...,
        body: ([ServedFile.Form], String) async throws -> Void
    ) async throws {
        let files = Dictionary(uniqueKeysWithValues: names.map { ($0, Self.text) })
        try await withTestFolder(files) { root in
            let forms = try names.map { name in
                ServedFile(try ServedFileTests.open(name, in: root), path: name, name: name, FileOptions()).compressed
            }
            try await body(forms, root)
        }
    }

    private static func inflated(_ bytes: [UInt8]) throws -> [UInt8] {
        let inflater = ContentInflater([.gzip], upTo: .mebibytes(2), pool: ContentPool())
        inflater.take(bytes)
        var output: [UInt8] = []
        while let piece = try inflater.next() { output += piece }
        try inflater.finish()
        return output
    }

    @Test("Who asks at the same time gets the same content, which is whole, and it is kept")
    func once() async throws {
        try await withForms("a.txt") { forms, _ in
            let files = CompressedFiles(limit: .mebibytes(1), level: 6)
            let form = forms[0]
            #expect(files.ready(form) == nil)
            let contents = await withTaskGroup(of: [UInt8]?.self) { group in
                for _ in 0..<20 { group.addTask { await files.compress(form) } }
                return await group.reduce(into: [[UInt8]?]()) { $0.append($1) }
            }
            let first = try #require(contents.first ?? nil)
            #expect(try Self.inflated(first) == Array(Self.text.utf8))
            // One array that all have.
            let places = contents.map { unsafe $0?.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) } }
            #expect(contents.count == 20 && Set(places).count == 1)
            #expect(files.ready(form) == first && files.size == first.count + CompressedShelf.overhead)
        }
    }

    @Test("A file that was changed since it was opened isn't taken for what it was, nor kept")
    func changed() async throws {
        try await withForms("a.txt") { forms, root in
            try Data("another text".utf8).write(to: URL(fileURLWithPath: root + "a.txt"))
            let files = CompressedFiles(limit: .mebibytes(1), level: 6)
            #expect(await files.compress(forms[0]) == nil)
            #expect(files.compressAtOnce(forms[0], pool: ContentPool()) == nil)
            #expect(files.size == 0)
        }
    }

    @Test("What is compressed at once is kept as well")
    func atOnce() async throws {
        try await withForms("a.txt") { forms, _ in
            let files = CompressedFiles(limit: .mebibytes(1), level: 1)
            let bytes = try #require(files.compressAtOnce(forms[0], pool: ContentPool()))
            #expect(try Self.inflated(bytes) == Array(Self.text.utf8))
            #expect(files.ready(forms[0]) == bytes)
            #expect(await files.compress(forms[0]) == bytes)
        }
    }

    @Test("Where there is no room the one that was used longest ago goes; what is too long for all is not kept")
    func bound() async throws {
        try await withForms("a.txt", "b.txt", "c.txt") { forms, _ in
            let keys = forms.map(CompressedFiles.Key.init)
            let room = 100 + CompressedShelf.overhead
            var shelf = CompressedShelf(limit: 2 * room)
            func content(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 100) }
            shelf.keep(content(1), of: keys[0])
            shelf.keep(content(2), of: keys[1])
            // However often it is used, the uses take bounded room.
            for _ in 0..<1_000 { #expect(shelf.bytes(of: keys[0]) == content(1)) }
            #expect(shelf.size == 2 * room)
            shelf.keep(content(3), of: keys[2])
            #expect(shelf.bytes(of: keys[1]) == nil && shelf.bytes(of: keys[0]) == content(1))
            #expect(shelf.bytes(of: keys[2]) == content(3) && shelf.size == 2 * room)
            // The same again takes its own place.
            shelf.keep(content(4), of: keys[2])
            #expect(shelf.bytes(of: keys[0]) == content(1) && shelf.bytes(of: keys[2]) == content(4))
            shelf.keep([UInt8](repeating: 5, count: 2 * room), of: keys[1])
            #expect(shelf.bytes(of: keys[1]) == nil && shelf.size == 2 * room)
            var none = CompressedShelf(limit: 0)
            none.keep(content(1), of: keys[0])
            #expect(none.size == 0 && none.bytes(of: keys[0]) == nil)
        }
    }
}
