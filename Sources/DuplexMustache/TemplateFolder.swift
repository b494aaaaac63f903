// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Mustache

/// A folder of templates, read whole.
struct TemplateFolder: Sendable {
    /// Shows whether a file has changed.
    struct Stamp: Sendable, Hashable {
        var size: UInt64
        var modified: Date
    }

    /// What was read.
    struct Contents: Sendable {
        var library: MustacheLibrary
        var stamps: [String: Stamp]

    }

    let path: String
    let suffix: String

    /// The templates by their names, each with what shows whether it has changed.
    ///
    /// - Throws: ``TemplateError`` when the folder can't be read.
    func stamps() throws -> [String: Stamp] {
        // Of a folder that isn't there the enumerator has nothing, and says nothing.
        guard FileManager.default.fileExists(atPath: path + "/."),
            let files = FileManager.default.enumerator(atPath: path + "/.")
        else { throw unreadable("It is no folder.") }
        var stamps: [String: Stamp] = [:]
        for case let file as String in files where file.hasSuffix(".\(suffix)") {
            let facts: [FileAttributeKey: Any]
            do {
                facts = try FileManager.default.attributesOfItem(atPath: "\(path)/\(file)")
            } catch {
                throw unreadable("\(file) can't be looked at: \(error)")
            }
            let size = (facts[.size] as? NSNumber)?.uint64Value ?? 0
            let modified = facts[.modificationDate] as? Date ?? .distantPast
            stamps[String(file.dropLast(suffix.count + 1))] = Stamp(size: size, modified: modified)
        }
        return stamps
    }

    /// Reads and compiles all of them.
    ///
    /// - Throws: ``TemplateError`` when one can't be read, or isn't Mustache.
    func contents() throws -> Contents {
        let stamps = try stamps()
        var library = MustacheLibrary()
        for name in stamps.keys { library.register(try template(name), named: name) }
        return Contents(library: library, stamps: stamps)
    }

    private func template(_ name: String) throws -> MustacheTemplate {
        let text: String
        do {
            text = try String(contentsOfFile: "\(path)/\(name).\(suffix)", encoding: .utf8)
        } catch {
            throw unreadable("\(name).\(suffix) can't be read: \(error)")
        }
        do {
            precondition(HTMLText.isRegistered)
            return try MustacheTemplate(string: "{{% CONTENT_TYPE: \(HTMLText.name) }}\n" + text)
        } catch let error as MustacheTemplate.ParserError {
            // The first line is ours.
            let place = "line \(error.context.lineNumber - 1), column \(error.context.columnNumber)"
            throw TemplateError(code: .malformed, template: name, message: "\(place): \(error.error)")
        }
    }

    private func unreadable(_ message: String) -> TemplateError {
        TemplateError(code: .unreadable, template: path, message: message)
    }
}
