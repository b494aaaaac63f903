// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

/// Runs the body with a folder of its own, which is removed afterwards.
///
/// - Parameters:
///   - files: what is in it at first: paths and texts; a path that ends with a slash is a folder.
///   - links: paths of symbolic links, and where they lead.
///   - body: gets the path of the folder, with a slash at its end.
/// - Returns: what the body returns.
/// - Throws: what the body throws, and when the folder can't be made.
package func withTestFolder<Result>(
    _ files: [String: String] = [:],
    links: [String: String] = [:],
    _ body: (String) async throws -> Result
) async throws -> Result {
    let root = NSTemporaryDirectory() + "duplex-folder-" + UUID().uuidString + "/"
    defer { try? FileManager.default.removeItem(atPath: root) }
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    // What goes with a file, as "a.gz" with "a", isn't older than that.
    for (path, text) in files.sorted(by: { $0.key < $1.key }) {
        let url = URL(fileURLWithPath: root + path)
        let folder = path.hasSuffix("/") ? url : url.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if !path.hasSuffix("/") { try Data(text.utf8).write(to: url) }
    }
    for (path, destination) in links {
        try FileManager.default.createSymbolicLink(atPath: root + path, withDestinationPath: destination)
    }
    return try await body(root)
}
