// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What is wrong with a template.
public struct TemplateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of faults; later versions may add some.
    @nonexhaustive
    public enum Code: String, Sendable {
        /// There is no template of that name.
        case missing
        /// The folder or a file in it can't be read.
        case unreadable
        /// The template isn't Mustache.
        case malformed
    }

    /// The kind of fault.
    public let code: Code
    /// The name of the template, or the path of the folder.
    public let template: String
    /// What is wrong, in plain words.
    public let message: String

    /// The template and what is wrong with it.
    public var description: String { "TemplateError.\(code): \(template): \(message)" }
}
