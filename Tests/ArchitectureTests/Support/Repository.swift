// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

/// The files of this repository, found from where this file was compiled.
enum Repository {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The Swift files of the package's own targets.
    static let sources = swiftFiles(in: "Sources")
    /// The Swift files of the tests.
    static let tests = swiftFiles(in: "Tests")

    /// The paths of the files below a folder, from the root of the repository; hidden ones left out.
    static func paths(in folder: String) -> [String] {
        let start = root.appending(path: folder, directoryHint: .isDirectory)
        let options: FileManager.DirectoryEnumerationOptions = [.skipsHiddenFiles]
        guard let found = FileManager.default.enumerator(at: start, includingPropertiesForKeys: nil, options: options)
        else { return [] }
        let prefix = root.path(percentEncoded: false)
        return found.compactMap { $0 as? URL }.filter { !$0.hasDirectoryPath }
            .map { String($0.path(percentEncoded: false).dropFirst(prefix.count)) }
            .sorted()
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path(percentEncoded: false))
    }

    static func text(of path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private static func swiftFiles(in folder: String) -> [SourceFile] {
        paths(in: folder).filter { $0.hasSuffix(".swift") }.compactMap { path in
            // A file that can't be read would break the build long before this.
            (try? text(of: path)).map { SourceFile(path: path, text: $0) }
        }
    }
}
