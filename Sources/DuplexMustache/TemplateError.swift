// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// What is wrong with a template.
public struct TemplateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of fault; an open set.
    public struct Code: ErrorCode {
        /// The code's name.
        public let rawValue: String

        /// Makes a code of that name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// There is no template of that name.
        public static let missing = Code(rawValue: "missing")
        /// The folder or a file in it can't be read.
        public static let unreadable = Code(rawValue: "unreadable")
        /// The template isn't Mustache.
        public static let malformed = Code(rawValue: "malformed")
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
