// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

/// Runs the body with a folder of templates, which is removed behind it.
func withTemplates(_ templates: [String: String], _ body: (String) async throws -> Void) async throws {
    let folder = NSTemporaryDirectory() + "duplex-templates-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, text) in templates { try write(text, to: "\(folder)/\(name)") }
    try await body(folder)
}

/// Writes a file, in a folder that is made where it is missing.
func write(_ text: String, to path: String) throws {
    let url = URL(fileURLWithPath: path)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
}
